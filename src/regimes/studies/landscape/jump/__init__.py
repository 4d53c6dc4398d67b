"""What happens at the transition: N_Delta/N jumps [Geiger 2019, figs. 5 to 9]."""

from __future__ import annotations

from typing import Any

import numpy as np

from regimes.lab import Array, Point, TrialResult, study
from regimes.studies.landscape import _networks, _runs, _stability, _training
from regimes.studies.landscape.jump._sizes import AXES, MOMENTS, SIZES, shape_of


@study(
    "landscape/jump",
    version=1,
    sizes=SIZES,
    axes=AXES,
    units={"steps": "steps", "unfitted": "points", "share": "points per weight"},
)
class Jump:
    """Runs at many P/N: which fit, which jam, and how many points stay unmet at the transition.

    Below the transition every run reaches zero loss, above it none does, and the number of unmet
    points per weight jumps from zero to a finite value below one. Random labels with two and three
    hidden layers of relu, tanh, the parity of digits; other margins, rates, batches and precision.

    The papers: [Geiger 2019, secs. III, IV and VII], [Spigler 2019, sec. 3].
    """

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """All ratios and seeds of a trial side by side."""
        d, width, depth = shape_of(point.network, params.labels)
        weights = _networks.weights_of(d, width, depth)
        points = [round(ratio * weights) for ratio in point.ratio]
        share = getattr(point, "batch", 1.0)
        options: dict[str, Any] = {"rate": getattr(point, "rate", None) or params.rate}
        if share < 1.0:
            options["batch_size"] = max(1, round(share * min(points)))
        trained = _runs.train(
            d,
            width,
            depth,
            points,
            point.seed,
            steps=params.steps,
            activation=params.activation,
            labels=params.labels,
            images=params.images,
            margin=params.margin,
            dtype=params.precision or point.dtype,
            device=point.device,
            checkpoint=point.checkpoint(),
            trainer=getattr(_training, params.trainer),
            **options,
        )
        axes = ("ratio", "seed")
        kept = _runs.ends(trained, axes)
        classes = kept["classes"].values.astype(int).ravel()
        if params.curvature:
            found = _stability.stability(trained, classes)
            kept |= {name: Array(axes, trained.grid(each)) for name, each in found.items()}
        moments = np.array([round(part * params.steps) for part in MOMENTS])
        kept["unfitted_at"] = Array((*axes, "moment"), _runs.unfitted_at(trained, moments.tolist()))
        kept["points"] = Array("ratio", points)
        kept["moment"] = Array("moment", MOMENTS)
        return TrialResult({"weights": weights}, kept)

    @staticmethod
    def cost(params: Any, point: Point) -> float:
        """Arithmetic of all steps; runs that fit stop early."""
        d, width, depth = shape_of(point.network, params.labels)
        weights = _networks.weights_of(d, width, depth)
        early = [0.3 if ratio < 2.5 else 1.0 for ratio in point.ratio]
        work = sum(part * ratio for part, ratio in zip(early, point.ratio, strict=True))
        return float(params.steps * len(point.seed) * weights**2 * work / 1e10)
