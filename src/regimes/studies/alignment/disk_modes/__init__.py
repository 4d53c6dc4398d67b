"""Eigenfunctions of the kernel while a disk is learned, as pictures [Baratin 2021, figs. 1, 10]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies._types import Module
from regimes.studies.alignment import _disk

RANKS = (1, 2, 3, 6, 11, 21)  # of the eigenfunctions that are kept


@dataclass(frozen=True)
class Params:
    """Scanned: seed. Fixed: the rest."""

    seed: tuple[int, ...] = (0,)
    variant: str = "disk"
    rate: float = 0.05
    n_train: int = 50
    grid: int = 8
    width: int = 16
    steps: int = 20
    looks: int = 4


@study(
    "alignment/disk-modes",
    version=1,
    dtype="float32",
    sizes={
        "smoke": Params(),
        "cpu": Params(n_train=500, grid=30, width=256, steps=2000, looks=12),
        "paper": Params(n_train=500, grid=50, width=256, steps=2000, looks=12),
    },
    axes=[Axis("seed", stacked=True)],
)
class DiskModes:
    """What the modes of the kernel look like before, while and after a disk is learned.

    Pictures of eigenfunctions on a grid of the square, of the prediction, and of how much each
    point moves the parameters.

    The paper: [Baratin 2021, sec. 2, app. C.1, figs. 1 and 10].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One network, looked at now and then."""
        import torch

        seed = point.seed[0]
        made, net = _disk.start(
            params.n_train, params.grid, params.width, seed, point.dtype, point.device
        )
        moments = _disk.moments(params.steps, params.looks)
        seen: list[dict[str, Any]] = []

        def look(step: int) -> None:
            if step in moments:
                before = seen[-1]["modes"] if seen else None
                seen.append(_pictures(net, made.probes["grid"].x, before))

        _disk.descend(
            net, made.x_train, made.y_train, rate=params.rate, steps=params.steps, look=look
        )
        stacked = {name: torch.stack([each[name] for each in seen]) for name in seen[0]}
        side = params.grid
        pictures = {
            name: stacked[name].reshape(*stacked[name].shape[:-1], side, side).half().float()
            for name in ("modes", "prediction", "norm")
        }
        return TrialResult(
            arrays={
                "moments": Array("moment", moments),
                "modes": Array(("moment", "rank", "row", "column"), pictures["modes"]),
                "prediction": Array(("moment", "row", "column"), pictures["prediction"]),
                "norm": Array(("moment", "row", "column"), pictures["norm"]),
                "spectrum": Array(("moment", "eigenvalue"), stacked["spectrum"]),
                "points": Array(("training_point", "side"), made.x_train),
                "labels": Array("training_point", made.y_train),
            }
        )


def _pictures(net: Module, x: Any, before: Any) -> dict[str, Any]:
    """Eigenfunctions with the signs that keep them nearest to those before."""
    import torch

    from regimes import measure
    from regimes.tangent import TangentKernel

    gram = TangentKernel(net)(x)
    pairs = measure.gram_eigs(measure.center(gram), method="dense")
    ranks = [rank - 1 for rank in RANKS]
    modes = measure.fix_signs(pairs.vectors)[ranks] * len(x) ** 0.5
    if before is not None:
        signs = (modes * before).sum(1, keepdim=True).sign()
        modes = torch.where(signs < 0, -modes, modes)
    with torch.no_grad():
        prediction = net(x)[:, 0]
    return {
        "modes": modes,
        "prediction": prediction,
        "norm": gram.diagonal().sqrt(),
        "spectrum": pairs.values[:50],
    }
