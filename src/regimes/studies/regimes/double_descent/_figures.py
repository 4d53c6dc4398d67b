"""Errors and norms against width."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from regimes.lab import Data, Figure, draw
from regimes.lab.judge import Missing
from regimes.studies.regimes._outcome_figures import PERCENT, single_and_ensemble
from regimes.studies.regimes.double_descent._claims import flow_of, jamming


def _errors(dataset: Data) -> Figure:
    caption = (
        "Test error of single networks (dashed, mean over seeds) and of their mean prediction "
        "(solid) against width, at several scales; the dotted lines mark jamming, left of which "
        "most runs do not fit. Single networks go on improving with width long after they fit; the "
        "ensemble is as good as it gets right after jamming, at every scale."
    )
    flow = flow_of(dataset)
    figure = draw.axes("width h (neurons)", PERCENT, log="x", ticks=flow.width, caption=caption)
    for name, color, part in _at_each_scale(figure, flow):
        single_and_ensemble(figure, part, "width", name, color)
    return figure


def _norms(dataset: Data) -> Figure:
    caption = (
        "Root mean square of the prediction on test points, medians over seeds with bars over the "
        "middle half. It is largest where networks can only just fit their data (dotted: jamming), "
        "the cause of the peak of the test error, and falls beyond. Stochastic steps and a decay "
        "towards the start keep it small (symbols)."
    )
    flow, title = flow_of(dataset), "norm of the output F on test points"
    figure = draw.axes("width h (neurons)", title, log="xy", ticks=flow.width, caption=caption)
    for name, color, part in _at_each_scale(figure, flow):
        draw.curve(figure, part.output_norm, "width", f"flow, {name}", center="median", color=color)
    middle = dataset.output_norm.isel(scale=dataset.sizes["scale"] // 2)
    marks: dict[str, Any] = {"center": "median", "mode": "markers", "color": draw.INK, "size": 9}
    others = draw.each(middle.drop_sel(trainer="flow"), "trainer")
    for (trainer, _, own), symbol in zip(others, draw.SYMBOLS[1:], strict=False):
        draw.curve(figure, own, "width", f"{trainer}, middle scale", symbol=symbol, **marks)
    return figure


def _at_each_scale(figure: Figure, flow: Data) -> Iterator[tuple[str, str, Data]]:
    """Name, colour and data of every scale; its jamming width is marked where it is known."""
    for scale, color, part in draw.each(flow, "scale"):
        with suppress(Missing):
            draw.level(figure, x=jamming(part), color=color)
        yield f"sqrt(h) alpha = {scale:g}", color, part


FIGURES = {"Test error against width": _errors, "Norm of the output against width": _norms}
