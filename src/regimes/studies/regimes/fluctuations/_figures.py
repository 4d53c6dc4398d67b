"""Figures of fluctuations: errors and variances against width, scale and training points."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from regimes.lab import Data, Figure, along, draw, first_of, split
from regimes.studies.regimes._scans import scan
from regimes.studies.regimes.fluctuations._claims import curve

WIDTH = "width h (neurons per layer)"


def _errors(dataset: Data) -> Figure:
    table = scan(dataset, "widths")
    caption = (
        "Each point is an ensemble of networks that differ in their initial weights alone. Solid: "
        "the mean test error of one network; dashed: the error of the averaged output of all of "
        "them; colours are scales √h α, small ones learn features, large ones are lazy. A wider "
        "network errs less, but the ensemble's error hardly depends on the width: what width gains "
        "is the loss of fluctuations, which averaging removes as well. Bars: standard errors, "
        f"{table.sizes['seed']} networks per point."
    )
    figure = draw.axes(WIDTH, "test error (%)", log="x", ticks=table.width, caption=caption)
    for scale, color, own in _coloured(table, "scale", "width"):
        name = f"√h α = {scale:g}"
        _line(figure, own, "error", 100, f"one network, {name}", color=color)
        _line(figure, own, "ensemble_error", 100, f"ensemble, {name}", color=color, dash="dash")
    return figure


def _variances(dataset: Data) -> Figure:
    table = scan(dataset, first_of(dataset, "variance", "widths"))
    caption = (
        "How much the outputs of trained networks differ on a test point, when only their initial "
        "weights differ (variance over seeds, mean over test points; the margin that training asks "
        "for is 1). It falls as 1/h (dashed grey) in the lazy regime and in the feature regime "
        "alike: a network is a sum over h neurons that were drawn independently."
    )
    title = "variance of the output F over seeds"
    figure = draw.axes(WIDTH, title, log="xy", ticks=table.width, caption=caption)
    for scale, color, own in _coloured(table, "scale", "width"):
        heights = _line(figure, own, "variance", 1, f"√h α = {scale:g}", color=color)
        widths = own.width.values
        draw.guide(figure, widths, -1.0, (widths[-1], 0.85 * heights[-1]))
    return figure


def _scales(dataset: Data) -> Figure:
    caption = (
        "From feature learning (left) to lazy training (right). Against the output scale α the "
        "curves of different widths are shifted; with the error of each width mapped to [0, 1] and "
        "drawn against √h α they change at the same place, of order one: the border between the "
        "regimes is at α ~ 1/√h. Ensembles (dashed) take the effect of fluctuations away, so that "
        "what is left is the effect of the regime itself. Lower right: h times the variance is of "
        "one size for all widths, in both regimes."
    )
    table = scan(dataset, "scales")
    figure = draw.axes(
        ("α", "√h α", "√h α", "√h α"),
        ("%", "rescaled error", "%", "h var F"),
        log="x",
        panels=(
            "test error against α",
            "test error mapped to [0, 1], against √h α",
            "one network (solid) and ensemble (dashed)",
            "h × variance of the output",
        ),
        columns=2,
        caption=caption,
        height=720,
    )
    figure.update_xaxes(dtick=1)
    figure.update_yaxes(type="log", exponentformat="power", **draw.place(figure, 4))
    for width, color, own in _coloured(table, "width", "scale"):
        style: dict[str, Any] = {"name": f"h = {width:g}", "color": color}
        error, _ = curve(own, "error")
        _line(figure, own, "error", 100, x=own.scale / width**0.5, **style)
        if np.ptp(error) > 0:
            _line(figure, own, "error", 1 / np.ptp(error), low=error.min(), panel=2, **style)
        _line(figure, own, "error", 100, panel=3, **style)
        _line(figure, own, "ensemble_error", 100, panel=3, dash="dash", **style)
        _line(figure, own, "variance", width, panel=4, **style)
    draw.level(figure, y=0.5, panel=2)
    return figure


def _sizes(dataset: Data) -> Figure:
    table = scan(dataset, "sizes")
    caption = (
        f"Lazy networks (√h α = {table.scale.values.max():g}) trained on n points: the variance of "
        "their outputs over seeds, divided by √n. The curves lie near one another, so the variance "
        "grows about as √n. At large widths it falls as 1/h; the paper, with thousands of "
        "training points, sees slower laws first, the later 1/h the more points there are. Grey: "
        "slopes -1 and -1/2."
    )
    title = "variance of the output / √n"
    figure = draw.axes(WIDTH, title, log="xy", ticks=table.width, caption=caption)
    for n, color, own in _coloured(table, "n_train", "width"):
        _line(figure, own, "variance", n**-0.5, f"n = {n:g}", color=color)
    widest = split(table, "width", "n_train")[table.width.values.max()]
    end = float(np.median(widest.variance / widest.n_train**0.5))
    for slope, name, factor in ((-1.0, "slope -1", 0.8), (-0.5, "slope -1/2", 1.25)):
        draw.guide(figure, table.width, slope, (widest.width.values[0], factor * end), name)
    return figure


def _small(dataset: Data) -> Figure:
    caption = (
        "The far end of feature learning. Below √h α = 10⁻⁴ the weights must grow so far before "
        "the output is of order one that a few directions run away with it: the networks of "
        "different seeds end up in different places and many do not fit within the steps allowed "
        "(right). Bars: standard errors over seeds."
    )
    table = along(scan(dataset, "small"), "scale")
    figure = draw.axes(
        "√h α",
        ("variance of F", "%", "%"),
        log="x",
        panels=("variance", "test error", "runs that fitted"),
        caption=caption,
    )
    figure.update_xaxes(dtick=1)
    figure.update_yaxes(type="log", exponentformat="power", **draw.place(figure, 1))
    figure.update_yaxes(range=[-5, 105], **draw.place(figure, 3))
    _line(figure, table, "variance", 1, color=draw.BLUE)
    _line(figure, table, "error", 100, color=draw.ORANGE, panel=2)
    draw.curve(figure, 100 * table.fitted.mean("seed"), "scale", color=draw.GREEN, panel=3)
    return figure


FIGURES = {
    "Test error against width": _errors,
    "Fluctuation of the output against width": _variances,
    "Errors and fluctuation against the scale": _scales,
    "Fluctuation and training points": _sizes,
    "Very small scales": _small,
}


def _coloured(table: Data, by: str, over: str) -> Iterator[tuple[float, str, Data]]:
    for i, (value, own) in enumerate(split(table, by, over).items()):
        yield value, draw.COLORS[i % len(draw.COLORS)], own


def _line(
    figure: Figure,
    table: Data,
    measure: str,
    factor: float,
    name: str = "",
    *,
    x: Any = None,
    low: float = 0.0,
    **options: Any,
) -> np.ndarray:
    """One measure along the table, less `low`, times a factor; returns its heights."""
    values, doubts = curve(table, measure)
    (over,) = table.variance.dims
    heights = factor * (values - low)
    place = table[over] if x is None else x
    options = {"error": factor * doubts, "mode": "lines+markers", **options}
    draw.points(figure, place, heights, name, **options)
    return heights
