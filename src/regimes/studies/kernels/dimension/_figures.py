"""Nearest distances against the number of points."""

from __future__ import annotations

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.kernels import _pictures
from regimes.studies.kernels.dimension import SPHERE


def _spheres(dataset: Data) -> Figure:
    here = judge.where_ran(dataset, "seed", "distance")
    caption = (
        "Mean distance to the nearest of n points on spheres of several dimensions d; grey, the "
        "slope -1/d that is reached for many points. In high dimensions it takes more of them "
        "than can be drawn."
    )
    figure = draw.axes("points n", "nearest distance", log="xy", caption=caption)
    for cloud, color, part in draw.each(here.distance, "cloud"):
        if str(cloud).startswith(SPHERE):
            d = int(str(cloud).removeprefix(SPHERE))
            _pictures.learning(figure, part, "size", f"sphere, d = {d}", color=color)
            _pictures.beside(figure, part, "size", -1 / d, "slope -1/d")
    return figure


def _images(dataset: Data) -> Figure:
    caption = (
        "Mean distance to the nearest of n images, over that of the smallest n, beside points on "
        "spheres of 15 and 35 dimensions (dashed): images come closer as if they filled a space "
        "of so few dimensions."
    )
    title = "nearest distance / first"
    figure = draw.axes("points n", title, log="xy", caption=caption)
    for images, sphere, color in (
        ("mnist", "sphere-15", draw.BLUE),
        ("cifar10", "sphere-35", draw.ORANGE),
    ):
        for cloud, dash in ((images, "solid"), (sphere, "dash")):
            here = judge.where_ran(dataset, "seed", "distance", cloud=cloud).distance
            relative = here / here.isel(size=0)
            _pictures.learning(figure, relative, "size", cloud, color=color, dash=dash)
    return figure


FIGURES = {"Spheres": _spheres, "Images beside spheres": _images}
