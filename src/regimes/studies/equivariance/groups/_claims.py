"""Verdicts on fields on homogeneous spaces."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.equivariance.groups._finite import CASES, TWELVE, WAYS

claim = judge.Claims()
PRECISE = (1e-5, 1e-10)  # relative errors allowed in float32 and float64


def _largest(dataset: Data, name: str) -> float:
    at = judge.where_ran(dataset, "seed", name)
    return float(abs(at[name]).max())


def _seeds(dataset: Data) -> str:
    return f"worst of {dataset.sizes['seed']} seeds"


@claim("EQU-24", "orders 0, 1, 2; trace, antisymmetric and traceless parts in them to 1e-12")
def _tensors(dataset: Data) -> judge.Parts:
    yield judge.below("part in other blocks", _largest(dataset, "tensor_leak"), 1e-12)
    yield judge.near("orders that differ", _largest(dataset, "tensor_orders_wrong"), 0.0, 0.0)
    return _seeds(dataset)


@claim("EQU-49", "every identity of sections and of h holds for all elements", exact=True)
def _sections(dataset: Data) -> judge.Parts:
    yield judge.near("identities that fail", _largest(dataset, "cocycle_wrong"), 0.0, 0.0)
    yield judge.near("h(rH, r) = f fails", _largest(dataset, "triangle_wrong"), 0.0, 0.0)
    return f"{_largest(dataset, 'cocycle_checked'):.0f} instances, sections drawn at random"


@claim(
    "EQU-50", "both pictures are representations, lifting intertwines them, to 1e-12", exact=True
)
def _pictures(dataset: Data) -> judge.Parts:
    yield judge.below("lifting", _largest(dataset, "lifting_error"), 1e-12)
    yield judge.below("pi(g k) - pi(g) pi(k)", _largest(dataset, "induced_error"), 1e-12)
    return f"D3, D4, O; trivial, sign, vector, regular; {_seeds(dataset)}"


@claim("EQU-51", "four ways and the characters agree with the numbers known by hand", exact=True)
def _kernel_spaces(dataset: Data) -> judge.Parts:
    at = judge.where_ran(dataset, "seed", "dimensions")
    found = at.dimensions.transpose("seed", "case", "way").values
    counted = at.characters.transpose("seed", "case").values
    known = [dimension for *_, dimension in CASES.values()]
    by_hand = found[:, : len(known)] - np.array(known, dtype=float)[:, None]
    yield judge.near("dimensions that differ", float((by_hand != 0).sum()), 0.0, 0.0)
    differ = float((found != counted[..., None]).sum())
    yield judge.near("of the characters'", differ, 0.0, 0.0)
    yield judge.below("sine between spans", float(at.span_error.max()), 1e-9)
    more = f", and {TWELVE}" if found.shape[1] > len(known) else ""
    return f"{len(known)} cases{more}, {len(WAYS)} ways"


@claim("EQU-52", "with and without lifting alike to 1e-12; no twist on a torus of shifts and turns")
def _twists(dataset: Data) -> judge.Parts:
    yield judge.below("relative difference", _largest(dataset, "correlation_error"), 1e-12)
    at = judge.where_ran(dataset, "seed", "twisted_cases")
    yield judge.above("cases with a twist", float(at.twisted_cases.min()), 1.0)
    yield judge.near("twists on the torus", _largest(dataset, "torus_twists"), 0.0, 0.0)
    return _seeds(dataset)


@claim("EQU-53", "free at every latitude, bound by SO(2) at the poles; double cosets a segment",
       exact=True)  # fmt: skip
def _sphere(dataset: Data) -> judge.Parts:
    told = {
        "latitudes_wrong": "latitudes that differ",
        "poles_wrong": "poles that differ",
        "zonal_wrong": "numbers to numbers, not one kernel at a latitude",
    }
    for name, said in told.items():
        yield judge.near(said, _largest(dataset, name), 0.0, 0.0)
    yield judge.below("rotations off Z(a) Y(b) Z(c)", _largest(dataset, "segment_error"), 1e-12)
    return "all pairs of spins"


@claim("EQU-54", "2 min(j,l) + 1 at a radius, delta_jl at 0; with mirrors 2, 1 and 0", exact=True)
def _space(dataset: Data) -> judge.Parts:
    yield judge.near("dimensions that differ", _largest(dataset, "space_wrong"), 0.0, 0.0)
    yield judge.near("with mirrors", _largest(dataset, "parity_wrong"), 0.0, 0.0)
    return "1o -> 1o, 1o -> 1e, 0e -> 0o with mirrors"


@claim("EQU-55", "ReLU: above 0.1 for vectors, no error at all for functions of the group")
def _relu(dataset: Data) -> judge.Parts:
    at = judge.where_ran(dataset, "seed", "relu_vector")
    yield judge.above("vectors, least of seeds", float(at.relu_vector.min()), 0.1)
    yield judge.near("functions of the group", _largest(dataset, "relu_regular"), 0.0, 0.0)
    return f"mean over rotations and vectors; {dataset.sizes['seed']} seeds"


@claim("EQU-56", "16 rows, all but changes of scale built, and equivariant to 1e-5 and 1e-10")
def _taxonomy(dataset: Data) -> judge.Parts:
    at = judge.where_ran(dataset, "seed", "architecture_error")
    found = at.architecture_error.transpose("precision", "seed", "architecture").values
    limits = PRECISE[-len(found) :]
    names = ("float32", "float64")[-len(found) :]
    for name, errors, limit in zip(names, found, limits, strict=True):
        yield judge.below(f"largest error, {name}", float(errors.max()), limit)
    yield judge.near("rows", float(at.sizes["row"]), 16.0, 0.0)
    yield judge.near("rows built", float(at.rows_built.isel(seed=0).sum()), 15.0, 0.0)
    yield judge.near("rows built but untried", float(at.rows_untried.max()), 0.0, 0.0)
    return f"{found.shape[2]} networks; {_seeds(dataset)}"
