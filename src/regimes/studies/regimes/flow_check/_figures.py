"""Drawings of the checks of gradient flow: how far predictions move, and what it costs."""

from collections.abc import Iterator

import numpy as np

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.regimes._outcome_figures import SCALE

CHECKS = {  # check -> what it is, colour
    "steps": ("eps / 100: steps ten times shorter", draw.BLUE),
    "memory": ("memory τ = 10⁻³ min(scale, 10³)", draw.ORANGE),
    "memory x 10": ("ten times longer memory", draw.GREEN),
}


def _differences(dataset: Data) -> Figure:
    caption = (
        "The same networks trained twice: as everywhere in this theme, and with one thing changed. "
        "How far apart their predictions on unseen points end, relative to their size; small dots "
        "are seeds. Below the dotted lines the way in which the flow is integrated does not "
        "matter for any error that is measured."
    )
    title = "|F' − F| / |F| on test points (1)"
    figure = draw.axes(SCALE, title, log="xy", caption=caption)
    figure.update_xaxes(dtick=1).update_yaxes(dtick=1)
    for label, color, row in _checks(dataset):
        values = row.difference.transpose("scale", "seed").values
        places = np.repeat(row.scale.values, values.shape[1])
        draw.points(figure, places, values.ravel(), size=5, opacity=0.4, color=color)
        draw.curve(figure, row.difference.mean("seed"), "scale", label, color=color)
    _level(figure, 3e-3, "3·10⁻³ (steps)", side="right")
    _level(figure, 1e-2, "10⁻² (memory)", side="right")
    return figure


def _costs(dataset: Data) -> Figure:
    caption = (
        "Steps (solid) and wall time (dashed) of the changed integration over those of the usual "
        "one. The scheme is of first order, so a hundredth of the tolerance costs up to ten times "
        "the steps; the paper's factor of two is possible only where something else limits the "
        "steps. A short memory costs next to nothing."
    )
    title = "cost relative to the usual integration (1)"
    figure = draw.axes(SCALE, title, log="xy", caption=caption)
    figure.update_xaxes(dtick=1)
    for label, color, row in _checks(dataset):
        steps = (row.altered_steps / row.steps).mean("seed")
        clock = row.altered_seconds / row.seconds
        draw.curve(figure, steps, "scale", f"{label}: steps", color=color)
        name = f"{label}: clock"
        draw.curve(figure, clock, "scale", name, color=color, dash="dash", width=1)
    _level(figure, 10.0, "10 = √100: first order", side="left")
    _level(figure, 2.0, "2: the paper", side="left")
    return figure


def _checks(dataset: Data) -> Iterator[tuple[str, str, Data]]:
    """What is checked, its colour, and the scales at which it has run."""
    for check, _, row in draw.each(judge.need(dataset, "difference").sortby("scale"), "check"):
        label, color = CHECKS.get(check, (check, draw.SLATE))
        yield label, color, row.dropna("scale", how="all", subset=["difference"])


def _level(figure: Figure, level: float, text: str, *, side: str) -> None:
    """A dotted line at a level of a logarithmic axis, named at one side."""
    draw.level(figure, y=level)
    beside = {"xref": "paper", "xanchor": side, "yanchor": "bottom"}
    draw.words(figure, text, 1 if side == "right" else 0, np.log10(level), **beside)


FIGURES = {
    "Do predictions depend on how the flow is integrated? (fig. 13)": _differences,
    "What it costs (fig. 13)": _costs,
}
