"""Errors and norms against width."""

from contextlib import suppress
from typing import Any

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.regimes._outcome_figures import PERCENT, errors_at_each_scale
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
    errors_at_each_scale(figure, flow, "width")
    _mark_jamming(figure, flow)
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
    for scale, color, norm in draw.each(flow.output_norm, "scale"):
        name = f"flow, sqrt(h) alpha = {scale:g}"
        draw.curve(figure, norm, "width", name, center="median", color=color)
    _mark_jamming(figure, flow)
    middle = dataset.output_norm.isel(scale=dataset.sizes["scale"] // 2).drop_sel(trainer="flow")
    marks: dict[str, Any] = {"center": "median", "mode": "markers", "color": draw.INK, "size": 9}
    for trainer, symbol, norm in draw.each(middle, "trainer", draw.SYMBOLS[1:]):
        draw.curve(figure, norm, "width", f"{trainer}, middle scale", symbol=symbol, **marks)
    return figure


def _mark_jamming(figure: Figure, flow: Data) -> None:
    for _, color, part in draw.each(flow, "scale"):
        with suppress(judge.Missing):
            draw.level(figure, x=jamming(part), color=color)


FIGURES = {"Test error against width": _errors, "Norm of the output against width": _norms}
