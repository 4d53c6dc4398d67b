"""Perceptrons and least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Point, TrialResult
from regimes.studies.landscape.references._sizes import Directions, Labels, Regression


def _normal(name: str, seed: int, *shape: int) -> Any:
    import torch

    from regimes._random import generator

    source = generator(seed, f"landscape/references/{name}")
    return torch.randn(*shape, generator=source, dtype=torch.float64)


def separable(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether some w has `y w.x >= 1` at every point: a linear programme, solved exactly.

    >>> x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> separable(x, np.array([1.0, 1.0, 1.0])), separable(x, np.array([1.0, 1.0, -1.0]))
    (True, False)
    """
    from scipy.optimize import linprog

    found = linprog(
        np.zeros(x.shape[1]),
        A_ub=-y[:, None] * x,
        b_ub=-np.ones(len(x)),
        bounds=(None, None),
        method="highs",
    )
    return bool(found.status == 0)


def labels(params: Labels, point: Point) -> TrialResult:
    """LAND-74: random labels of Gaussian points, and Cover's chance that they can be fitted."""
    fits = []
    for seed in point.seed:
        draw = _normal(f"labels/{point.labelled}", seed, point.labelled, params.dims + 1).numpy()
        fits.append(separable(draw[:, 1:], np.sign(draw[:, 0])))
    chance = rg.theory.separable_probability(point.labelled, params.dims)
    return TrialResult({"chance": chance}, {"fits": Array("seed", np.array(fits, dtype=float))})


def directions(params: Directions, point: Point) -> TrialResult:
    """LAND-74: test error of perceptrons by the hinge; the teacher lives in the first dimensions.

    All start at w = 0 and follow Adam on the square hinge until every margin is 1, or give up.
    """
    import torch

    most = max(point.inputs, params.teacher_dims)
    data, count = [], len(point.seed)
    for seed in point.seed:
        x = _normal("directions", seed, params.n_train + params.n_test, most)
        w = _normal("teacher", seed, params.teacher_dims)
        y = torch.where(x[:, : params.teacher_dims] @ w > 0, 1.0, -1.0).double()
        x = x[:, : point.inputs]
        n = params.n_train
        data.append(rg.data.Dataset(x[:n], y[:n], x[n:], y[n:], name="teacher"))
    start = rg.nets.stack(
        lambda seed: rg.nets.FullyConnected(
            point.inputs, 1, 0, parametrization="standard", init="normal", dtype=torch.float64
        ),
        range(count),
    )
    start = start.moved_to({name: 0.0 * value for name, value in start.parameters.items()})
    run = rg.flow.descend(
        start,
        data,
        rate=1e-2,
        optimiser="adam",
        loss=rg.flow.quadratic_hinge(1.0),
        subtract_init=False,
        divide_by="1",
        until="fitted",
        events=("fitted",),
        max_steps=5000,
        check_every=20,
    )
    return TrialResult(
        {"n_train": params.n_train},
        {"error": Array("seed", run.test_errors), "fits": Array("seed", run.fitted.double())},
    )


def regression(params: Regression, point: Point) -> TrialResult:
    """LAND-75: |w|^2 of the least norm that fits best, and the smallest eigenvalue of its Gram."""
    import torch

    squares, least = [], []
    for seed in point.seed:
        draw = _normal("regression", seed, params.n_train, point.inputs + 1)
        left, values, _ = torch.linalg.svd(draw[:, 1:], full_matrices=False)
        y = torch.sign(draw[:, 0])
        squares.append(float(((left.mT @ y) / values).square().sum()))
        least.append(float(values[-1] ** 2) / params.n_train)
    return TrialResult(
        {
            "n_train": params.n_train,
            "expected": rg.theory.min_norm_square(params.n_train, point.inputs),
        },
        {"square": Array("seed", squares), "inverse_least": Array("seed", 1 / np.array(least))},
    )
