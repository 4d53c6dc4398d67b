"""Figures of jamming."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from regimes.studies.regimes._jamming_claims import n_star

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

COLORS = {"parity": "#1b9e77", "random": "#d95f02"}
NAMES = {"parity": "digits, odd or even", "random": "random labels"}


def needed(dataset: xr.Dataset) -> go.Figure:
    """N* against P."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for labels, color in COLORS.items():
        if "fitted" not in dataset or labels not in dataset.labels.values:
            continue
        p, stars, factor = n_star(dataset, labels)
        figure.add_scatter(
            x=p,
            y=stars,
            error_y={"array": stars * (factor - 1), "arrayminus": stars * (1 - 1 / factor)},
            mode="lines+markers",
            name=NAMES[labels],
            line={"color": color},
            hovertemplate="P %{x}<br>N* %{y:.0f}",
        )
        if len(p) > 1:
            slope = 1.0 if labels == "random" else 0.75
            figure.add_scatter(
                x=p,
                y=0.8 * stars[0] * (p / p[0]) ** slope,
                mode="lines",
                name=f"slope {slope:g} (document)",
                line={"color": color, "dash": "dot", "width": 1},
            )
    figure.update_xaxes(type="log", title="training points P", tickvals=dataset.n_train.values)
    figure.update_yaxes(type="log", title="parameters N* needed to fit", dtick="D2")
    caption = (
        "Number of parameters from which most networks fit P points; the bars reach from the last "
        "width that jams to the first that fits. Labels at random need parameters in proportion "
        "to the points, digits fewer, and less for each further point: what has been learned "
        "already fits most of it."
    )
    return figure.update_layout(meta={"caption": caption})


def unfitted(dataset: xr.Dataset) -> go.Figure:
    """N_Delta/N against N/N*."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for labels, color in COLORS.items():
        if "fitted" not in dataset or labels not in dataset.labels.values:
            continue
        for p, middle, _ in zip(*n_star(dataset, labels), strict=True):
            cut = dataset.sel(labels=labels, n_train=p)
            cut = cut.dropna("width", how="all", subset=["fitted"])
            weights = cut.parameters.values.astype(float)
            figure.add_scatter(
                x=np.repeat(weights / middle, cut.sizes["seed"]),
                y=(cut.unfitted.transpose("width", "seed").values / weights[:, None]).ravel(),
                mode="markers",
                name=f"{NAMES[labels]}, P = {int(p)}",
                marker={"color": color, "opacity": float(0.35 + 0.6 * (p == dataset.n_train[-1]))},
                hovertemplate="N/N* %{x:.2f}<br>N_Delta/N %{y:.2f}",
            )
    figure.add_vline(x=1, line={"color": "black", "dash": "dot", "width": 1})
    figure.update_xaxes(type="log", title="parameters over those needed, N/N*")
    figure.update_yaxes(title="unfitted points a parameter, N_Delta/N")
    caption = (
        "How many points are short of their margin, for each parameter, at the end of training; "
        "one dot a run. To the left of N* (dotted) many points are unfitted; the number jumps to "
        "zero from a finite value, below one a parameter, instead of fading."
    )
    return figure.update_layout(meta={"caption": caption})
