"""After [Paccolat 2021, fig. 7]: amplification (top) and learning curves (bottom)."""

import regimes as rg
from regimes.lab import Data, Figure, draw, judge
from regimes.studies.compression import _medians
from regimes.studies.compression.cylinder._claims import measured


def _amplification(dataset: Data) -> Figure:
    caption = (
        "Weight of the two informative directions over that of the third, when a tenth of the "
        "points is fitted (t*) and at its largest up to five times t*; medians over seeds, bars "
        "hold the middle half. With a single irrelevant direction data sets differ much. The "
        "medians grow as the root of the number of points (grey)."
    )
    star = measured(dataset, "amplification_star")
    figure = _medians.axes("amplification Lambda", ticks=dataset.n_train, caption=caption)
    _medians.curve(figure, star, "at t*", slope=0.5, told="slope 1/2", color=draw.GREEN)
    if "peak" in dataset:
        peak = measured(dataset, "peak")
        _medians.curve(figure, peak, "largest", color=draw.GREEN, dash="dash")
    return figure


def _curves(dataset: Data) -> Figure:
    caption = (
        "Test error against the number of training points, medians over seeds. The slopes 3/7 of "
        "the frozen kernel and 1/2 of the network are close: only one of three directions can be "
        "compressed, so learning features gains less than for the stripe."
    )
    whole = judge.where_ran(dataset, "n_train", "feature_error", until="fitted")
    whole = whole.dropna("seed", how="all", subset=["feature_error"])
    figure = _medians.axes("test error (fraction)", ticks=whole.n_train, caption=caption)
    for curve, label, color, beta in (
        (whole.lazy_error, "frozen initial kernel", draw.ORANGE, rg.theory.beta_lazy(3)),
        (whole.feature_error, "feature-learning network", draw.GREEN, rg.theory.beta_feature(3, 1)),
    ):
        _medians.curve(figure, curve, label, slope=-beta, color=color)
    return figure


FIGURES = {"Cylinder: amplification": _amplification, "Cylinder: learning curves": _curves}
