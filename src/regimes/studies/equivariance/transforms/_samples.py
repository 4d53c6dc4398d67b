"""Kernel machines with and without the symmetry of their target: how many points it is worth."""

from __future__ import annotations

from typing import Any

from regimes.lab import Array
from regimes.studies._types import Tensor

DIRECTIONS = 40  # of the target
SIGMA = 1.0
RIDGE = 1e-9


def curves(params: Any, seed: int) -> dict[str, Array]:
    """EQU-02: test errors of the Laplace kernel and of its mean over cyclic shifts.

    Points are uniform on the sphere of d dimensions; the target is the sum over random directions
    of `tanh(2 w.x)`, averaged over m shifts of the coordinates that form a group. Errors are mean
    squares over the variance of the target. See docs/themes/equivariance.md, "Exact symmetry".
    """
    import torch

    from regimes._random import generator
    from regimes.kernels import Laplace

    d, sizes = params.d, params.n_train
    source = generator(seed, "transforms/samples")

    def points(n: int) -> Tensor:
        x = torch.randn(n, d, generator=source, dtype=torch.float64)
        return x / x.norm(dim=1, keepdim=True)

    w, x, x_test = points(DIRECTIONS), points(max(sizes)), points(params.n_test)
    kernel = Laplace(SIGMA)
    errors = []
    for m in params.groups:
        if d % m:
            raise ValueError(f"{m} shifts of {d} coordinates form no group; use divisors of {d}")
        steps = [k * d // m for k in range(m)]

        def target(x: Tensor, steps: list[int] = steps) -> Tensor:
            return torch.stack([torch.tanh(2 * x.roll(s, 1) @ w.T).sum(1) for s in steps]).mean(0)

        y, y_test = target(x), target(x_test)
        rows = []
        for shifts in ([0], steps):
            gram, cross = (_mean([kernel(z, x.roll(s, 1)) for s in shifts]) for z in (x, x_test))
            row = []
            for n in sizes:
                ridged = gram[:n, :n] + RIDGE * torch.eye(n, dtype=torch.float64)
                factor = torch.linalg.cholesky((ridged + ridged.mT) / 2)
                dual = torch.cholesky_solve(y[:n, None], factor)[:, 0]
                off = cross[:, :n] @ dual - y_test
                row.append(float(off.square().mean() / y_test.var()))
            rows.append(row)
        errors.append(rows)
    return {
        "group": Array("group", list(params.groups)),
        "n_train": Array("n_train", list(sizes)),
        "mse": Array(("group", "kernel", "n_train"), errors),  # plain, invariant
    }


def _mean(values: list[Tensor]) -> Tensor:
    total = values[0]
    for each in values[1:]:
        total = total + each
    return total / len(values)
