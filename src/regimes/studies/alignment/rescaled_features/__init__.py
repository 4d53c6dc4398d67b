"""Interpolation with rescaled features, and two bounds on it [Baratin 2021, fig. 9]."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Array, Point, TrialResult, study

FIRST, SECOND = 1, 10  # features whose weights are followed, counted from 0


@dataclass(frozen=True)
class Params:
    """Scanned: half-width of the line and seed. Fixed: the rest."""

    half_width: tuple[float, ...] = (1.0, 5.0)
    seed: tuple[int, ...] = (0, 1)
    points: int = 60
    features: int = 60
    gamma: float = 1.0
    n_train: int = 10
    draws: int = 4
    anisotropy: tuple[float, ...] = (0.0, 0.25, 0.99, 1.0)  # c
    shown: int = 100  # draws whose weights are kept
    cutoff: float = 1e-10  # singular values below this share of the largest are left out


_SCAN = (0.0, 0.01, 0.03, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.96, 0.99, 0.999, 0.9999, 1.0)


@study(
    "alignment/rescaled-features",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=tuple(range(6)),
            points=1000,
            features=1000,
            n_train=50,
            draws=100,
            anisotropy=_SCAN,
        ),
        "paper": Params(
            seed=tuple(range(20)),
            points=1000,
            features=1000,
            n_train=50,
            draws=100,
            anisotropy=_SCAN,
        ),
    },
    axes=["half_width", "seed"],
)
class RescaledFeatures:
    """Features from isotropic to those of a Gaussian kernel: which bound follows the test error.

    Random features of the Gaussian kernel on a line, whose singular values are taken from all equal
    (c = 0) to their own (c = 1); the least-norm interpolator of labels that the second mode gives,
    for many draws of 50 points.

    The paper: [Baratin 2021, app. B.5, fig. 9].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """All draws at every anisotropy, side by side."""
        import torch

        from regimes import data
        from regimes._random import generator

        made = data.rbf_line(
            params.points,
            params.features,
            point.half_width,
            params.gamma,
            point.seed,
            n_train=params.n_train,
            dtype=torch.float64,
        ).to(torch.float64, point.device)
        line = made.probes["line"]
        psi, s, _ = torch.linalg.svd(line.x, full_matrices=False)
        source = generator(point.seed, "alignment/draws")
        order = torch.stack(
            [torch.randperm(params.points, generator=source) for _ in range(params.draws)]
        ).to(line.x.device)
        train, rest = order[:, : params.n_train], order[:, params.n_train :]
        y, y_rest = line.y[train], line.y[rest]
        found: dict[str, list[torch.Tensor]] = {}
        for c in params.anisotropy:
            scaled = psi * (1 + c * (s**2 - 1)).clamp(min=0).sqrt()  # in the basis of the phi_j
            left, values, right = torch.linalg.svd(scaled[train], full_matrices=False)
            kept = values > params.cutoff * values[:, :1]
            along = (left.mT @ y[..., None])[..., 0]  # u_j . y
            inverse = torch.where(kept, 1 / torch.where(kept, values, 1.0), 0.0)
            w = (right.mT @ (along * inverse)[..., None])[..., 0]
            outputs = torch.einsum("dnp,dp->dn", scaled[rest], w)
            n = params.n_train
            rows = {
                "error": (outputs * y_rest <= 0).double().mean(1),
                "bound_identity": w.norm(dim=1) * values.norm(dim=1) / n,
                "bound_best": torch.where(kept, along.abs(), 0.0).sum(1) / n,
            }
            for name, value in rows.items():
                found.setdefault(name, []).append(value.mean())
            spread = (w - w.mean(0))[:, [FIRST, SECOND]]
            found.setdefault("spread", []).append(spread.std(0))
            found.setdefault("weights", []).append(spread[: params.shown].float())
        dims = {"spread": ("c", "feature"), "weights": ("c", "draw", "feature")}
        arrays = {
            name: Array(dims.get(name, ("c",)), torch.stack(values))
            for name, values in found.items()
            if name != "weights" or point.seed == params.seed[0]
        }
        return TrialResult(arrays={"c": Array("c", params.anisotropy), **arrays})
