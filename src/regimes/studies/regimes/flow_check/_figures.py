"""Drawings of the checks of gradient flow: how far predictions move, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

LABELS = {
    "steps": ("eps / 100: steps ten times shorter", "#4c78d0"),
    "memory": ("memory τ = 10⁻³ min(at, 10³)", "#e08a3c"),
    "memory x 10": ("ten times longer memory", "#1b9e77"),
}
SCALE = "scale at = √h α (feature ← → lazy)"


def drawn(dataset: xr.Dataset) -> dict[str, go.Figure]:
    """Both figures."""
    return {
        "Fig. 13 top: do predictions depend on how the flow is integrated?": _differences(dataset),
        "Fig. 13 bottom: what it costs": _costs(dataset),
    }


def _points(dataset: xr.Dataset, check: str) -> tuple[np.ndarray, xr.Dataset]:
    """The scales at which a check has run, and its values there."""
    row = dataset.sel(check=check)
    done = np.flatnonzero(row.trial_state.values == 2)
    return dataset["at"].values[done], row.isel(at=done)


def _differences(dataset: xr.Dataset) -> go.Figure:
    import plotly.graph_objects as go

    figure = go.Figure()
    for check in dataset.check.values:
        scales, row = _points(dataset, str(check))
        if len(scales) == 0:
            continue
        label, color = LABELS[str(check)]
        values = row.difference.transpose("at", "seed").values
        figure.add_scatter(
            x=np.repeat(scales, values.shape[1]),
            y=values.ravel(),
            mode="markers",
            marker={"color": color, "size": 5, "opacity": 0.4},
            showlegend=False,
            hovertemplate="at %{x:.3g}<br>%{y:.2g}",
        )
        figure.add_scatter(
            x=scales, y=values.mean(1), mode="lines+markers", name=label, line={"color": color}
        )
    for level, text in ((3e-3, "3·10⁻³ (steps)"), (1e-2, "10⁻² (memory)")):
        _level(figure, level, text, side="right")
    figure.update_xaxes(type="log", title=SCALE, dtick=1, exponentformat="power")
    figure.update_yaxes(
        type="log", title="|F' − F| / |F| on test points (1)", dtick=1, exponentformat="power"
    )
    caption = (
        "The same networks trained twice: as everywhere in this theme, and with one thing changed. "
        "How far apart their predictions on unseen points end, relative to their size; small dots "
        "are seeds. Below the dotted lines the way in which the flow is integrated does not "
        "matter for any error that is measured."
    )
    return figure.update_layout(meta={"caption": caption})


def _costs(dataset: xr.Dataset) -> go.Figure:
    import plotly.graph_objects as go

    figure = go.Figure()
    for check in dataset.check.values:
        scales, row = _points(dataset, str(check))
        if len(scales) == 0:
            continue
        label, color = LABELS[str(check)]
        ratio = (row.altered_steps / row.steps).transpose("at", "seed").values
        clock = (row.altered_seconds / row.seconds).values
        figure.add_scatter(
            x=scales,
            y=ratio.mean(1),
            mode="lines+markers",
            name=f"{label}: steps",
            line={"color": color},
        )
        figure.add_scatter(
            x=scales,
            y=clock,
            mode="lines+markers",
            name=f"{label}: clock",
            line={"color": color, "dash": "dash", "width": 1},
        )
    for level, text in ((10.0, "10 = √100: first order"), (2.0, "2: the document")):
        _level(figure, level, text, side="left")
    figure.update_xaxes(type="log", title=SCALE, dtick=1, exponentformat="power")
    figure.update_yaxes(type="log", title="cost relative to the usual integration (1)")
    caption = (
        "Steps (solid) and wall time (dashed) of the changed integration over those of the usual "
        "one. The scheme is of first order, so a hundredth of the tolerance costs up to ten times "
        "the steps; the document's factor of two is possible only where something else limits the "
        "steps. A short memory costs next to nothing."
    )
    return figure.update_layout(meta={"caption": caption})


def _level(figure: go.Figure, level: float, text: str, *, side: str) -> None:
    """A dotted line at a level of a logarithmic axis, named at one side."""
    figure.add_hline(level, line={"dash": "dot", "color": "#888", "width": 1})
    figure.add_annotation(
        x=1 if side == "right" else 0,
        xref="paper",
        y=np.log10(level),
        text=text,
        showarrow=False,
        xanchor=side,
        yanchor="bottom",
    )
