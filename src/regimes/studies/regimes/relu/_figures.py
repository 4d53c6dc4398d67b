"""Kernel change with relu [Geiger 2020, fig. 12] and switched neurons against the scale."""

import numpy as np

from regimes.lab import Data, Figure, Values, draw, judge
from regimes.studies.regimes._fitted_runs import inside


def _curves(figure: Figure, values: Values, power: float) -> list[Values]:
    """Each network, and `mean(value^power)^(1/power)` over them, which is returned per width."""
    means = []
    for width, color, own in draw.each(values.sortby("scale"), "width"):
        seen = own.dropna("scale", how="all").transpose("scale", "seed")
        if not seen.size:
            continue
        means.append((seen**power).mean("seed") ** (1 / power))
        x = np.repeat(seen.scale.values, seen.sizes["seed"])
        y = seen.where(seen > 0).values.ravel()
        name = f"h = {width}, each network"
        draw.points(figure, x, y, name, color=color, size=4, opacity=0.4)
        name = f"h = {width}, {'root mean square' if power == 2 else 'mean'}"
        draw.curve(figure, means[-1].where(means[-1] > 0), "scale", name, color=color)
    return means


def _guide(
    figure: Figure, line: Values, window: tuple[float, float], slope: float, name: str
) -> None:
    """A dashed line of this slope, drawn above the part of a curve in the window."""
    here = line.isel(scale=inside(line.scale.values, window))
    here = here[here.values > 0]
    if here.size:
        through = (judge.log_mean(here.scale).value, 2 * judge.log_mean(here).value)
        draw.guide(figure, window, slope, through, name)


def _kernel(dataset: Data) -> Figure:
    caption = (
        "Relative change of the tangent kernel of relu networks from start to end of training "
        "against √h alpha; dots are single networks, the line their root mean square. Left of 10 "
        "features are learned. With a smooth activation the slope −1 would follow at once. With "
        "relu a few neurons cross zero on a few patterns, and as their number falls as 1/(√h "
        "alpha) the kernel's change falls only as its root (dashed, −1/2). Where no neuron crosses "
        "zero any more, at the far right, the change drops to that of a smooth function of the "
        "weights (slope −1). Runs in the feature regime may end before everything is fitted: kinks "
        "make them slow."
    )
    figure = draw.axes("√h alpha", "|Θ − Θ₀| / |Θ₀|", log="xy", height=520, caption=caption)
    line, *_ = _curves(figure, judge.need(dataset, "kernel_change").kernel_change, 2.0)
    low, high = float(line.scale.min()), float(line.scale.max())
    _guide(figure, line, (1e2, 1e5), -0.5, "slope −1/2")
    _guide(figure, line, (1e7, high), -1.0, "slope −1")
    _guide(figure, line, (low, 10.0), -1.5, "slope −3/2")
    draw.level(figure, y=1.0)
    return figure


def _flips(dataset: Data) -> Figure:
    caption = (
        "How many pairs of a hidden neuron and a test point were switched on or off by training. "
        "Weights move by 1/(√h alpha), so does the number of pairs close enough to zero to switch "
        "(dashed, slope −1). Networks without any switch cannot be shown on a logarithmic axis but "
        "count in the mean."
    )
    y = "switched (neuron, pattern) pairs per network"
    figure = draw.axes("√h alpha", y, log="xy", height=460, caption=caption)
    line, *_ = _curves(figure, judge.need(dataset, "flips").flips, 1.0)
    _guide(figure, line, (1e2, 1e5), -1.0, "slope −1")
    return figure


FIGURES = {"Change of the tangent kernel with relu": _kernel, "Neurons that switch": _flips}
