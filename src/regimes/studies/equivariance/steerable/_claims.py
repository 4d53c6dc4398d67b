"""Verdicts on steerable kernels and layers on voxels."""

from __future__ import annotations

from regimes.lab import Data, judge
from regimes.studies.equivariance.steerable._exact import NETWORKS

claim = judge.Claims()


def _largest(dataset: Data, name: str) -> float:
    at = judge.where_ran(dataset, "seed", name)
    return float(abs(at[name]).max())


def _seeds(dataset: Data) -> str:
    return f"worst of {dataset.sizes['seed']} seeds"


def _counted(dataset: Data, network: str) -> float:
    at = judge.where_ran(dataset, "seed", f"parameters_{network}")
    return float(at[f"parameters_{network}"].max())


@claim("EQU-25", "dimensions 2 min(j,l) + 1, delta_jl at 0; our kernels span them to 1e-8")
def _complete(dataset: Data) -> judge.Parts:
    yield judge.near("dimensions that differ", _largest(dataset, "dimensions_wrong"), 0.0, 0.0)
    yield judge.below("largest principal angle", _largest(dataset, "principal_angle"), 1e-8)
    return f"orders as the size has them; {_seeds(dataset)}"


@claim("EQU-26", "identity, curl, grad-div: 1 - |correlation| below 1e-10")
def _vectors(dataset: Data) -> judge.Parts:
    yield judge.below("1 - |correlation|", _largest(dataset, "vector_kernels"), 1e-10)
    return _seeds(dataset)


@claim("EQU-27", "24 rotations to 1e-5 in float32; any rotation of smooth fields to 0.2 on average")
def _stable(dataset: Data) -> judge.Parts:
    at = judge.where_ran(dataset, "seed", "turning_error")
    found = at.turning_error.transpose("seed", "cutoff", "blocks").values
    yield judge.below("mean error, orders 0 to 2", judge.mean_of(found[:, 0, 2]), 0.2)
    yield judge.below("cube", _largest(dataset, "cube_error"), 1e-5)
    return f"{len(found)} fields and rotations"


@claim("EQU-28", "without a cut-off the error is at least 1.5 times larger, 1 -> 3 and 2 -> 2")
def _aliasing(dataset: Data) -> judge.Parts:
    at = judge.where_ran(dataset, "seed", "turning_error")
    found = at.turning_error.transpose("seed", "cutoff", "blocks").values
    told = []
    for k, name in enumerate(("1 -> 3", "2 -> 2")):
        default, none = (judge.mean_of(found[:, cutoff, k]) for cutoff in (0, 1))
        yield judge.above(f"none / default, {name}", none / default, 1.5)
        told.append(f"{name}: {none} and {default}")
    return "; ".join(told)


@claim("EQU-29", "numbers of kernels as tabled, none beyond (s/2 + 1)(2 min(j,l) + 1)", exact=True)
def _bound(dataset: Data) -> judge.Parts:
    yield judge.near("entries beyond the bound", _largest(dataset, "counts_beyond"), 0.0, 0.0)
    yield judge.near("entries that differ", _largest(dataset, "counts_wrong"), 0.0, 0.0)
    return "sides 3, 5, 7, orders 0 to 3"


@claim("EQU-30", "the network of plain convolutions gives the same to 1e-6", exact=True)
def _plain(dataset: Data) -> judge.Parts:
    yield judge.below("relative difference", _largest(dataset, "plain_error"), 1e-6)
    return f"float32; {_seeds(dataset)}"


@claim("EQU-31", "gates, norms, products and batch norm commute with rotations to 1e-5")
def _nonlinear(dataset: Data) -> judge.Parts:
    yield judge.below("relative error", _largest(dataset, "nonlinear_error"), 1e-5)
    return f"float32, orders 0 to 2; {_seeds(dataset)}"


@claim("EQU-33", "folded batch norm agrees to 1e-5 without padding, and inside with it")
def _folded(dataset: Data) -> judge.Parts:
    yield judge.below("without padding", _largest(dataset, "fold_valid"), 1e-5)
    yield judge.below("inside", _largest(dataset, "fold_inside"), 1e-5)
    at = judge.where_ran(dataset, "seed", "fold_everywhere")
    yield judge.above("with the border", float(at.fold_everywhere.min()), 1e-3)
    return f"float32; {_seeds(dataset)}"


@claim("EQU-36", "41,198 and 6,220,882 parameters", exact=True)
def _tetris(dataset: Data) -> judge.Parts:
    for name in ("TetrisSteerable", "TetrisCNN"):
        yield judge.near(name, _counted(dataset, name), NETWORKS[name], 0.0)
    return None


@claim("EQU-37", "142,617 parameters, sides 64, 34, 38, 21, 25, 15, 19, 12, 16", exact=True)
def _shapes(dataset: Data) -> judge.Parts:
    count = _counted(dataset, "ShapesSteerable")
    yield judge.near("ShapesSteerable", count, NETWORKS["ShapesSteerable"], 0.0)
    yield judge.near("sides differ", _largest(dataset, "shape_sides_wrong"), 0.0, 0.0)
    return "its scores need SHREC17's meshes, which are not free"


@claim("EQU-39", "15,878,764 and 143,560 parameters", exact=True)
def _cath(dataset: Data) -> judge.Parts:
    for name in ("CathCNN", "CathSteerable"):
        yield judge.near(name, _counted(dataset, name), NETWORKS[name], 0.0)
    return None
