"""The output's growth in four panels per depth [Geiger 2020, fig. 10]."""

import numpy as np

from regimes.lab import Data, Figure, draw, judge

PANELS = {  # what each shows -> title of its vertical axis
    "change of the output": "‖f_t − f₀‖",
    "output over its start, by √h": "‖f_t‖ / (√h ‖f₀‖)",
    "√h alpha × change": "√h alpha ‖f_t − f₀‖",
    "alpha × change": "alpha ‖f_t − f₀‖",
}
DASHES = ("solid", "dot", "dashdot")  # of widths; plain dashes are the slope's
LINEAR = (1, 3, 4)  # panels with the slope 1 of early times


def _growth(dataset: Data) -> Figure:
    caption = (
        "Root mean square output on test points in the course of training, in four panels for "
        "networks of L hidden layers; time in units of t₁, when the loss is half of what it was; "
        "geometric mean over seeds; colour is √h alpha, line style the width. At first the change "
        "of the output grows in proportion to time (dashed, slope 1). In the feature regime (small "
        "√h alpha) it bends upwards when the weights begin to help each other. At t₁ the output "
        "has grown by √h beyond its start (upper right: widths agree around 1), and alpha times "
        "the change is a function of t/t₁ alone (lower right: widths agree); for early times √h "
        "alpha is the factor that makes widths agree (lower left)."
    )
    ran = judge.where_ran(dataset, "depth", "change")
    depths = ran.depth.values
    figure = draw.axes(
        "t / t₁",
        [title for _ in depths for title in PANELS.values()],
        log="xy",
        panels=[f"L = {depth}: {what}" for depth in depths for what in PANELS],
        columns=2,
        height=820 * len(depths),
        legend="below",
        caption=caption,
    )
    figure.update_layout(legend_y=-0.12 / len(depths))
    for row, depth in enumerate(depths):
        _courses(figure, ran.sel(depth=depth), row * len(PANELS))
    return figure


def _courses(figure: Figure, part: Data, before: int) -> None:
    """The lines of one depth, in the panels that follow those drawn before."""
    starts = []
    for scale, color, own in draw.each(part, "scale"):
        for width, dash, runs in draw.each(own, "width", DASHES):
            if not bool(np.isfinite(runs.change).all()):
                continue
            change, norm = (np.exp(np.log(runs[name]).mean("seed")) for name in ("change", "norm"))
            root = width**0.5
            lines = (
                change,
                norm / (runs.typical_norm * root),
                scale * change,
                scale / root * change,
            )
            name = f"√h alpha = {scale:g}, h = {width}"
            for k, y in enumerate(lines, start=before + 1):
                draw.line(figure, part.moment, y, name, color=color, dash=dash, panel=k)
            starts.append([float(y[0]) for y in lines])
    for panel in LINEAR if starts else ():
        early = (1e-3, 0.1)
        through = (early[0], 2 * max(start[panel - 1] for start in starts))
        draw.guide(figure, early, 1.0, through, panel=before + panel)


FIGURES = {"Growth of the output": _growth}
