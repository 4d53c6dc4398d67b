"""Figures of fluctuations: errors and variances against width, scale and training points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.studies.regimes._cases import along, scan_of
from regimes.studies.regimes.fluctuations._claims import curve

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

COLORS = ("#d95f02", "#7570b3", "#1b9e77", "#e6ab02", "#4c78d0", "#a6761d")
LOG = {"type": "log", "exponentformat": "power"}


def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
    """Those whose scans have a finished case."""
    made: dict[str, go.Figure] = {}
    if _there(dataset, "widths"):
        made["Test error against width"] = _errors(dataset)
    for scan in ("variance", "widths"):
        if _there(dataset, scan) and "Fluctuation of the output against width" not in made:
            made["Fluctuation of the output against width"] = _variances(dataset, scan)
    if _there(dataset, "scales"):
        made["Errors and fluctuation against the scale"] = _scales(dataset)
    if _there(dataset, "sizes"):
        made["Fluctuation and training points"] = _sizes(dataset)
    if _there(dataset, "small"):
        made["Very small scales"] = _small(dataset)
    return made


def _there(dataset: xr.Dataset, scan: str) -> bool:
    return bool(scan_of(dataset, scan).sizes["case"]) and dataset.sizes["seed"] > 2


def _groups(table: xr.Dataset, by: str, order: str) -> list[tuple[float, str, xr.Dataset]]:
    """(value of `by`, colour, rows in the order of `order`)."""
    values = np.unique(table[by].values)
    return [
        (value, COLORS[i % len(COLORS)], along(table.isel(case=table[by].values == value), order))
        for i, value in enumerate(values)
    ]


def _line(
    figure: go.Figure,
    x: np.ndarray,
    y: np.ndarray,
    error: np.ndarray | None,
    name: str,
    color: str,
    dash: str = "solid",
    **options: Any,
) -> None:
    figure.add_scatter(
        x=x,
        y=y,
        error_y=None if error is None else {"array": error, "thickness": 1, "width": 3},
        mode="lines+markers",
        name=name,
        line={"color": color, "dash": dash},
        hovertemplate="%{x:.3g}<br>%{y:.4g}",
        **options,
    )


def _guide(
    figure: go.Figure, x: np.ndarray, end: float, exponent: float, name: str, **options: Any
) -> None:
    """A grey line `end (x/x_last)^exponent`."""
    ends = np.array([x[0], x[-1]], dtype=float)
    figure.add_scatter(
        x=ends,
        y=end * (ends / ends[-1]) ** exponent,
        mode="lines",
        name=name,
        line={"color": "gray", "dash": "dash", "width": 1.2},
        hoverinfo="skip",
        **options,
    )


def _ticks(figure: go.Figure, values: np.ndarray, title: str) -> None:
    shown = np.unique(values)
    figure.update_xaxes(
        type="log", title=title, tickvals=shown, ticktext=[f"{v:g}" for v in shown], tickangle=0
    )


def _errors(dataset: xr.Dataset) -> go.Figure:
    import plotly.graph_objects as go

    figure, table = go.Figure(), scan_of(dataset, "widths")
    for at, color, rows in _groups(table, "at", "h"):
        for name, label, dash in (
            ("error", "one network", "solid"),
            ("ensemble_error", "ensemble", "dash"),
        ):
            value, doubt = curve(rows, name)
            legend = f"{label}, √h α = {at:g}"
            _line(figure, rows["h"].values, 100 * value, 100 * doubt, legend, color, dash)
    _ticks(figure, table["h"].values, "width h (neurons a layer)")
    figure.update_yaxes(title="test error (%)")
    return figure.update_layout(
        meta={
            "caption": (
                "Each point is an ensemble of networks that differ in their initial weights alone. "
                "Solid: the mean test error of one network; dashed: the error of the averaged "
                "output of all of them; colours are scales √h α, small ones learn features, large "
                "ones are lazy. A wider network errs less, but the ensemble's error hardly depends "
                "on the width: what width gains is the loss of fluctuations, which averaging "
                f"removes as well. Bars: standard errors, {dataset.sizes['seed']} networks a point."
            )
        }
    )


def _variances(dataset: xr.Dataset, scan: str) -> go.Figure:
    import plotly.graph_objects as go

    figure, table = go.Figure(), scan_of(dataset, scan)
    for at, color, rows in _groups(table, "at", "h"):
        value, doubt = curve(rows, "variance")
        _line(figure, rows["h"].values, value, doubt, f"√h α = {at:g}", color)
        if rows.sizes["case"] > 1:
            _guide(
                figure,
                rows["h"].values,
                0.85 * value[-1],
                -1.0,
                "slope -1",
                showlegend=bool(at == table["at"].values.min()),
            )
    _ticks(figure, table["h"].values, "width h (neurons a layer)")
    figure.update_yaxes(title="variance of the output F over seeds", **LOG)
    return figure.update_layout(
        meta={
            "caption": (
                "How much the outputs of trained networks differ on a test point, when only their "
                "initial weights differ (variance over seeds, mean over test points; the margin "
                "that training asks for is 1). It falls as 1/h (dashed grey) in the lazy regime "
                "and in the feature regime alike: a network is a sum over h neurons that were "
                "drawn independently."
            )
        }
    )


def _scales(dataset: xr.Dataset) -> go.Figure:
    from plotly.subplots import make_subplots

    table = scan_of(dataset, "scales")
    figure = make_subplots(
        rows=2,
        cols=2,
        subplot_titles=(
            "test error against α",
            "test error mapped to [0, 1], against √h α",
            "one network (solid) and ensemble (dashed)",
            "h × variance of the output",
        ),
        horizontal_spacing=0.1,
        vertical_spacing=0.18,
    )
    for h, color, rows in _groups(table, "h", "at"):
        at = rows["at"].values
        error, doubt = curve(rows, "error")
        ensemble, ensemble_doubt = curve(rows, "ensemble_error")
        variance, variance_doubt = curve(rows, "variance")
        legend: dict[str, Any] = {"legendgroup": f"{h}", "showlegend": False}
        first: dict[str, Any] = {"row": 1, "col": 1, "legendgroup": f"{h}"}
        _line(figure, at / h**0.5, 100 * error, 100 * doubt, f"h = {h:g}", color, **first)
        if np.ptp(error) > 0:
            scaled, factor = (error - error.min()) / np.ptp(error), 1 / np.ptp(error)
            _line(figure, at, scaled, factor * doubt, "", color, row=1, col=2, **legend)
        _line(figure, at, 100 * error, 100 * doubt, "", color, row=2, col=1, **legend)
        errors = 100 * ensemble_doubt
        _line(figure, at, 100 * ensemble, errors, "", color, "dash", row=2, col=1, **legend)
        _line(figure, at, h * variance, h * variance_doubt, "", color, row=2, col=2, **legend)
    figure.add_hline(0.5, line={"dash": "dot", "color": "gray"}, row=1, col=2)
    figure.update_xaxes(**LOG, title="√h α", dtick=1)
    figure.update_xaxes(title="α", row=1, col=1)
    figure.update_yaxes(title="%", col=1)
    figure.update_yaxes(title="rescaled error", row=1, col=2)
    figure.update_yaxes(title="h var F", **LOG, row=2, col=2)
    return figure.update_layout(
        height=720,
        meta={
            "caption": (
                "From feature learning (left) to lazy training (right). Against the output scale α "
                "the curves of different widths are shifted; with the error of each width mapped "
                "to [0, 1] and drawn against √h α they change at the same place, of order one: the "
                "border between the regimes is at α ~ 1/√h. Ensembles (dashed) take the effect of "
                "fluctuations away, so that what is left is the effect of the regime itself. "
                "Lower right: h times the variance is of one size for all widths, in both regimes."
            )
        },
    )


def _sizes(dataset: xr.Dataset) -> go.Figure:
    import plotly.graph_objects as go

    figure, table = go.Figure(), scan_of(dataset, "sizes")
    for n, color, rows in _groups(table, "P", "h"):
        value, doubt = curve(rows, "variance")
        factor = 1 / n**0.5
        _line(figure, rows["h"].values, factor * value, factor * doubt, f"n = {n:g}", color)
    widest = scan_of(dataset, "sizes", h=int(table["h"].values.max()))
    end = float(np.median(widest.variance.values / widest["P"].values ** 0.5))
    hs = np.unique(table["h"].values)
    if len(hs) > 1:
        _guide(figure, hs, 0.8 * end, -1.0, "slope -1")
        _guide(figure, hs, 1.25 * end, -0.5, "slope -1/2")
    _ticks(figure, table["h"].values, "width h (neurons a layer)")
    figure.update_yaxes(title="variance of the output / √n", **LOG)
    at = float(table["at"].values.max())
    return figure.update_layout(
        meta={
            "caption": (
                f"Lazy networks (√h α = {at:g}) trained on n points: the variance of their outputs "
                "over seeds, divided by √n. The curves lie near one another, so the variance grows "
                "about as √n. At large widths it falls as 1/h; the document, with thousands of "
                "training points, sees slower laws first, the later 1/h the more points there are. "
                "Grey: slopes -1 and -1/2."
            )
        }
    )


def _small(dataset: xr.Dataset) -> go.Figure:
    from plotly.subplots import make_subplots

    rows = along(scan_of(dataset, "small"), "at")
    at = rows["at"].values
    figure = make_subplots(cols=3, subplot_titles=("variance", "test error", "runs that fitted"))
    value, doubt = curve(rows, "variance")
    _line(figure, at, value, doubt, "", COLORS[0], row=1, col=1)
    value, doubt = curve(rows, "error")
    _line(figure, at, 100 * value, 100 * doubt, "", COLORS[1], row=1, col=2)
    fitted = 100 * rows.fitted.mean("seed").values
    _line(figure, at, fitted, None, "", COLORS[2], row=1, col=3)
    figure.update_xaxes(**LOG, title="√h α", dtick=1)
    figure.update_yaxes(title="variance of F", **LOG, row=1, col=1)
    figure.update_yaxes(title="%", row=1, col=2)
    figure.update_yaxes(title="%", range=[-5, 105], row=1, col=3)
    return figure.update_layout(
        showlegend=False,
        meta={
            "caption": (
                "The far end of feature learning. Below √h α = 10⁻⁴ the weights must grow so far "
                "before the output is of order one that a few directions run away with it: the "
                "networks of different seeds end up in different places and many do not fit within "
                "the steps allowed (right). Bars: standard errors over seeds."
            )
        },
    )
