"""Drawings of the variants: data sets and trainers, one change at a time, and the offset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.studies.regimes.variants._claims import finished

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

COLORS = {"plain": "#4c78d0", "deep": "#e08a3c", "soft": "#1b9e77", "biases": "#b04c9c"}
NAMES = {
    "plain": "plain",
    "soft": "soft hinge 10, memory t/1000",
    "biases": "with biases",
}
SCALE = "scale at = √h α (feature ← → lazy)"
PERCENT = "test error (%)"


def drawn(dataset: xr.Dataset) -> dict[str, go.Figure]:
    """The figures whose variants have run."""
    done = finished(dataset)
    sets = [name for name in done if ":" in name]
    changed = [name for name in done if name in COLORS]
    offsets = [name for name in done if name in ("f", "f-f0")]
    made: dict[str, go.Figure] = {}
    if sets:
        made["Fig. 6, 7: data sets and trainers"] = _sets(dataset, sets)
    if changed:
        made["Fig. 7, 16: depth, loss and memory, biases"] = _changes(dataset, changed)
    if offsets:
        made["Fig. 15: the predictor with and without f₀"] = _offset(dataset, offsets)
    return made


def curves(row: xr.Dataset, coordinate: str = "at") -> dict[str, np.ndarray]:
    """Scales with their mean and ensemble errors in percent, variances, and error bars."""
    from regimes.measure import jackknife_error

    kept = (row.kept == 1).transpose("scale", "seed").values
    error = np.where(kept, row.error.transpose("scale", "seed").values, np.nan)
    without = row.ensemble_error_without.transpose("scale", "seed").values
    spread = row.variance_without.transpose("scale", "seed").values
    found: dict[str, list[float]] = {name: [] for name in ("x", "error", "bar", "together")}
    found |= {name: [] for name in ("together_bar", "variance", "variance_bar")}
    for i in np.flatnonzero(np.isfinite(row.ensemble_error.values)):
        own = error[i][kept[i]]
        numbers = {
            "x": float(row[coordinate][i]),
            "error": 100 * own.mean(),
            "bar": 100 * own.std(ddof=1) / len(own) ** 0.5,
            "together": 100 * float(row.ensemble_error[i]),
            "together_bar": 100 * jackknife_error(without[i][kept[i]]),
            "variance": float(row.variance[i]),
            "variance_bar": jackknife_error(spread[i][kept[i]]),
        }
        for name, value in numbers.items():
            found[name].append(value)
    return {name: np.array(values) for name, values in found.items()}


def add_errors(
    figure: go.Figure, found: dict[str, np.ndarray], name: str, color: str, **place: Any
) -> None:
    """Mean error of a network dashed, of the ensemble solid."""
    alone = {"dash": "dash", "color": color, "width": 1.5}
    for key, bar, line, label in (
        ("error", "bar", alone, "one network (mean)"),
        ("together", "together_bar", {"color": color}, "ensemble"),
    ):
        figure.add_scatter(
            x=found["x"],
            y=found[key],
            error_y={"array": found[bar], "thickness": 1},
            mode="lines+markers",
            line=line,
            name=f"{name}{label}",
            legendgroup=f"{name}{label}",
            hovertemplate="scale %{x:.3g}<br>%{y:.2f} %",
            **place,
        )


def _sets(dataset: xr.Dataset, names: list[str]) -> go.Figure:
    from plotly.subplots import make_subplots

    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=[_title(dataset, name) for name in names],
        horizontal_spacing=0.07,
        vertical_spacing=0.36 / rows,
    )
    for number, name in enumerate(names):
        place = {"row": number // columns + 1, "col": number % columns + 1}
        found = curves(dataset.sel(variant=name))
        add_errors(figure, found, "", "#4c78d0", showlegend=number == 0, **place)
        figure.update_xaxes(type="log", dtick=1, exponentformat="power", title="at = √h α", **place)
    for row in range(1, rows + 1):
        figure.update_yaxes(title=PERCENT, row=row, col=1)
    caption = (
        "Error on unseen images against the scale at = √h α of the output, from feature learning "
        "(left of 1) to lazy training (right), for fully connected networks on several sets of "
        "images, classes grouped into even and odd. Dashed: a single network; solid: the sign of "
        "the mean over seeds. Averaging seeds gains most on the lazy side, where on most sets it "
        "makes the lowest error of all; with few images of clothes and of photographs an "
        "intermediate or small scale stays level or ahead. Bars are one standard error. EMNIST is "
        "not at hand and was not run."
    )
    return figure.update_layout(
        height=110 + 270 * rows,
        margin={"t": 90},
        legend={"y": 1.0, "yref": "container", "yanchor": "top"},
        meta={"caption": caption},
    )


def _title(dataset: xr.Dataset, name: str) -> str:
    trainer, _, images = name.partition(":")
    label = "10 components" if images == "pca" else images.replace("_", "-").replace("10", "-10")
    at = dataset.sel(variant=name)
    return f"{label}, {'Adam' if trainer == 'adam' else 'flow'}, P={int(at.p)}, d={int(at.d)}"


def _changes(dataset: xr.Dataset, names: list[str]) -> go.Figure:
    from plotly.subplots import make_subplots

    figure = make_subplots(cols=2, horizontal_spacing=0.1, subplot_titles=["errors", "variance"])
    for name in names:
        row = dataset.sel(variant=name)
        found = curves(row)
        label = NAMES.get(name, f"depth {int(row.depth)}")
        if name == "plain":
            label = f"plain, depth {int(row.depth)}"
        add_errors(figure, found, f"{label}: ", COLORS[name], row=1, col=1)
        figure.add_scatter(
            x=found["x"],
            y=float(row.width) * found["variance"],
            error_y={"array": float(row.width) * found["variance_bar"], "thickness": 1},
            mode="lines+markers",
            line={"color": COLORS[name]},
            showlegend=False,
            name=label,
            hovertemplate="at %{x:.3g}<br>h var %{y:.3g}",
            row=1,
            col=2,
        )
    figure.update_xaxes(type="log", title=SCALE, dtick=1, exponentformat="power")
    figure.update_yaxes(title=PERCENT, row=1, col=1)
    figure.update_yaxes(title="h × variance of F over seeds (1)", type="log", row=1, col=2)
    caption = (
        "One thing changed at a time. Left: error of a single network (dashed) and of the mean "
        "over seeds (solid); right: how much networks of different seeds disagree, times the "
        "width. A softer loss trained with memory and biases leave both as they were; depth makes "
        "networks disagree more. Bars are one standard error (jackknife over seeds)."
    )
    return figure.update_layout(
        height=500, legend={"orientation": "h", "y": -0.25}, meta={"caption": caption}
    )


def _offset(dataset: xr.Dataset, names: list[str]) -> go.Figure:
    import plotly.graph_objects as go

    figure = go.Figure()
    for name in names:
        found = curves(dataset.sel(variant=name), "alpha")
        label, color = ("α f", "#e08a3c") if name == "f" else ("α (f − f₀)", "#4c78d0")
        add_errors(figure, found, f"{label}: ", color)
    figure.update_xaxes(type="log", title="scale α (1)", dtick=1, exponentformat="power")
    figure.update_yaxes(title=PERCENT)
    caption = (
        "The network's function f times α is trained as it is, or after subtracting its value f₀ "
        "at the start. For small α the start is forgotten and the two agree. For large α the "
        "weights hardly move, α f₀ is large noise that stays in the prediction away from the "
        "training points, and the error of a single network (dashed) rises."
    )
    return figure.update_layout(meta={"caption": caption})
