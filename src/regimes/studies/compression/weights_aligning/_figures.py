"""Neurons before, during and after training, after [Paccolat 2021, figs. 1 and 6]."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Data, Figure, draw, judge
from regimes.studies.compression._attractors import EDGES
from regimes.studies.compression.weights_aligning._arrows import Panel, picture
from regimes.studies.compression.weights_aligning._claims import LAZY

PLANES = {  # coordinates drawn, and from where they are seen
    "stripe": {(0, 1): ""},
    "cylinder": {(0, 1): ", along the axis", (0, 2): ", from the side"},
}


def film_times(frames: int) -> np.ndarray:
    """Times in units of t* of the frames between the first, the start, and the last, the end."""
    return np.geomspace(0.03, 30.0, frames - 2)


def _still(dataset: Data, model: str) -> Figure:
    ran = _scales(dataset, model)
    where = {
        "stripe": "along x1, the only direction that decides the label.",
        "cylinder": "in the plane (x1, x2) that decides the label, and so they stay.",
    }
    caption = (
        "Dots: training points by label; dotted: where the label changes. Arrows: β w of the same "
        "50 neurons, with one rescaling per picture: directions and relative sizes can be "
        f"compared. Small α ({ran.alpha.values[0]:g}, feature learning): at t*, when a tenth of "
        f"the points is fitted, the arrows that matter already lie {where[model]} Large α "
        f"({ran.alpha.values[-1]:g}, lazy): the arrows at the end are those of the start."
    )
    panels = []
    for alpha, _, at in draw.each(ran, "alpha"):
        name, times = "lazy" if alpha >= LAZY else "feature", at.frame_time.values
        during = int(np.abs(times[1:-1] - 1.0).argmin()) + 1
        for plane, side in PLANES[model].items():
            for frame, moment in ((0, "start"), (during, "t*"), (len(times) - 1, "end")):
                panel = _panel(at, model, plane, f"{name}{side}, {moment}")
                panels.append(replace(panel, arrows=panel.arrows[frame : frame + 1]))
    return picture(panels, columns=3, caption=caption)


def _film(dataset: Data, model: str) -> Figure:
    caption = (
        "Press ▶ or move the slider. Each arrow is a neuron, β w; time is in units of t*, at which "
        "a tenth of the training points is fitted, so both networks are as far in training. Left, "
        "small α: arrows turn to the informative directions long before t*, then move about to "
        "fit the points near the interfaces. Right, large α: nothing is seen to move."
    )
    ran = _scales(dataset, model)
    panels = [
        _panel(at, model, plane, f"α = {alpha:g}{side}")
        for plane, side in PLANES[model].items()
        for alpha, _, at in draw.each(ran, "alpha")
    ]
    between = [f"{time:.2g} t*" for time in film_times(ran.sizes["frame"])]
    moments = ["start", *between, "end"]
    return picture(panels, columns=ran.sizes["alpha"], caption=caption, moments=moments)


def _scales(dataset: Data, model: str) -> Data:
    """The scales alpha at which a model has run, the smallest first."""
    return judge.where_ran(dataset, "alpha", "film", model=model).sortby("alpha")


def _panel(at: Data, model: str, plane: tuple[int, int], title: str) -> Panel:
    film, points = (at[name].isel(coordinate=list(plane)).values for name in ("film", "points"))
    axes = (f"x<sub>{plane[0] + 1}</sub>", f"x<sub>{plane[1] + 1}</sub>")
    return Panel(title, axes, points, at.labels.values, film, _boundary(model, plane))


def _boundary(model: str, plane: tuple[int, int]) -> tuple[dict[str, Any], ...]:
    """Where the label changes in the plane, as plotly shapes."""
    radius = rg.data.balanced_radius()
    if model == "cylinder" and plane == (0, 1):
        corners = {"x0": -radius, "y0": -radius, "x1": radius, "y1": radius}
        return ({"type": "circle", **corners},)
    edges = EDGES if model == "stripe" else (-radius, radius)
    return tuple({"type": "line", "x0": x, "x1": x, "y0": -3.0, "y1": 3.0} for x in edges)


FIGURES = {
    "The stripe, before, during and after training (fig. 1)": partial(_still, model="stripe"),
    "The stripe, moving": partial(_film, model="stripe"),
    "The cylinder, before, during and after training (fig. 6)": partial(_still, model="cylinder"),
    "The cylinder, moving": partial(_film, model="cylinder"),
}
