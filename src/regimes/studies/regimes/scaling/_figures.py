"""Figures of the scaling study: kernel, weights and time against at, learning curves, exponents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.studies.regimes._slopes import Missing
from regimes.studies.regimes.scaling import _claims as measured

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

COLOURS = {1: "#8c564b", 2: "#1f77b4", 3: "#d62728", 5: "#2ca02c"}
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x")
GREY = {"dash": "dash", "color": "#777", "width": 1}
DOCUMENT = {"kernel_change": {2: 1.25, 5: 1.7}, "weight_change": {2: 0.35, 5: 0.23}}  # its Table 2


def all_figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
    """Every figure for which something is finished."""
    if "kernel_change" not in dataset:
        return {}
    made = {
        "Change of the tangent kernel": _kernel(dataset),
        "Change of the weights": _weights(dataset),
        "Time to learn": _times(dataset),
        "Learning curves": _curves(dataset),
        "Exponents against depth": _exponents(dataset),
        "Layers in the lazy regime": _layers(dataset),
    }
    return {title: figure for title, figure in made.items() if figure is not None}


def _lines(dataset: xr.Dataset, name: str) -> Iterator[tuple[int, int, Any, Any, Any]]:
    """Depth, width, at, geometric mean over fitted seeds and its spread as a factor."""
    for depth in (int(d) for d in dataset.depth.values):
        for width in (int(w) for w in dataset.width.values):
            part = dataset.sel(depth=depth, width=width).transpose("at", "seed", ...)
            good = (part.fitted.values == 1) & (part[name].values > 0)
            seen = good.any(1)
            if not seen.any():
                continue
            logs = np.ma.masked_array(np.log(np.where(good, part[name].values, 1.0)), ~good)[seen]
            count = good[seen].sum(1)
            spread = np.asarray(logs.std(1).filled(0.0)) / np.sqrt(np.maximum(count - 1, 1))
            mean = np.exp(np.asarray(logs.mean(1)))
            yield depth, width, part.at.values[seen], mean, mean * spread


def _panels(dataset: xr.Dataset, name: str, height: str, *, times_root: bool) -> go.Figure:
    """One quantity against alpha on the left, where widths differ, and at on the right."""
    from plotly.subplots import make_subplots

    figure = make_subplots(
        rows=1, cols=2, shared_yaxes=True, subplot_titles=("against alpha", "against √h alpha")
    )
    widths = [int(w) for w in dataset.width.values]
    for depth, width, at, mean, spread in _lines(dataset, name):
        factor = width**0.5 if times_root else 1.0
        for col, x in ((1, at / width**0.5), (2, at)):
            figure.add_scatter(
                x=x,
                y=factor * mean,
                error_y={"array": factor * spread, "thickness": 1},
                mode="lines+markers",
                name=f"L = {depth}, h = {width}",
                legendgroup=f"{depth}-{width}",
                showlegend=col == 2,
                line={"color": COLOURS.get(depth, "#555"), "width": 1.5},
                marker={"symbol": SYMBOLS[widths.index(width) % len(SYMBOLS)], "size": 7},
                hovertemplate="%{x:.2g}: %{y:.3g}",
                row=1,
                col=col,
            )
    figure.update_xaxes(type="log", exponentformat="power", title="alpha", row=1, col=1)
    figure.update_xaxes(type="log", exponentformat="power", title="√h alpha", row=1, col=2)
    figure.update_yaxes(type="log", exponentformat="power")
    figure.update_yaxes(title=height, row=1, col=1)
    return figure.update_layout(height=520)


def _guide(
    figure: go.Figure, x: tuple[float, float], anchor: float, slope: float, name: str, col: int = 2
) -> None:
    """A straight line of this slope through (x[0], anchor)."""
    figure.add_scatter(
        x=list(x),
        y=[anchor, anchor * (x[1] / x[0]) ** slope],
        mode="lines",
        line=GREY,
        name=name,
        row=1,
        col=col,
    )


def _anchor(dataset: xr.Dataset, name: str, at: float, depth: int) -> tuple[float, int] | None:
    """The value at the main width nearest to at."""
    try:
        main = measured.main_width(dataset)
    except Missing:
        return None
    for found, width, x, mean, _ in _lines(dataset, name):
        if (found, width) == (depth, main):
            nearest = int(np.argmin(np.abs(np.log(x / at))))
            return float(mean[nearest] * 1.0), width
    return None


def _kernel(dataset: xr.Dataset) -> go.Figure:
    figure = _panels(dataset, "kernel_change", "|Θ − Θ₀| / |Θ₀|", times_root=False)
    for depth in (int(d) for d in dataset.depth.values):
        exponent = 2 / (1 + 1 / depth)
        start = measured.window_of(depth, measured.KERNEL)[0]
        found = _anchor(dataset, "kernel_change", start, depth)
        if found and start in dataset.at.values:
            _guide(figure, (start, 1.0), 2 * found[0], -exponent, f"slope −{exponent:.2f}")
    lazy = _anchor(dataset, "kernel_change", 1e3, 3)
    if lazy and 1e3 in dataset.at.values:
        _guide(figure, (1e3, float(dataset.at.max())), 2 * lazy[0], -1.0, "slope −1")
    figure.add_hline(y=1.0, line={"dash": "dot", "color": "#999"})
    return figure.update_layout(
        meta={
            "caption": (
                "How much the tangent kernel of the network has changed when all training points "
                "are fitted, relative to the kernel at the start (pure numbers; geometric mean "
                "and standard error over seeds). Left, against the scale alpha of the output, "
                "networks of one depth and different width lie apart; right, against √h alpha, "
                "they fall on one curve. To the right of the crossover, where the dotted line "
                "marks a change of 100 %, the change falls as 1/(√h alpha): lazy training. To its "
                "left it grows towards small scales as a power 2/(1 + 1/L) set by the number L of "
                "hidden layers (dashed): feature learning."
            )
        }
    )


def _weights(dataset: xr.Dataset) -> go.Figure:
    figure = _panels(dataset, "weight_change", "√h |w − w₀| / |w₀|", times_root=True)
    for depth in (int(d) for d in dataset.depth.values):
        start = measured.window_of(depth, measured.WEIGHTS)[0]
        found = _anchor(dataset, "weight_change", start, depth)
        if found and start in dataset.at.values:
            height = 1.5 * found[0] * found[1] ** 0.5
            exponent = 1 / (depth + 1)
            _guide(figure, (start, 1.0), height, -exponent, f"slope −{exponent:.2f}")
    lazy = _anchor(dataset, "weight_change", 1e3, 3)
    if lazy and 1e3 in dataset.at.values:
        height = 1.5 * lazy[0] * lazy[1] ** 0.5
        _guide(figure, (1e3, float(dataset.at.max())), height, -1.0, "slope −1")
    return figure.update_layout(
        meta={
            "caption": (
                "How far all weights have moved at the end of training, relative to where they "
                "started and times √h. Right, against √h alpha, all widths agree. Lazy networks "
                "move by 1/(√h alpha). In the feature regime the output must grow by 1/(√h alpha) "
                "and each of the L + 1 layers takes an equal share, which gives the power 1/(L+1) "
                "(dashed): the deeper the network, the less each layer moves."
            )
        }
    )


def _times(dataset: xr.Dataset) -> go.Figure:
    rescaled = dataset.assign(time=dataset.t_half / dataset.at)
    figure = _panels(rescaled, "time", "t_half / (√h alpha)", times_root=False)
    found = _anchor(rescaled, "time", 1e2, 3)
    if found and 1e2 in dataset.at.values:
        _guide(figure, (1e2, float(dataset.at.max())), 2 * found[0], -1.0, "slope −1")
    return figure.update_layout(
        meta={
            "caption": (
                "The time at which the training loss has fallen to half, divided by √h alpha (flow "
                "time, in which the loss is divided by alpha²). Feature side: a plateau, so the "
                "time is proportional to √h alpha, except for one hidden layer, where the output "
                "grows exponentially and the time has a logarithm. Lazy side: the time does not "
                "depend on alpha, which appears here as the slope −1 (dashed)."
            )
        }
    )


def _curves(dataset: xr.Dataset) -> go.Figure | None:
    """alpha^2 times the objective in time, main width, first seed."""
    import plotly.colors
    from plotly.subplots import make_subplots

    try:
        main = measured.main_width(dataset)
    except Missing:
        return None
    depth = 3 if 3 in dataset.depth.values else int(dataset.depth.values[-1])
    part = dataset.sel(depth=depth, width=main)
    t_half = part.t_half.isel(seed=0)
    figure = make_subplots(
        rows=1, cols=2, shared_yaxes=True, subplot_titles=("time", "time over √h alpha")
    )
    shades = plotly.colors.sample_colorscale("Turbo", np.linspace(0.05, 0.95, part.sizes["at"]))
    for at, shade in zip(part.at.values, shades, strict=True):
        half, loss = float(t_half.sel(at=at)), part.loss_curve.sel(at=at).values
        if not np.isfinite(half):
            continue
        for col, unit in ((1, 1.0), (2, at)):
            figure.add_scatter(
                x=half * measured.MOMENTS / unit,
                y=loss,
                mode="lines",
                line_color=shade,
                name=f"√h alpha = {at:.0e}",
                legendgroup=f"{at}",
                showlegend=col == 2,
                row=1,
                col=col,
            )
    figure.update_xaxes(type="log", exponentformat="power", title="t", row=1, col=1)
    figure.update_xaxes(type="log", exponentformat="power", title="t / (√h alpha)", row=1, col=2)
    figure.update_yaxes(title="training loss α² L(t)", row=1, col=1)
    return figure.update_layout(
        height=480,
        meta={
            "caption": (
                f"Training loss in the course of time for L = {depth}, h = {main}, one network. "
                "Left: lazy networks (large √h alpha, red) follow one curve whatever alpha, over "
                "several decades of time. Right: feature networks (small √h alpha, blue) all "
                "drop at the same t/(√h alpha), and sharply: the output grows slowly first and "
                "then, within a factor of two in time, fits nearly everything."
            ),
        },
    )


def _exponents(dataset: xr.Dataset) -> go.Figure | None:
    """Exponents of kernel and weight change on the feature side, against depth."""
    import plotly.graph_objects as go

    figure = go.Figure()
    smooth = np.linspace(1, 6, 51)
    rows = (
        ("kernel_change", measured.KERNEL, "kernel", "#d62728", 2 / (1 + 1 / smooth), "2/(1+1/L)"),
        ("weight_change", measured.WEIGHTS, "weights", "#1f77b4", 1 / (smooth + 1), "1/(L+1)"),
    )
    drawn = False
    for name, window, title, colour, law, told in rows:
        found = {}
        for depth in measured.KERNEL_EXPONENTS:
            try:
                own = measured.window_of(depth, window)
                found[depth] = measured.exponent(dataset, name, depth, own)
            except Missing:
                continue
        drawn = drawn or bool(found)
        figure.add_scatter(
            x=list(found),
            y=[-value for value, _ in found.values()],
            error_y={"array": [error or 0.0 for _, error in found.values()]},
            mode="markers",
            marker={"color": colour, "size": 10},
            name=f"{title}, measured",
        )
        paper = DOCUMENT[name]
        figure.add_scatter(
            x=list(paper),
            y=list(paper.values()),
            mode="markers",
            marker={"color": colour, "size": 11, "symbol": "circle-open"},
            name=f"{title}, the document's Table 2",
        )
        figure.add_scatter(
            x=smooth, y=law, mode="lines", line={"color": colour, "dash": "dash"}, name=told
        )
    figure.update_xaxes(title="number of hidden layers L", dtick=1)
    figure.update_yaxes(title="exponent of 1/(√h alpha)", range=[0, 2.05])
    caption = (
        "The powers with which the tangent kernel (red) and the weights (blue) change as √h alpha "
        "goes to 0, fitted on the feature side of the scan. Dashed: what an equal sharing of the "
        "growth among the L + 1 layers predicts. Open circles: values of the document. The "
        "kernel's exponent grows with depth and stays below 2."
    )
    return figure.update_layout(height=480, meta={"caption": caption}) if drawn else None


def _layers(dataset: xr.Dataset) -> go.Figure | None:
    """Rescaled changes of each layer in the lazy regime."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for width in (int(w) for w in dataset.width.values):
        for at in (1e3, 1e4):
            try:
                shares = measured.layer_shares(dataset, 3, width, at)
            except Missing:
                continue
            figure.add_scatter(
                x=list(shares),
                y=[float(each.mean()) for each in shares.values()],
                mode="markers",
                marker={"size": 10, "symbol": "circle" if at < 5e3 else "circle-open"},
                name=f"h = {width}, √h alpha = {at:g}",
            )
    if not figure.data:
        return None
    figure.update_xaxes(title="pre-activations z and weights W of each layer, L = 3")
    figure.update_yaxes(title="√h alpha × rms change (inner W: × √h more)", rangemode="tozero")
    return figure.update_layout(
        height=460,
        meta={
            "caption": (
                "How far each layer moves in lazy training, multiplied by what it should fall by: "
                "√h alpha for pre-activations, first and last weights, and another √h for the "
                "weights between hidden layers. That the marks of one column agree, for widths "
                "and scales far apart, is the claim. No layer stands still more than another."
            )
        },
    )
