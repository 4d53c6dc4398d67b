"""Solutions and bounds against how unequal the features are."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Figure, draw, judge


def _solutions(dataset: Data) -> Figure:
    at = judge.need(dataset, "weights")
    caption = (
        "Weights of 100 interpolators along the features 1 and 10, less their mean, one colour an "
        "anisotropy c of the features: as c tends to 1 the weight of the small feature scatters."
    )
    titles = [f"a = {a:g}" for a in at.half_width.values]
    figure = draw.axes(
        "weight of feature 1", "weight of feature 10", caption=caption, panels=titles
    )
    chosen = [k for k, c in enumerate(at.c.values) if c in (0.0, 0.25, 0.5, 0.9, 0.99)]
    for panel, a in enumerate(at.half_width.values, start=1):
        for k, color in zip(chosen, draw.COLORS, strict=False):
            cloud = at.weights.sel(half_width=a).isel(c=k, seed=0).values
            if np.isfinite(cloud).all():
                draw.points(
                    figure,
                    cloud[:, 0],
                    cloud[:, 1],
                    f"c = {at.c.values[k]:g}",
                    color=color,
                    size=4,
                    panel=panel,
                )
    return figure


def _bounds(dataset: Data) -> Figure:
    at = judge.need(dataset, "bound_best", "error", "bound_identity")
    caption = (
        "Test error of the least-norm interpolator (black) and two bounds on the complexity of its "
        "class against c, which takes the features from all equal (0) to those of the Gaussian "
        "kernel (1): the ball in weight space (red) leaves the error behind, the best rescaling "
        "(blue) follows it."
    )
    titles = [f"a = {a:g}" for a in at.half_width.values]
    figure = draw.axes("c", "", log="y", panels=titles, caption=caption, legend="below")
    curves = (
        ("error", "test error", draw.INK),
        ("bound_identity", "bound of the ball", draw.RED),
        ("bound_best", "bound, best rescaling", draw.BLUE),
    )
    for panel, a in enumerate(at.half_width.values, start=1):
        part = at.sel(half_width=a).dropna("seed", how="all", subset=["bound_best"])
        for name, label, color in curves if part.sizes["seed"] else ():
            draw.curve(figure, part[name].clip(1e-4), "c", label, color=color, panel=panel)
    return figure


FIGURES = {"Solutions": _solutions, "Error and bounds": _bounds}
