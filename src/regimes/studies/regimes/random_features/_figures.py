"""Figures of the random features: error, its sources, the effective ridge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.lab import draw

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

RATIO = "features per training point h/P"


def _threshold(figure: go.Figure) -> None:
    figure.add_vline(1.0, line={"dash": "dot", "color": "#555555"})
    # On a logarithmic axis annotations are placed by the logarithm, lines by the value.
    figure.add_annotation(
        x=0.0, y=1.0, yref="paper", text="h = P", showarrow=False, xanchor="left", yanchor="top"
    )


def _done(dataset: xr.Dataset) -> xr.Dataset:
    return dataset.isel(ratio=np.isfinite(dataset.bias.values)).sortby("ratio")


def error_figure(dataset: xr.Dataset) -> go.Figure:
    """Error of one and of the mean of several against the number of features."""
    done = _done(dataset)
    ratio = done.ratio.values
    members = done.sizes["member"]
    figure = draw.axes(
        RATIO,
        "mean square error on test points",
        log="xy",
        caption="Least-norm fits of a noisy linear target by random relu features. With as many "
        "features as training points the fit passes through all of them and nothing is left over: "
        "the error explodes. More features make it fall again, the second descent. The mean over "
        "several draws of the features has hardly any error to lose beyond the peak: what falls "
        "there is the variance due to the draw. (Medians; band: middle half of single fits; a "
        "variance of 1 is to be explained.)",
    )
    single = done.error.values.reshape(len(ratio), -1)
    low, mid, high = np.percentile(single, [25, 50, 75], axis=1)
    figure.add_scatter(
        x=np.concatenate([ratio, ratio[::-1]]),
        y=np.concatenate([low, high[::-1]]),
        fill="toself",
        fillcolor="rgba(52,84,209,0.2)",
        line={"width": 0},
        mode="lines",
        showlegend=False,
        hoverinfo="skip",
    )
    together = np.median(done.ensemble_error.values, axis=1)
    for y, name, colour in (
        (mid, "single", draw.COLORS[0]),
        (together, f"mean of {members}", draw.COLORS[1]),
    ):
        figure.add_scatter(x=ratio, y=y, mode="lines+markers", line={"color": colour}, name=name)
    _threshold(figure)
    return figure


def sources_figure(dataset: xr.Dataset) -> go.Figure:
    """Bias and variances against the number of features."""
    done = _done(dataset)
    figure = draw.axes(
        RATIO,
        "contribution to the mean square error",
        log="xy",
        caption="The expected error split into its sources: bias (what is missing on average), and "
        "the variances over the draw of the features, over the noise of the labels and over the "
        "training points. The peak is variance, of features and of noise; averaging over features "
        "removes the former. (Estimates; what comes out below zero is not shown.)",
    )
    names = {
        "bias": "bias²",
        "variance_initialisation": "features",
        "variance_noise": "label noise",
        "variance_sampling": "training points",
    }
    for (variable, name), colour in zip(names.items(), draw.COLORS, strict=False):
        values = done[variable].values
        figure.add_scatter(
            x=done.ratio.values,
            y=np.where(values > 0, values, np.nan),
            mode="lines+markers",
            line={"color": colour},
            name=name,
        )
    _threshold(figure)
    return figure


def ridge_figure(dataset: xr.Dataset) -> go.Figure:
    """The effective ridge against the number of features, and how well it does."""
    from plotly.subplots import make_subplots

    done = _done(dataset)
    ratio, ridge = done.ratio.values, float(np.nanmax(done.ridge.values))
    figure = make_subplots(rows=1, cols=2, subplot_titles=("effective ridge", "relative distance"))
    lines: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
        ("ridge_fitted", "best fit", draw.COLORS[0], {"col": 1}),
        ("ridge_root", "root of r = λ + (r/h) tr K(K+r)⁻¹", draw.COLORS[1], {"col": 1}),
        ("ridge_residual", "with the best ridge", draw.COLORS[2], {"col": 2}),
        ("ridge_same", "with λ itself", draw.COLORS[3], {"col": 2}),
        ("ridge_doubt", "error of the mean of draws", draw.COLORS[5], {"col": 2}),
    )
    for variable, name, colour, place in lines:
        values = done[variable].values
        figure.add_scatter(
            x=ratio,
            y=values.mean(1),
            mode="lines+markers",
            line={"color": colour, "dash": "dash" if variable == "ridge_root" else "solid"},
            name=name,
            row=1,
            **place,
        )
    figure.add_scatter(
        x=[ratio.min(), ratio.max()],
        y=[ridge, ridge],
        mode="lines",
        line={"dash": "dot", "color": "#555555"},
        name=f"λ = {ridge:g}",
        row=1,
        col=1,
    )
    figure.update_xaxes(title=RATIO, type="log", exponentformat="power")
    figure.update_yaxes(type="log", exponentformat="power")
    figure.update_yaxes(title="ridge", row=1, col=1)
    return figure.update_layout(
        meta={
            "caption": "Ridge regression on random features, averaged over many draws, compared "
            "with kernel ridge regression under the kernel of infinitely many features. Left: the "
            "ridge that fits best is larger than the one used, the more so the fewer the features, "
            "and close to the predicted one. Right: with it the two predictors are nearly the "
            "same; with the ridge that was used they are not."
        }
    )


FIGURES = {
    "Double descent of random features": error_figure,
    "Where the error comes from": sources_figure,
    "An average is a larger ridge": ridge_figure,
}
