"""Medians over seeds with error bars, their exponents, and how learning curves are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

    from regimes.measure import PowerLaw

RESAMPLES = 1000


@dataclass(frozen=True)
class Ratio:
    """A ratio of two medians over the same seeds."""

    value: float
    error: float  # spread over bootstrap resamples of the seeds


def median_ratio(above: np.ndarray, below: np.ndarray) -> Ratio:
    """`median(above)/median(below)`; seeds are drawn together for both.

    >>> median_ratio(np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 3.0])).value
    2.0
    """
    rng = np.random.default_rng(0)
    rows = rng.integers(len(above), size=(RESAMPLES, len(above)))
    drawn = np.median(above[rows], axis=1) / np.median(below[rows], axis=1)
    value = float(np.median(above) / np.median(below))
    return Ratio(value, float(drawn.std()) if len(above) > 1 else np.nan)


def exponent(curve: xr.DataArray, low: float, high: float, along: str = "seed") -> PowerLaw:
    """The power law of the medians over seeds against n_train, low <= n_train <= high."""
    from regimes.measure import power_law

    ordered = curve.transpose(along, "n_train").dropna("n_train", how="all")
    window = (low * 0.999, high * 1.001)
    return power_law(ordered.n_train.values, ordered.values, window=window, center="median")


def unfinished(dataset: xr.Dataset) -> int:
    """Trials of the scan that failed or have not run yet."""
    return int((dataset.trial_state < 2).sum())


def add_medians(
    figure: go.Figure,
    x: np.ndarray,
    values: np.ndarray,
    name: str,
    *,
    color: str,
    dash: str = "solid",
    hover: str = "p = %{x}<br>%{y:.3g}",
    **options: Any,
) -> None:
    """A line of medians over the first axis of `values` (seeds, n), bars over the middle half."""
    low, middle, high = np.percentile(values, [25, 50, 75], axis=0)
    figure.add_scatter(
        x=x,
        y=middle,
        error_y={"array": high - middle, "arrayminus": middle - low, "thickness": 1, "width": 3},
        mode="lines+markers",
        name=name,
        line={"color": color, "dash": dash},
        hovertemplate=hover,
        **options,
    )


def add_slope(
    figure: go.Figure, x: np.ndarray, end: float, exponent: float, name: str, **options: Any
) -> None:
    """A thin guide line `end (x/x_last)^exponent` over the range of x.

    It is hung up at the last point, because exponents are those of the limit of large x.
    """
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


def logarithmic(figure: go.Figure, x: np.ndarray, x_title: str, y_title: str) -> go.Figure:
    """Both axes logarithmic, ticks at the sizes that were run."""
    figure.update_xaxes(type="log", title=x_title, tickvals=x, ticktext=[f"{v:g}" for v in x])
    return figure.update_yaxes(type="log", title=y_title, dtick="D2")
