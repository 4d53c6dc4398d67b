"""A sheet of deformed drawings between the two borders, and the laws behind the borders."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.deformations import _sheet

_PIXELS = 320  # of the images that the borders of the sheet are drawn for
_CUTS = (3.0, 10.0, 30.0, 100.0)
_HEATS = tuple(10.0**k for k in range(-7, 0))
_RULES = (("half", draw.BLUE), ("sharp", draw.ORANGE))


def _plane(dataset: Data) -> Figure:
    from regimes import data

    judge.need(dataset, "bijective")
    caption = (
        "One drawing of 320 x 320 pixels under random smooth deformations. To the right the fields "
        "are rougher: the cut-off c is the number of oscillations across the image. Upwards they "
        "are stronger: T is the temperature. Below the dotted line pixels move by less than a "
        "half, which cannot be seen. Above the solid line half of the fields fold the image over, "
        "so that shapes tear and merge. Between the two lies what is meant by a smooth "
        "deformation; on the dashed line pixels move by one pixel."
    )
    figure = draw.axes("cut-off c", "temperature T", log="xy", caption=caption, height=900)
    for c in _CUTS:
        for T in _HEATS:
            draw.picture(figure, _sheet.deformed(T, c, seed=0), c, T, 0.28, 0.9)
    cuts = np.geomspace(1.9, 170, 60)
    lines = (
        ("half of the fields fold", [data.bijective_temperature(each) for each in cuts], "solid"),
        ("pixels move by 1", [data.temperature(1.0, each, _PIXELS) for each in cuts], "dash"),
        ("pixels move by 1/2", [data.visible_temperature(each, _PIXELS) for each in cuts], "dot"),
    )
    for name, heats, dash in lines:
        draw.line(figure, cuts, heats, name, color=draw.INK, dash=dash, width=2.5)
    figure.update_xaxes(range=np.log10([1.7, 190]).tolist())
    return figure.update_yaxes(range=[-7.6, -0.4])


def _laws(dataset: Data) -> Figure:
    at = judge.where_ran(dataset, "seed", "xi_ratio")
    caption = (
        "Left: mean squared displacement of pixels in units of n^2 T, exact sums over the modes: "
        "average over the image (lower pair) and at its middle (upper pair); dashed the law "
        "(pi/4) ln c, from which both stay a constant away. Right: median of the largest Xi, which "
        "is 1 where a field begins to fold, over its law (c/2) sqrt(pi^3 T ln c); means over draws "
        "with standard errors. Colours are the two ways to cut modes off."
    )
    panels = ("displacement", "largest Xi")
    titles = ("squared displacement / (n² T)", "median / law")
    figure = draw.axes("cut-off c", titles, log="x", panels=panels, caption=caption)
    from regimes import data

    c = np.geomspace(2, 300, 25)
    law = [data.displacement2(1.0, each, 1, "asymptotic") for each in c]
    draw.line(figure, c, law, "(pi/4) ln c", color=draw.INK, dash="dash")
    found = at.xi_ratio.transpose("seed", "rule", "xi_cut")
    for row, (rule, color) in enumerate(_RULES):
        for kind in ("average", "centre"):
            exact = [data.displacement2(1.0, each, 1, kind, rule) for each in c]
            draw.line(figure, c, exact, rule, color=color)
        draw.curve(figure, found.isel(rule=row), "xi_cut", rule, color=color, panel=2)
    draw.level(figure, y=1.0, panel=2)
    return figure


def _border(dataset: Data) -> Figure:
    at = judge.where_ran(dataset, "seed", "bijective")
    caption = (
        "Share of fields that are bijective at a quarter of T_max, at T_max = 4/(pi^3 c^2 ln c), "
        "and at four times that, and share of discs that stay one piece at T_max and at thirty "
        "times that: T_max separates deformations from tears. Means over draws with standard "
        "errors."
    )
    figure = draw.axes("T / T_max", "share", log="x", caption=caption)
    for row, (rule, color) in enumerate(_RULES):
        for k, c in enumerate(at.border_cut.values):
            part = at.bijective.isel(rule=row, border_cut=k)
            name = f"bijective, {rule}, c = {c:g}"
            draw.curve(figure, part, "times_border", name, color=color, dash=draw.DASHES[k])
    for k, c in enumerate(at.border_cut.values):
        part = at.disc_whole.isel(border_cut=k)
        name = f"discs whole, half, c = {c:g}"
        draw.curve(figure, part, "times_torn", name, color=draw.GREEN, dash=draw.DASHES[k])
    return figure


FIGURES = {
    "Deformations between two borders": _plane,
    "Displacements and foldings": _laws,
    "What is bijective": _border,
}
