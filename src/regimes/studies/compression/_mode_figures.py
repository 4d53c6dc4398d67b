"""What the leading eigenvectors of kernels tell about the label.

The figures are those of [Paccolat 2021, figs. 9 and 10].
The data are those of one training set, with a coordinate that names the kernels.
"""

from collections.abc import Callable

import numpy as np

import regimes as rg
from regimes.lab import Data, Figure, Values, draw, judge
from regimes.studies.compression._labelled import LABELS, dots

COLORS = {"initial NTK": draw.ORANGE, "final NTK": draw.OCHRE, "final last layer": draw.CYAN}


def captioned(
    choose: Callable[[Data], Data],
    drawn: Callable[[Data, str], Figure],
    caption: str,
) -> Callable[[Data], Figure]:
    """One of the figures below, of the data that `choose` takes from those of a study.

    Their sizes stand in the caption where it says `{sizes}`.
    """

    def figure(dataset: Data) -> Figure:
        shown = choose(dataset)
        sizes = [f"{dim} = {int(shown[dim])}" for dim in ("d", "p") if dim in shown.coords]
        return drawn(shown, caption.format(sizes=", ".join(sizes)))

    return figure


def information(shown: Data, caption: str) -> Figure:
    """What each eigenvector tells about the label (figs. 9a and 9c)."""
    figure = _bars(shown.information, "mutual information I(φᵣ; y) (bits)", caption)
    figure.update_yaxes(range=[0, 1])  # all a binary label can tell
    draw.level(figure, y=rg.measure.mutual_information_floor(), color=draw.INK)
    corner = {"xref": "paper", "yref": "paper", "xanchor": "right", "yanchor": "top"}
    draw.words(figure, "dotted: what an independent label would give", 1.0, 1.0, **corner)
    return figure


def projection(shown: Data, caption: str) -> Figure:
    """How much of the label lies on each eigenvector (figs. 9b and 9d)."""
    return _bars(shown.projection, "projection ω²ᵣ (fraction of the label)", caption)


def centred_projection(shown: Data, caption: str) -> Figure:
    """The same for the double-centred kernel."""
    return _bars(shown.projection_centered, "projection ω²ᵣ (fraction of the label)", caption)


def planes(shown: Data, caption: str, *, points: int = 400) -> Figure:
    """The first two eigenvectors of each kernel side by side, by label (fig. 10)."""
    figure = draw.axes(
        "φ₁ (mean square 1)",
        "φ₂ (mean square 1)",
        panels=[*COLORS],
        legend="below",
        caption=caption,
    )
    y = shown.label.values
    some = np.concatenate([np.flatnonzero(y == label)[: points // 2] for label in LABELS])
    for panel, kernel in enumerate(COLORS, start=1):
        functions = shown.plane.sel(kernel=kernel).transpose("sample", "axis").values
        dots(figure, functions[some], y[some], panel=panel, opacity=0.7)
    return figure


def _bars(values: Values, title: str, caption: str) -> Figure:
    """One group of bars per rank: means and errors over seeds."""
    figure = draw.axes("rank r of the eigenvector", title, caption=caption, barmode="group")
    figure.update_xaxes(dtick=1).update_yaxes(rangemode="tozero")
    for kernel, color in COLORS.items():
        each = values.sel(kernel=kernel).transpose("seed", "mode").values
        draw.bars(
            figure,
            np.arange(1, each.shape[1] + 1),
            each.mean(0),
            kernel,
            error=judge.standard_error(each),
            color=color,
            hovertemplate="rank %{x}: %{y:.3f}",
        )
    return figure
