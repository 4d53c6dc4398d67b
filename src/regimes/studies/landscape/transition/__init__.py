"""How many weights are needed to fit P points: N*(P) [Geiger 2019, figs. 5 and 10]."""

from __future__ import annotations

from typing import Any

import numpy as np

from regimes.lab import Array, Point, TrialResult, study
from regimes.studies.landscape import _runs, _training, _widths
from regimes.studies.landscape.transition._ranks import ranks
from regimes.studies.landscape.transition._sizes import AXES, SIZES, expected, weights_at, widths_at

MOMENTS = (1000, 3000, 10_000, 30_000, 60_000)  # steps after which N_Delta is read


@study(
    "landscape/transition",
    version=1,
    sizes=SIZES,
    axes=AXES,
    units={"steps": "steps", "unfitted": "points", "error": "fraction", "weights": "weights"},
)
class Transition:
    """The narrowest network that fits P points: for random labels and digits, by depth and size.

    Random labels need weights in proportion to the points, whatever the depth and the number of
    inputs; digits need fewer, and ever fewer for each further point. Longer training lowers the
    number.

    The papers: [Geiger 2019, secs. III and VII], [Spigler 2019, sec. 3].
    """

    summarise = staticmethod(_widths.by_width)

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """All widths of one setting and all seeds side by side."""
        widths = widths_at(params, point)
        trained = _widths.train(
            [point.inputs or width for width in widths],
            widths,
            point.depth,
            point.n_train,
            point.seed,
            steps=params.steps,
            labels=params.labels,
            images=params.images,
            n_test=params.n_test,
            rate=params.rate,
            margin=params.margin,
            dtype=point.dtype,
            device=point.device,
            checkpoint=point.checkpoint(),
            trainer=getattr(_training, params.trainer),
        )
        found = {
            width: _read(one, params) | {"weights": ((), one.weights)}
            for width, one in zip(widths, trained, strict=True)
        }
        return TrialResult(
            {}, {**_widths.arrays(found, point.width), "moment": Array("moment", MOMENTS)}
        )

    @staticmethod
    def wanted(params: Any, point: Point) -> bool:
        """Widths around the expected N*; of digits, other depths at the most points alone."""
        if params.labels == "parity" and point.depth != 2 and point.n_train != max(params.n_train):
            return False
        return bool(widths_at(params, point))

    @staticmethod
    def cost(params: Any, point: Point) -> float:
        """Arithmetic of all steps; networks far beyond N* fit early."""
        weights = [weights_at(point, width) for width in widths_at(params, point)]
        beyond = 2 * expected(params.labels, point.n_train)
        work = sum((0.1 if n > beyond else 1.0) * n for n in weights)
        return float(params.steps * len(point.seed) * point.n_train * work / 1e10)


def _read(trained: _runs.Trained, params: Any) -> dict[str, tuple[tuple[str, ...], Any]]:
    """What is kept of the runs of one width."""
    ends = _runs.ends(trained, ("points", "seed"))
    kept: dict[str, tuple[tuple[str, ...], Any]] = {
        name: (("seed",), each.values[0]) for name, each in ends.items()
    }
    moments = [moment for moment in MOMENTS if moment <= params.steps] or [params.steps]
    read = _runs.unfitted_at(trained, moments)[0]
    kept["unfitted_at"] = (("seed", "moment"), _padded(read, len(MOMENTS)))
    if params.ranks:
        kept |= {name: (("seed",), each) for name, each in ranks(trained).items()}
    return kept


def _padded(values: np.ndarray, length: int) -> np.ndarray:
    """Values (seed, moments) with the last repeated, up to so many moments."""
    missing = length - values.shape[1]
    return np.concatenate([values, np.repeat(values[:, -1:], missing, axis=1)], axis=1)
