"""Kernel, weights and time against the scale, learning curves, exponents, shares of layers."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np

from regimes.lab import Data, Figure, Values, draw, judge
from regimes.studies.regimes._fitted_runs import fitted_at
from regimes.studies.regimes.scaling._claims import (
    KERNEL,
    KERNEL_EXPONENTS,
    WEIGHTS,
    falling,
    layer_shares,
    main_width,
    window_of,
)

MOMENTS = np.logspace(-3, 3, 121)  # times of the learning curves, in units of t_half
DOCUMENT = {"kernel_change": {2: 1.25, 5: 1.7}, "weight_change": {2: 0.35, 5: 0.23}}  # its Table 2


def _panels(values: Values, fitted: Values, title: str, caption: str) -> Figure:
    """One quantity against alpha on the left, where widths differ, and the scale on the right."""
    figure = draw.axes(
        ("alpha", "√h alpha"),
        (title,),
        log="xy",
        panels=("against alpha", "against √h alpha"),
        shared="y",
        height=520,
        caption=caption,
    )
    good = values.where((fitted == 1) & (values > 0))
    for depth, color, part in draw.each(good, "depth"):
        for width, symbol, own in draw.each(part, "width", draw.SYMBOLS):
            seen = own.dropna("scale", how="all")
            if seen.size:
                name = f"L = {depth}, h = {width}"
                how: Any = {"center": "geometric", "color": color, "symbol": symbol, "width": 1.5}
                draw.curve(figure, seen, "scale", name, x=seen.scale / width**0.5, **how)
                draw.curve(figure, seen, "scale", name, panel=2, **how)
    return figure


def _guides(
    figure: Figure,
    dataset: Data,
    name: str,
    laws: Iterable[tuple[int, tuple[float, float], float]],
    lift: float = 2.0,
) -> Figure:
    """Power laws (depth, window, slope) above the curves of the main width."""
    for depth, window, slope in laws:
        with suppress(judge.Missing):
            place = {"depth": depth, "width": main_width(dataset)}
            height = judge.log_mean(fitted_at(dataset, name, window[0], **place)).value
            draw.guide(figure, window, slope, (window[0], lift * height), panel=2)
    return figure


def _kernel(dataset: Data) -> Figure:
    caption = (
        "How much the tangent kernel of the network has changed when all training points are "
        "fitted, relative to the kernel at the start (pure numbers; geometric mean and standard "
        "error over seeds). Left, against the scale alpha of the output, networks of one depth and "
        "different width lie apart; right, against √h alpha, they fall on one curve. To the right "
        "of the crossover, where the dotted line marks a change of 100 %, the change falls as "
        "1/(√h alpha): lazy training. To its left it grows towards small scales as a power 2/(1 + "
        "1/L) set by the number L of hidden layers (dashed): feature learning."
    )
    change = judge.need(dataset, "kernel_change").kernel_change
    figure = _panels(change, dataset.fitted, "|Θ − Θ₀| / |Θ₀|", caption)
    draw.level(figure, y=1.0)
    laws = [(L, (window_of(L, KERNEL)[0], 1.0), -2 / (1 + 1 / L)) for L in dataset.depth.values]
    return _guides(figure, dataset, "kernel_change", [*laws, (3, _lazy(dataset, 1e3), -1.0)])


def _weights(dataset: Data) -> Figure:
    caption = (
        "How far all weights have moved at the end of training, relative to where they started and "
        "times √h. Right, against √h alpha, all widths agree. Lazy networks move by 1/(√h alpha). "
        "In the feature regime the output must grow by 1/(√h alpha) and each of the L + 1 layers "
        "takes an equal share, which gives the power 1/(L+1) (dashed): the deeper the network, the "
        "less each layer moves."
    )
    moved = judge.need(dataset, "weight_change").weight_change * dataset.width**0.5
    figure = _panels(moved, dataset.fitted, "√h |w − w₀| / |w₀|", caption)
    laws = [(L, (window_of(L, WEIGHTS)[0], 1.0), -1 / (L + 1)) for L in dataset.depth.values]
    laws.append((3, _lazy(dataset, 1e3), -1.0))
    return _guides(figure, dataset.assign(moved=moved), "moved", laws, lift=1.5)


def _times(dataset: Data) -> Figure:
    caption = (
        "The time at which the training loss has fallen to half, divided by √h alpha (flow time, "
        "in which the loss is divided by alpha²). Feature side: a plateau, so the time is "
        "proportional to √h alpha, except for one hidden layer, where the output grows "
        "exponentially and the time has a logarithm. Lazy side: the time does not depend on alpha, "
        "which appears here as the slope −1 (dashed)."
    )
    time = judge.need(dataset, "t_half").t_half / dataset.scale
    figure = _panels(time, dataset.fitted, "t_half / (√h alpha)", caption)
    return _guides(figure, dataset.assign(time=time), "time", [(3, _lazy(dataset, 1e2), -1.0)])


def _lazy(dataset: Data, start: float) -> tuple[float, float]:
    """From a scale to the end of the scan."""
    return start, float(dataset.scale.max())


def _curves(dataset: Data) -> Figure:
    """alpha^2 times the objective in time, main width, first seed."""
    main, depths = main_width(dataset), dataset.depth.values
    depth = 3 if 3 in depths else int(depths[-1])
    caption = (
        f"Training loss in the course of time for L = {depth}, h = {main}, one network. "
        "Left: lazy networks (large √h alpha, red) follow one curve whatever alpha, over "
        "several decades of time. Right: feature networks (small √h alpha, blue) all "
        "drop at the same t/(√h alpha), and sharply: the output grows slowly first and "
        "then, within a factor of two in time, fits nearly everything."
    )
    figure = draw.axes(
        ("t", "t / (√h alpha)"),
        ("training loss α² L(t)",),
        log="x",
        panels=("time", "time over √h alpha"),
        shared="y",
        height=480,
        caption=caption,
    )
    part = judge.need(dataset, "loss_curve", depth=depth, width=main)
    for scale, color, own in draw.each(part, "scale", draw.shades(part.sizes["scale"])):
        half = float(own.t_half.isel(seed=0))
        if np.isfinite(half):
            for panel, unit in ((1, 1.0), (2, scale)):
                times, name = half * MOMENTS / unit, f"√h alpha = {scale:.0e}"
                draw.line(figure, times, own.loss_curve, name, color=color, panel=panel)
    return figure


def _exponents(dataset: Data) -> Figure:
    """Exponents of kernel and weight change on the feature side, against depth."""
    caption = (
        "The powers with which the tangent kernel (red) and the weights (blue) change as √h alpha "
        "goes to 0, fitted on the feature side of the scan. Dashed: what an equal sharing of the "
        "growth among the L + 1 layers predicts. Open circles: values of the paper. The "
        "kernel's exponent grows with depth and stays below 2."
    )
    x, y = "number of hidden layers L", "exponent of 1/(√h alpha)"
    figure = draw.axes(x, y, height=480, caption=caption)
    figure.update_xaxes(dtick=1).update_yaxes(range=[0, 2.05])
    smooth = np.linspace(1, 6, 51)
    rows = (
        ("kernel_change", KERNEL, "kernel", draw.RED, 2 / (1 + 1 / smooth), "2/(1+1/L)"),
        ("weight_change", WEIGHTS, "weights", draw.BLUE, 1 / (smooth + 1), "1/(L+1)"),
    )
    drawn = False
    for name, window, title, color, law, formula in rows:
        found = {}
        for depth in KERNEL_EXPONENTS:
            with suppress(judge.Missing):
                found[depth] = falling(dataset, name, depth, window)
        drawn |= bool(found)
        values = [each.value for each in found.values()]
        errors = [each.error for each in found.values()]
        told = f"{title}, measured"
        draw.points(figure, list(found), values, told, error=errors, color=color, size=10)
        depths, paper = zip(*DOCUMENT[name].items(), strict=True)
        told = f"{title} [Geiger 2020, table 2]"
        draw.points(figure, depths, paper, told, color=color, size=11, symbol="circle-open")
        draw.line(figure, smooth, law, formula, color=color, dash="dash")
    if not drawn:
        raise judge.Missing("no depth has finished on the feature side")
    return figure


def _layers(dataset: Data) -> Figure:
    """Rescaled changes of each layer in the lazy regime."""
    caption = (
        "How far each layer moves in lazy training, multiplied by what it should fall by: √h alpha "
        "for pre-activations, first and last weights, and another √h for the weights between "
        "hidden layers. That the marks of one column agree, for widths and scales far apart, is "
        "the claim. No layer stands still more than another."
    )
    x = "pre-activations z and weights W of each layer, L = 3"
    y = "√h alpha × rms change (inner W: × √h more)"
    figure = draw.axes(x, y, height=460, caption=caption)
    figure.update_yaxes(rangemode="tozero")
    for width, color, _ in draw.each(judge.need(dataset, "layer_change"), "width"):
        for scale, symbol, size in ((1e3, "circle", 9), (1e4, "circle-open", 14)):
            with suppress(judge.Missing):
                shares = layer_shares(dataset, 3, width, scale)
                heights = [each.mean() for each in shares.values()]
                name = f"h = {width}, √h alpha = {scale:g}"
                how: Any = {"color": color, "symbol": symbol, "hovertemplate": "%{x}: %{y:.3g}"}
                draw.points(figure, list(shares), heights, name, size=size, **how)
    if not figure.data:
        raise judge.Missing("no network of three hidden layers has fitted at √h alpha = 1e3 or 1e4")
    return figure


FIGURES = {
    "Change of the tangent kernel": _kernel,
    "Change of the weights": _weights,
    "Time to learn": _times,
    "Learning curves": _curves,
    "Exponents against depth": _exponents,
    "Layers in the lazy regime": _layers,
}
