"""The stripe's kernels, after [Paccolat 2021, figs. 9 and 10], and how nearly the kernel splits."""

from functools import partial
from itertools import cycle

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.compression import _mode_figures as modes
from regimes.studies.compression.stripe_kernel._claims import STAGES, as_in_figure_9


def _split(dataset: Data) -> Figure:
    caption = (
        "How far the tangent kernel is from the one with all uninformative weights set to zero, "
        "Θ₁(x∥, z∥) + Θ₂(x∥, z∥) x⊥·z⊥. While the informative weights grow the distance rises "
        "above its first value, where a constant dominates the kernel; once they have outgrown the "
        "others it falls: the trained kernel nearly splits."
    )
    figure = draw.axes("stage of training", "relative Frobenius distance (1)", caption=caption)
    figure.update_yaxes(rangemode="tozero")
    ran = judge.need(dataset, "residual").residual.stack(run=("d", "p")).dropna("run", how="all")
    for (d, p), color in zip(ran.run.values, cycle(draw.COLORS), strict=False):
        name = f"d = {d}, p = {p}"
        draw.curve(figure, ran.sel(run=(d, p)), "stage", name, x=STAGES, color=color)
    return figure


_of = partial(modes.captioned, as_in_figure_9)

FIGURES = {
    "Mutual information (fig. 9a)": _of(
        modes.information,
        "What each of the first ten eigenvectors of the kernel tells about the label, on fresh "
        "points ({sizes} training points; mean and standard error over seeds). Before training all "
        "sit near the estimator's floor: the kernel has no preferred direction. After it the first "
        "ones tell most of the one bit there is.",
    ),
    "Projection of the label (fig. 9b)": _of(
        modes.projection,
        "How much of the label lies on each eigenvector of the raw kernel ({sizes} training "
        "points). The first eigenvector is nearly constant and carries little; after training the "
        "next few carry a large part of the label.",
    ),
    "Projection of the label, centred kernel": _of(
        modes.centred_projection,
        "The same for the double-centred kernel ({sizes} training points), where the constant "
        "direction is taken out: after training the first eigenvector carries the most.",
    ),
    "First two eigenvectors (fig. 10)": _of(
        modes.planes,
        "Every dot is a fresh point in the plane of the first two eigenvectors, coloured by its "
        "label ({sizes} training points, first seed). Before training the classes are mixed; after "
        "it they are apart, and the last layer draws all points out along a curve: its "
        "representation is nearly one-dimensional.",
    ),
    "Distance from a kernel that ignores x⊥": _split,
}
