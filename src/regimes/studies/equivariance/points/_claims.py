"""Verdicts on networks of points."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, judge

claim = judge.Claims()


def _of(dataset: Data, task: str, name: str) -> Data:
    return judge.where_ran(dataset, "seed", name, task=task)


def _worst(at: Data, name: str) -> float:
    return float(np.abs(at[name].values).max())


@claim("EQU-43", "one type of fields for points and voxels: both equivariant with mirrors to 1e-5")
def _same(dataset: Data) -> judge.Parts:
    at = _of(dataset, "exact", "convolution_error")
    yield judge.below("points", _worst(at, "convolution_error"), 1e-5)
    yield judge.below("voxels", _worst(at, "voxel_error"), 1e-5)
    return f"float32, worst of {at.sizes['seed']} seeds"


@claim("EQU-44", "all turned pieces right with an odd scalar; exactly 7/8 with even ones")
def _pieces(dataset: Data) -> judge.Parts:
    at = _of(dataset, "pieces", "parity_accuracy")
    yield judge.near("accuracy with parity", float(at.parity_accuracy.min()), 1.0, 1e-9)
    for kind in ("smallest", "largest"):
        found = at.even_accuracy.min() if kind == "smallest" else at.even_accuracy.max()
        yield judge.near(f"{kind} accuracy without", float(found), 7 / 8, 1e-9)
    return f"{at.sizes['seed']} seeds; losses {judge.mean_of(at.parity_loss.values)}"


@claim("EQU-45", "ij, ij=ji, ij=-ji, ijkl=jikl=klij come apart as listed, 21 numbers", exact=True)
def _tensors(dataset: Data) -> judge.Parts:
    at = _of(dataset, "exact", "tensors_right")
    yield judge.near("share of formulas", float(at.tensors_right.min()), 1.0, 0.0)
    yield judge.near("numbers of an elastic tensor", float(at.elastic_dimension.max()), 21, 0.0)
    return "0e + 1e + 2e; 0e + 2e; 1e; 2x0e + 2x2e + 4e"


@claim("EQU-46", "at 50 clusters below 0.6 of the MLP's error; turning: below 10 % and above 5x")
def _forces(dataset: Data) -> judge.Parts:
    at = _of(dataset, "forces", "force_error")
    found = at.force_error.transpose("seed", "kind", "samples", "turned").values
    direct, energy, mlp = found[:, 0], found[:, 1], found[:, 2]
    ratio = judge.log_mean(direct[:, 0, 0] / mlp[:, 0, 0])
    few = int(np.ravel(at.samples.values)[0])
    yield judge.below(f"direct / MLP, {few} clusters", ratio, 0.6)
    change = np.abs(direct[:, :, 1] / direct[:, :, 0] - 1)
    yield judge.below("change of direct forces' error by turning", float(change.max()), 0.1)
    worse = judge.log_mean(mlp[:, -1, 1] / mlp[:, -1, 0])
    yield judge.above("MLP turned / as it lies", worse, 5.0)
    told = [
        f"{name} {', '.join(str(judge.mean_of(each[:, k, 0])) for k in range(each.shape[1]))}"
        for name, each in (("direct", direct), ("energy", energy), ("MLP", mlp))
    ]
    counts = ", ".join(f"{n:g}" for n in np.ravel(at.samples.values)[: direct.shape[1]])
    return f"errors at {counts} clusters: {'; '.join(told)}"


@claim("EQU-47", "attention is equivariant to 1e-5 and its weights sum to 1")
def _attention(dataset: Data) -> judge.Parts:
    at = _of(dataset, "exact", "attention_error")
    yield judge.below("equivariance error", _worst(at, "attention_error"), 1e-5)
    yield judge.below("|sum of weights - 1|", _worst(at, "attention_sums"), 1e-5)
    return f"float32, worst of {at.sizes['seed']} seeds"


@claim("EQU-48", "to the square below 1e-6; to the rectangle 0.1800; with an input only l = 0, 2")
def _breaking(dataset: Data) -> judge.Parts:
    at = _of(dataset, "breaking", "loss_to_rectangle")
    yield judge.below("rectangle to square", float(at.loss_to_square.max()), 1e-6)
    for name, value in (
        ("least", at.loss_to_rectangle.min()),
        ("most", at.loss_to_rectangle.max()),
    ):
        yield judge.near(f"{name} loss, square to rectangle", float(value), 0.18, 0.001)
    yield judge.below("the same with a learned input", float(at.loss_with_order.max()), 1e-6)
    order = at.order_parameter.transpose("seed", "component").values
    yield judge.below("largest component of l = 1", float(np.abs(order[:, 1:4]).max()), 1e-3)
    size = np.sqrt(np.square(order[:, 4:]).sum(1))
    yield judge.above("least size of l = 2", float(size.min()), 0.01)
    return f"sizes of l = 2: {', '.join(f'{each:.2g}' for each in size)}"
