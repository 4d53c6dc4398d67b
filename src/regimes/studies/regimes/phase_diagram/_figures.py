"""Figures of the phase diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.studies.regimes.phase_diagram import _lines as lines

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

LEVELS = {0.01: "dot", 0.1: "dash", 1.0: "solid", 10.0: "dash", 100.0: "dot"}


def diagram(dataset: xr.Dataset) -> go.Figure:
    """Ensemble error in the plane with the crossover and the jamming line."""
    import plotly.graph_objects as go

    done = lines.finished(dataset)
    figure = go.Figure()
    if not done.sizes["width"]:
        return figure.update_layout(meta={"caption": "No width has run at every scale yet."})
    error = lines.shown(done, "ensemble_error").transpose("at", "width").values
    _heatmap(figure, done, 100 * error, "Viridis_r", "ensemble<br>error (%)")
    for level, dash in LEVELS.items():
        _line(figure, lines.crossover(done, level), level, dash)
    _jamming(figure, done)
    _names(figure, done)
    _axes(figure, done)
    caption = (
        "Each cell is one width h and one scale sqrt(h) alpha; its colour is the test error of the "
        "mean prediction of all seeds, and the pointer shows all numbers of the cell. Left of the "
        "magenta line networks are jammed: too narrow, none fits all of its points within its "
        "steps; grey where more than 5 % of the points stay unfitted. The black line is where the "
        "tangent kernel changes by its own norm during training; above it training is lazy (the "
        "kernel stays), below it features are learned (the kernel is replaced). It is level: the "
        "crossover sits at one value of sqrt(h) alpha whatever the width. Dashed and dotted: "
        "changes by other factors. Bars: spread over resampled seeds; for the jamming line the two "
        "widths between which it lies. Towards both ends of the scale flows are slow, which moves "
        "that line to the right, and off the picture where no width fits in time; longer runs "
        "move it back."
    )
    return figure.update_layout(meta={"caption": caption})


def kernel_map(dataset: xr.Dataset) -> go.Figure:
    """Kernel change against scale, one curve a width."""
    import plotly.graph_objects as go

    done = lines.finished(dataset)
    figure = go.Figure()
    if done.sizes["width"]:
        change = done.kernel_change.where(done.fitted > 0)
        mean = np.exp(np.log(change).mean("seed"))
        colors = _shades(done.sizes["width"])
        for color, width in zip(colors, done.width.values, strict=True):
            figure.add_scatter(
                x=done.at.values,
                y=mean.sel(width=width).values,
                mode="lines+markers",
                name=f"h = {width}",
                line={"color": color},
                hovertemplate="sqrt(h) alpha %{x:.3g}<br>change %{y:.3g}",
            )
        figure.add_hline(y=1, line={"color": "black", "width": 1})
    figure.update_xaxes(type="log", title="scale sqrt(h) alpha", dtick=1, exponentformat="power")
    figure.update_yaxes(
        type="log", title="relative change of the kernel", dtick=2, exponentformat="power"
    )
    caption = (
        "How much training changes the tangent kernel, |Theta - Theta_0|/|Theta_0|, geometric mean "
        "over the seeds that fitted. Plotted against sqrt(h) alpha all widths fall on one curve: "
        "slope about -4/3 where features are learned, -1 in the lazy regime. The black line is the "
        "crossover."
    )
    return figure.update_layout(meta={"caption": caption})


def cuts(dataset: xr.Dataset) -> go.Figure:
    """Errors against width at three scales (PD Fig. 5)."""
    import plotly.graph_objects as go

    done = lines.finished(dataset)
    figure = go.Figure()
    at = done.at.values
    chosen = sorted({0, len(at) // 2, len(at) - 1}) if done.sizes["width"] else []
    colors = ("#d95f02", "#7570b3", "#1b9e77")
    for color, k in zip(colors, chosen, strict=False):
        for name, dash, label in (
            ("error", "dash", "single"),
            ("ensemble_error", "solid", "ensemble"),
        ):
            values = done[name].isel(at=k)
            values = values.mean("seed") if "seed" in values.dims else values
            figure.add_scatter(
                x=done.width.values,
                y=100 * values.values,
                mode="lines+markers",
                name=f"{label}, sqrt(h) alpha = {at[k]:g}",
                line={"color": color, "dash": dash},
                hovertemplate="h %{x}<br>error %{y:.2f} %",
            )
    figure.update_xaxes(type="log", title="width h (neurons)", tickvals=done.width.values)
    figure.update_yaxes(title="test error (%)")
    caption = (
        "Test error against width at three scales: of single networks (dashed, mean over seeds) "
        "and of their mean prediction (solid). Ensembles of narrow networks past jamming are "
        "already as good as wide ones; single networks improve with width as their fluctuations "
        "fade."
    )
    return figure.update_layout(meta={"caption": caption})


def _edges(values: np.ndarray) -> np.ndarray:
    """Borders of cells on a logarithmic axis."""
    u = np.log(np.asarray(values, dtype=float))
    if len(u) == 1:
        return np.exp([u[0] - 0.5, u[0] + 0.5])
    inner = (u[1:] + u[:-1]) / 2
    return np.exp([u[0] - (inner[0] - u[0]), *inner, u[-1] + (u[-1] - inner[-1])])


def _heatmap(figure: go.Figure, data: xr.Dataset, z: np.ndarray, scale: str, title: str) -> None:
    jammed = np.where(np.isfinite(z), np.nan, 1.0)
    x, y = _edges(data.width.values), _edges(data.at.values)
    hover: dict[str, Any] = {
        "customdata": _numbers(data),
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    figure.add_heatmap(
        x=x, y=y, z=jammed, colorscale=[[0, "#bdbdbd"], [1, "#bdbdbd"]], showscale=False, **hover
    )
    figure.add_heatmap(x=x, y=y, z=z, colorscale=scale, colorbar={"title": title}, **hover)


def _numbers(data: xr.Dataset) -> np.ndarray:
    """What the pointer tells of every cell, (at, width)."""
    from regimes.measure import regime

    order = ("at", "width", "seed")
    change, fitted = (data[name].transpose(*order).values for name in ("kernel_change", "fitted"))
    error = data.error.transpose(*order).values
    ensemble = data.ensemble_error.transpose("at", "width").values
    unfitted = data.unfitted.transpose(*order).mean("seed").values
    texts = np.empty(ensemble.shape, dtype=object)
    for i, at in enumerate(data.at.values):
        for j, width in enumerate(data.width.values):
            found = regime(change[i, j], fitted[i, j])
            place = (
                f"{found.phase.value}"
                if found.phase == "jammed"
                else f"{found.phase.value}, {found.distance:+.2f} ± {found.error:.2f} decades from "
                "the crossover"
            )
            texts[i, j] = (
                f"<b>h = {width}, sqrt(h) alpha = {at:g}</b><br>{place}"
                f"<br>confidence {found.confidence:.2f}"
                f"<br>ensemble error {100 * ensemble[i, j]:.2f} %"
                f"<br>single error {100 * error[i, j].mean():.2f} ± "
                f"{100 * error[i, j].std(ddof=min(1, error.shape[2] - 1)):.2f} %"
                f"<br>kernel change {np.exp(np.log(change[i, j]).mean()):.3g}"
                f"<br>{100 * found.fitted:.0f} % of runs fit, {unfitted[i, j]:.1f} points short"
            )
    return texts


def _line(figure: go.Figure, line: Any, level: float, dash: str) -> None:
    met = np.isfinite(line.y)
    if not met.any():
        return
    figure.add_scatter(
        x=line.x[met],
        y=line.y[met],
        error_y={"array": np.nan_to_num(line.error[met]), "thickness": 1.5, "width": 3},
        mode="lines+markers",
        marker={"size": 5},
        line={"color": "black", "dash": dash, "width": 3 if level == 1 else 1.2},
        name=f"kernel changes by {level:g}",
        hovertemplate="h %{x}<br>sqrt(h) alpha %{y:.3g}",
    )


def _jamming(figure: go.Figure, data: xr.Dataset) -> None:
    line = lines.jamming(data)
    seen = np.isfinite(line.width)
    if not seen.any():
        return
    figure.add_scatter(
        x=line.width[seen],
        y=line.y[seen],
        error_x={
            "array": (line.fits - line.width)[seen],
            "arrayminus": (line.width - line.jammed)[seen],
            "thickness": 1.5,
            "width": 3,
        },
        mode="lines+markers",
        line={"color": "#c51b7d", "width": 3},
        name="jamming line",
        hovertemplate="sqrt(h) alpha %{y:.3g}<br>jams at h %{x:.3g}",
    )


def _names(figure: go.Figure, data: xr.Dataset) -> None:
    """The phases' names, where they are."""
    x = np.log10(_edges(data.width.values))
    y = np.log10(_edges(data.at.values))
    right = x[0] + 0.78 * (x[-1] - x[0])
    places = [("LAZY", right, y[-1] - 0.12 * (y[-1] - y[0]))]
    fits = (data.fitted > 0).any(["seed", "width"]).values
    lowest = np.log10(data.at.values[fits].min()) if fits.any() else y[0]
    crossed = lines.crossover(data).y
    crossed = crossed[np.isfinite(crossed)]
    highest = np.log10(np.median(crossed)) if len(crossed) else (y[0] + y[-1]) / 2
    places.append(("FEATURE LEARNING", right, lowest + 0.35 * (highest - lowest)))
    line = lines.jamming(data)
    if np.isfinite(line.width).any():
        middle = (x[0] + np.log10(np.nanmin(line.width))) / 2  # left of the line at every scale
        places.append(("JAMMED", middle, (y[0] + y[-1]) / 2))
    for text, at_x, at_y in places:
        figure.add_annotation(
            x=at_x,
            y=at_y,
            text=f"<b>{text}</b>",
            showarrow=False,
            font={"size": 15, "color": "black"},
            bgcolor="rgba(255,255,255,.7)",
            textangle=-90 if text == "JAMMED" else 0,
        )


def _axes(figure: go.Figure, data: xr.Dataset) -> None:
    x, y = np.log10(_edges(data.width.values)), np.log10(_edges(data.at.values))
    figure.update_xaxes(
        type="log",
        title="width h (neurons a layer)",
        tickvals=data.width.values,
        range=[x[0], x[-1]],
    )
    figure.update_yaxes(
        type="log",
        title="scale sqrt(h) alpha",
        dtick=1,
        exponentformat="power",
        range=[y[0], y[-1]],
    )
    figure.update_layout(legend={"orientation": "h", "y": -0.2}, height=620)


def _shades(count: int) -> list[str]:
    """Colours from light to dark blue."""
    share = np.linspace(0.25, 1.0, count)
    return [f"rgb({int(200 - 190 * s)},{int(210 - 150 * s)},{int(240 - 100 * s)})" for s in share]
