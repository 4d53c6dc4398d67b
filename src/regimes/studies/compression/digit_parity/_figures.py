"""The parity of digits, after [Paccolat 2021, figs. 8 to 10], and the last layer's dimension."""

from functools import partial

import numpy as np

from regimes.lab import Data, Figure, draw
from regimes.studies.compression import _mode_figures as modes
from regimes.studies.compression.digit_parity._claims import compared, finished

STYLES = {
    "network": (draw.GREEN, "solid"),
    "initial NTK": (modes.COLORS["initial NTK"], "solid"),
    "final NTK": (modes.COLORS["final NTK"], "solid"),
    "initial last layer": (draw.SLATE, "dot"),
    "final last layer": (modes.COLORS["final last layer"], "dot"),
}
SLOPES = {"network": ("1/2", 1 / 2), "initial NTK": ("1/3", 1 / 3)}  # the triangles of fig. 8


def _learning_curves(dataset: Data) -> Figure:
    caption = (
        "Test error of the parity of a digit: the network, and machines with its frozen kernels "
        "(mean and standard error over seeds). The network and the kernels it ends with fall "
        "faster than the tangent kernel it starts from, which is ahead at few images; the last "
        "layer before training learns next to nothing. Dashed: the slopes that "
        "the paper draws as triangles."
    )
    ran = finished(dataset)
    p = ran.p.values
    figure = draw.axes(
        "training images p", "test error (fraction)", log="xy", ticks=p, caption=caption
    )
    figure.update_yaxes(dtick="D2")
    for name, (color, dash) in STYLES.items():
        heights = draw.curve(figure, ran.error.sel(curve=name), "p", name, color=color, dash=dash)
        if name in SLOPES:
            told, slope = SLOPES[name]
            middle = (p[0] * p[-1]) ** 0.5, np.exp(np.log(heights).mean())
            draw.guide(figure, p, -slope, middle, f"slope -{told} (paper)")
    return figure


def _dimensions(dataset: Data) -> Figure:
    caption = (
        "Dimension of the cloud of last-layer representations of unseen images, from the ratio of "
        "the distances to the two nearest neighbours. Training lowers it; the paper finds about "
        "6 for MNIST."
    )
    ran = finished(dataset)
    figure = draw.axes(
        "training images p", "effective dimension (1)", log="x", ticks=ran.p, caption=caption
    )
    figure.update_yaxes(rangemode="tozero")
    for name in ("initial last layer", "final last layer"):
        draw.curve(figure, ran.dimension.sel(kernel=name), "p", name, color=STYLES[name][0])
    return figure


_of = partial(modes.captioned, compared)

FIGURES = {
    "Learning curves (fig. 8)": _learning_curves,
    "Mutual information (fig. 9c)": _of(
        modes.information,
        "What each of the first ten eigenvectors tells about the parity of images the network has "
        "not seen ({sizes} training images; mean and standard error over seeds). Training moves "
        "the information into the first eigenvectors.",
    ),
    "Projection of the label (fig. 9d)": _of(
        modes.projection,
        "How much of the label lies on each eigenvector of the raw kernel ({sizes} training "
        "images). Before training it is spread over many; after it one or two carry most of it.",
    ),
    "Projection of the label, centred kernel": _of(
        modes.centred_projection,
        "The same for the double-centred kernel ({sizes} training images), without the constant "
        "direction.",
    ),
    "First two eigenvectors (fig. 10)": _of(
        modes.planes,
        "Unseen images in the plane of the first two eigenvectors, coloured by parity ({sizes} "
        "training images, first seed). Training pulls the classes apart, and the last layer lays "
        "the images along a curve; the next figure measures its dimension.",
    ),
    "Dimension of the last layer": _dimensions,
}
