"""What the kernel studies share: eigenvectors of a Gram against a binary label, and their plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.studies._parts import Part

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from torch import Tensor

MODES = 10  # eigenvectors looked at (Fig. 9)
COLOURS = {"initial": "#7f7f7f", "last layer": "#1b9e77", "final": "#d95f02"}  # first that fits
CLASSES = ((1.0, "y = +1", "#b2182b"), (-1.0, "y = -1", "#2166ac"))


PER_KERNEL: dict[str, tuple[str, ...]] = {  # what is stored of `Modes`, with its dimensions
    "information": ("mode",),
    "information_centered": ("mode",),
    "projection": ("mode",),
    "projection_centered": ("mode",),
    "norm": ("ridge",),
    "share": (),
    "plane_error": (),
}


@dataclass(frozen=True)
class Modes:
    """One kernel on one set of labelled points (spec `compression` S11, S13, S18)."""

    information: np.ndarray  # (MODES,), bits, raw Gram, estimate with its floor
    information_centered: np.ndarray  # (MODES,), the same for the double-centred Gram
    projection: np.ndarray  # (MODES,), omega^2 of the label, raw Gram
    projection_centered: np.ndarray  # (MODES,)
    share: float  # of the top eigenvalue in the trace, raw Gram
    norm: np.ndarray  # (ridges,), RKHS norm of the label, trace-one operator, ridge added
    plane_error: float  # cross-validated 5-NN error in the plane of the first two eigenvectors
    functions: np.ndarray  # (2, p), the first two eigenvectors, mean square 1


def modes(gram: Tensor, y: Tensor, ridges: Sequence[float]) -> Modes:
    """Everything Figs 9 and 10 show of a kernel, raw and centred."""
    from regimes.measure import kernel_pca

    gram, y = gram.double(), y.double().to(gram.device)
    raw, centred = kernel_pca(gram), kernel_pca(gram, MODES, centered=True)
    plane = raw.functions[:2].cpu().numpy()
    norms = [float(raw.rkhs_norm(y, ridge=ridge, trace_one=True)) for ridge in ridges]
    return Modes(
        information=_information(raw.functions, y),
        information_centered=_information(centred.functions, y),
        projection=raw.projections(y)[:MODES].cpu().numpy(),
        projection_centered=centred.projections(y).cpu().numpy(),
        share=float(raw.values[0]) / raw.trace,
        norm=np.array(norms),
        plane_error=plane_error(plane, y.cpu().numpy()),
        functions=plane,
    )


def plane_error(functions: np.ndarray, y: np.ndarray, *, neighbours: int = 5) -> float:
    """Five-fold cross-validated error of nearest neighbours in the plane (2, p) of two functions.

    >>> y = np.tile([1.0, -1.0], 50)
    >>> plane_error(np.stack([y, np.arange(100) / 100]), y)
    0.0
    """
    from sklearn.model_selection import cross_val_score
    from sklearn.neighbors import KNeighborsClassifier

    score = cross_val_score(KNeighborsClassifier(neighbours), functions.T, y > 0, cv=5)
    return float(1 - score.mean())


def stacked(found: Sequence[Sequence[Modes]], name: str) -> np.ndarray:
    """One quantity of all members and kernels, (seed, kernel, ...)."""
    return np.array([[getattr(one, name) for one in member] for member in found])


def bars(
    curves: Mapping[str, np.ndarray], title: str, caption: str, *, floor: float | None = None
) -> go.Figure:
    """Fig. 9: one group of bars a rank; curves (seed, rank), bars their means and errors."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for name, values in curves.items():
        figure.add_bar(
            x=np.arange(1, values.shape[1] + 1),
            y=values.mean(0),
            error_y={"array": standard_error(values), "thickness": 1},
            name=name,
            marker_color=_colour(name),
            hovertemplate="rank %{x}: %{y:.3f}",
        )
    if floor is not None:
        figure.add_hline(
            y=floor,
            line={"dash": "dot", "color": "black"},
            annotation={
                "text": "dotted: what an independent label would give",
                "y": 1.0,
                "yref": "paper",
                "xanchor": "right",
                "yanchor": "top",
            },
        )
    figure.update_xaxes(title="rank r of the eigenvector", dtick=1)
    figure.update_yaxes(title=title, rangemode="tozero")
    return figure.update_layout(barmode="group", meta={"caption": caption})


def scatter(
    planes: Mapping[str, np.ndarray], y: np.ndarray, caption: str, *, points: int = 400
) -> go.Figure:
    """Fig. 10: the first two eigenvectors (2, p) of each kernel side by side, by label."""
    from plotly.subplots import make_subplots

    figure = make_subplots(cols=len(planes), subplot_titles=list(planes))
    for column, functions in enumerate(planes.values(), start=1):
        for sign, label, colour in CLASSES:
            chosen = np.flatnonzero(y == sign)[: points // 2]
            figure.add_scatter(
                x=functions[0, chosen],
                y=functions[1, chosen],
                mode="markers",
                name=label,
                legendgroup=label,
                showlegend=column == 1,
                marker={"color": colour, "size": 4, "opacity": 0.7},
                row=1,
                col=column,
            )
    figure.update_xaxes(title="φ₁ (mean square 1)")
    figure.update_yaxes(title="φ₂ (mean square 1)", col=1)
    # below the panels, for above them stand their titles
    legend = {"orientation": "h", "x": 0.5, "xanchor": "center", "y": -0.25, "yanchor": "top"}
    return figure.update_layout(legend=legend, meta={"caption": caption})


def standard_error(values: Any) -> np.ndarray:
    """Standard error of the mean over the first axis; zero for a single entry."""
    values = np.asarray(values, dtype=float)
    if len(values) < 2:
        return np.zeros(values.shape[1:])
    return np.asarray(values.std(0, ddof=1) / len(values) ** 0.5)


def mean_part(name: str, values: Any, low: float = -np.inf, high: float = np.inf) -> Part:
    """The mean over seeds and its standard error as part of a claim."""
    values = np.asarray(values, dtype=float)
    error = float(standard_error(values)) if len(values) > 1 else None
    return Part(name, float(values.mean()), low, high, error)


def _information(functions: Tensor, y: Tensor) -> np.ndarray:
    from regimes.measure import mutual_information

    return np.array([mutual_information(phi, y).value for phi in functions[:MODES]])


def _colour(name: str) -> str | None:
    return next((colour for key, colour in COLOURS.items() if key in name), None)
