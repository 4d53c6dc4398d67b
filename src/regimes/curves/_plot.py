"""Learning curves as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from regimes.lab import draw

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from regimes.curves._learning_curve import LearningCurve
    from regimes.curves._spectral_tail import SpectralTail

_TITLES = {
    "mse": "mean squared error",
    "error": "test error (fraction)",
    "teacher average": "error, averaged over teachers",
}


def plotted(curves: Sequence[LearningCurve], tail: SpectralTail | None) -> go.Figure:
    """Means with standard errors on logarithmic axes, and the tail through the first point."""
    first = curves[0]
    caption = (
        f"Error of machines with a kernel on {first.sizes[0]} to {first.sizes[-1]} training "
        f"points; means of {len(first.errors)} repeats with their standard errors."
    )
    if tail is not None:
        caption += (
            " Dashed: power of the target beyond the n-th eigenvector of a Gram of "
            f"{tail.points} points, moved to begin where the curve does."
        )
    figure = draw.axes("training points n", _TITLES[first.quantity], log="xy", caption=caption)
    for curve, color in zip(curves, draw.COLORS, strict=False):
        error = curve.standard_error
        draw.points(
            figure, curve.sizes, curve.mean, curve.name, error=error, mode="lines+markers",
            color=color,
        )  # fmt: skip
    if tail is not None:
        seen = (tail.ranks >= 10) & (tail.ranks <= first.sizes[-1])
        ranks, power = tail.ranks[seen], tail.power.mean(0)[seen]
        if len(ranks):
            scale = first.mean[0] / power[0]
            moved = ranks * (first.sizes[0] / ranks[0])
            name = "tail of the spectrum"
            draw.line(figure, moved, power * scale, name, color=draw.SOFT, dash="dash")
    return figure
