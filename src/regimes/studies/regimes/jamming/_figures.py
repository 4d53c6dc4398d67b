"""Figures of jamming."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from regimes.studies.regimes.jamming import _claims as claims

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

COLORS = {"parity": "#1b9e77", "random": "#d95f02"}
NAMES = {"parity": "digits, odd or even", "random": "random labels"}
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross")


def needed(dataset: xr.Dataset) -> go.Figure:
    """N* against P."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for labels, color in _kinds(dataset):
        stars = claims.n_star(dataset, labels)
        p, middle = stars.p, stars.middle
        figure.add_scatter(
            x=p,
            y=middle,
            error_y={"array": stars.high - middle, "arrayminus": middle - stars.low},
            mode="lines+markers",
            name=NAMES[labels],
            line={"color": color},
            hovertemplate="P %{x}<br>N* %{y:.0f}",
        )
        if len(p) > 1:
            slope = 1.0 if labels == "random" else 0.75
            figure.add_scatter(
                x=p,
                y=0.75 * middle[0] * (p / p[0]) ** slope,
                mode="lines",
                name=f"slope {slope:g} (document)",
                line={"color": color, "dash": "dot", "width": 1},
            )
    figure.update_xaxes(
        type="log", title="training points P (number of points)", tickvals=dataset.n_train.values
    )
    figure.update_yaxes(
        type="log", title="parameters needed to fit, N* (number of weights)", dtick="D2"
    )
    caption = (
        "Number of weights from which most networks fit P points; the bars reach from the last "
        "width at which half of the runs end with more than N/10 points unfitted to the next. "
        "Labels at random need parameters in proportion to the points, digits fewer, and less for "
        "each further point: what has been learned already fits most of it."
    )
    return figure.update_layout(meta={"caption": caption})


def unfitted(dataset: xr.Dataset) -> go.Figure:
    """N_Delta/N against N/N*."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for labels, color in _kinds(dataset):
        stars = claims.n_star(dataset, labels)
        for p, middle in zip(stars.p, stars.middle, strict=True):
            scan = claims.cut(dataset, labels, p)
            weights = scan.parameters.values.astype(float)
            dead = scan.dead.transpose("width", "seed").values.ravel() == 1
            k = int(np.flatnonzero(dataset.n_train.values == p)[0])
            figure.add_scatter(
                x=np.repeat(weights / middle, scan.sizes["seed"]),
                y=scan.share.transpose("width", "seed").values.ravel(),
                mode="markers",
                name=f"{NAMES[labels]}, P = {int(p)}",
                marker={
                    "color": color,
                    "symbol": [SYMBOLS[k % len(SYMBOLS)] + ("-open" if d else "") for d in dead],
                    "opacity": 0.7,
                },
                hovertemplate="N/N* %{x:.2f}<br>N_Delta/N %{y:.2f}",
            )
    figure.add_vline(x=1, line={"color": "black", "dash": "dot", "width": 1})
    figure.add_hline(y=1, line={"color": "grey", "width": 1})
    figure.update_xaxes(type="log", title="parameters over those needed, N/N* (no unit)")
    figure.update_yaxes(
        title="unfitted points a parameter, N_Delta/N (no unit)", rangemode="tozero"
    )
    caption = (
        "How many points are short of their margin, for each weight, at the end of training; one "
        "mark a run, open where the run is dead (no gradient reaches its unfitted points). To the "
        "left of N* (dotted) many points are unfitted; at N* the number falls to zero from a "
        "finite value instead of fading, and below one a parameter (grey): fewer constraints than "
        "parameters hold a jammed network."
    )
    return figure.update_layout(meta={"caption": caption})


def norms(dataset: xr.Dataset) -> go.Figure:
    """|f| against N - N*."""
    import plotly.graph_objects as go

    figure = go.Figure()
    found = claims.norms(dataset)
    if found is not None:
        past = found.weights > found.star
        x, y = found.weights[past] - found.star, np.sqrt(found.square[past])
        up = y * (np.exp(found.error[past] / 2) - 1)
        figure.add_scatter(
            x=x,
            y=y,
            error_y={"array": up, "arrayminus": y * (1 - np.exp(-found.error[past] / 2))},
            mode="lines+markers",
            name=f"digits, P = {found.p:.0f}, N* = {found.star:.0f}",
            line={"color": COLORS["parity"]},
            customdata=found.weights[past],
            hovertemplate="N %{customdata}<br>N - N* %{x:.0f}<br>|f| %{y:.3g}",
        )
        inside = found.window(found.star)[past]
        if inside.any():
            line = x[inside]
            level = float(np.exp(np.mean(np.log(y[inside] * line))))
            figure.add_scatter(
                x=line,
                y=level / line,
                mode="lines",
                name="slope -1 (document), where 0.1 < N/N* - 1 < 3",
                line={"color": "black", "dash": "dot", "width": 1},
            )
    figure.update_xaxes(type="log", title="parameters beyond those needed, N - N* (weights)")
    figure.update_yaxes(
        type="log", title="size of the output, |f| (units of the margin)", dtick="D2"
    )
    caption = (
        "Root mean square of the output on test points after training, medians over seeds, against "
        "the number of weights beyond the N* at which half of the runs fit. Networks that can only "
        "just fit do so with outputs far above the margin of 1 that is asked of them; the document "
        "expects |f| to diverge as 1/(N - N*) (dotted). Where exactly N* lies matters much for the "
        "leftmost points."
    )
    return figure.update_layout(meta={"caption": caption})


def _kinds(dataset: xr.Dataset) -> list[tuple[str, str]]:
    """The labels that ran and their colours."""
    if "unfitted" not in dataset or "fast" not in dataset.trainer.values:
        return []
    return [(name, color) for name, color in COLORS.items() if name in dataset.labels.values]
