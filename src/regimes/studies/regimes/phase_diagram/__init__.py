"""The plane of width and scale: lazy, feature and jammed training [Geiger 2021, fig. 4]."""

from __future__ import annotations

from dataclasses import replace

from regimes.lab import TrialConfig, study
from regimes.studies.regimes import _plane
from regimes.studies.regimes._plane import Params

# 23 scales from 3e-4 to 3e7 and 22 widths from 20 to 1248, as the paper's grid.
PAPER_SCALES = tuple(float(f"{3e-4 * 10 ** (k / 2):.3g}") for k in range(23))
PAPER_WIDTHS = tuple(round(20 * (1248 / 20) ** (k / 21)) for k in range(22))


@study(
    "regimes/phase-diagram",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            width=(3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 48, 96, 192),
            scale=(0.01, 0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 1e4),
            seed=tuple(range(5)),
            images="mnist",
            n_train=300,
            n_test=4000,
            n_kernel=400,
            eps=3e-3,
            max_steps=8000,
        ),
        # twelve widths (20 to 383) and scales of the paper's grid, 8 of its 15 seeds, and eps
        # 1e-3 for its 1e-4: a quarter of an hour of one H200
        "paper": Params(
            width=tuple(PAPER_WIDTHS[k] for k in (0, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 15)),
            scale=tuple(PAPER_SCALES[k] for k in (0, 2, 4, 6, 7, 8, 9, 10, 12, 14, 18, 22)),
            seed=tuple(range(8)),
            images="mnist-whole",
            n_train=5000,
            n_test=40_000,
            n_kernel=2500,
            activation="swish_10",
            eps=1e-3,
            max_steps=24_000,
        ),
    },
    axes=_plane.AXES,
    units=_plane.UNITS,
    watch={"best_error": "min"},
    renamed={"at": "scale", "slot": "scale"},
)
class PhaseDiagram:
    """Networks of many widths trained at many scales: where they fit, and how.

    Narrow networks cannot fit their data at any scale: they are jammed. Wider ones fit, and at
    small `sqrt(h) alpha` their tangent kernel changes by much more than itself (feature learning),
    at large `sqrt(h) alpha` hardly at all (lazy training). The two meet where the kernel changes by
    about its own norm, at one value of `sqrt(h) alpha` whatever the width.

    The paper: [Geiger 2021, fig. 4].
    """

    trial = staticmethod(_plane.trial)
    cost = staticmethod(_plane.cost)

    @staticmethod
    def formerly(params: Params, config: TrialConfig) -> TrialConfig:
        """Scales were a parameter, and a group meant all of them (0) or every fourth (1 to 4)."""
        width, own, seed = (config.point[name] for name in ("width", "scale", "seed"))
        at, group = own, 0
        increasing = tuple(sorted(params.scale))
        for k in range(4):
            if own == increasing[k::4] != increasing:
                at, group = increasing, k + 1
        point = {"width": width, "group": group, "seed": seed}
        return replace(config, params={**config.params, "at": at}, point=point)
