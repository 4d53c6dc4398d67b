"""Spectrum and alignment of the kernel while a disk is learned [Baratin 2021, fig. 1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regimes.lab import Array, Point, TrialResult, study
from regimes.studies._types import Module, Tensor
from regimes.studies.alignment import _disk

TOP = 5  # eigenfunctions among which the label is looked for


@dataclass(frozen=True)
class Params:
    """Scanned: rate and seed. Fixed: the rest."""

    rate: tuple[float, ...] = (0.0125, 0.05)
    seed: tuple[int, ...] = (0, 1)
    n_train: int = 50
    grid: int = 8
    width: int = 16
    steps: int = 20
    looks: int = 5


@study(
    "alignment/disk",
    version=1,
    dtype="float32",
    sizes={
        "smoke": Params(),
        "cpu": Params(seed=tuple(range(6)), n_train=500, grid=25, width=256, steps=2000, looks=12),
        "paper": Params(
            rate=(0.0125, 0.05, 0.2),
            seed=tuple(range(5)),
            n_train=500,
            grid=50,
            width=256,
            steps=2000,
            looks=12,
        ),
    },
    axes=["rate", "seed"],
    units={"steps": "steps"},
)
class Disk:
    """Points of a square are sorted into those on a disk and those beside it.

    The kernel on a grid of the square is centred, diagonalised and compared with the labels of the
    grid at log-spaced steps of full gradient descent.

    The paper: [Baratin 2021, sec. 2, app. C.1, figs. 1 and 10].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One network at one rate."""
        made, net = _disk.start(
            params.n_train, params.grid, params.width, point.seed, point.dtype, point.device
        )
        moments = _disk.moments(params.steps, params.looks)
        rows: list[dict[str, float]] = []

        def look(step: int) -> None:
            if step in moments:
                rows.append(_numbers(net, made))

        _disk.descend(
            net, made.x_train, made.y_train, rate=point.rate, steps=params.steps, look=look
        )
        names = rows[0]
        return TrialResult(
            arrays={
                "steps": Array("point", moments),
                **{name: Array("point", [row[name] for row in rows]) for name in names},
            }
        )

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Steps."""
        return float(params.steps)


def _numbers(net: Module, made: Any) -> dict[str, float]:
    import torch

    from regimes import measure
    from regimes.tangent import TangentKernel

    grid = made.probes["grid"]
    gram = TangentKernel(net)(grid.x)
    centred = measure.center(gram)
    lam, vectors = torch.linalg.eigh(centred.double())
    lam, vectors = lam.flip(0), vectors.flip(1)
    plain = torch.linalg.eigvalsh(gram.double()).flip(0)
    label = measure.center_targets(grid.y).double()
    label = label / label.norm()
    with torch.no_grad():
        right = (made.y_train * net(made.x_train)[:, 0] > 0).double().mean()
    last = min(19, len(lam) - 1)
    return {
        "ratio": float(lam[last] / lam[0]),
        "ratio_uncentred": float(plain[last] / plain[0]),
        "alignment": float(measure.label_alignment(gram, grid.y)),
        "overlap": float(((vectors[:, :TOP].T @ label) ** 2).max()),
        "accuracy": float(right),
        "trace": _trace(gram),
    }


def _trace(gram: Tensor) -> float:
    return float(gram.diagonal().sum())
