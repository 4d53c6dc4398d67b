"""Learning curves of kernels on images."""

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.regimes.kernel_exponents._claims import KERNELS, draws_of


def _curves(dataset: Data) -> Figure:
    caption = (
        "Mean square error on unseen images of interpolation with two kernels, against the number "
        "of training images (means over draws). Both kernels learn at one rate, which the data "
        "set sets: digits at about n^-0.4, photographs hardly at all (n^-0.1)."
    )
    title = "mean square error (labels ±1)"
    figure = draw.axes("training images", title, log="xy", caption=caption)
    figure.update_yaxes(dtick="D2")
    ran = judge.need(dataset, "mse").dropna("images", how="all", subset=["mse"])
    for name, color, _ in draw.each(ran, "images"):
        here = draws_of(ran, name)
        for kernel, dash in zip(KERNELS, draw.DASHES, strict=False):
            label = f"{name}, {kernel}"
            errors = here.mse.sel(kernel=kernel)
            heights = draw.curve(figure, errors, "size", label, color=color, dash=dash)
        slope = 0.1 if name == "cifar10" else 0.4
        first = (here["size"].values[0], 0.85 * heights[0])
        draw.guide(figure, here["size"], -slope, first, f"slope -{slope:g} (paper)")
    return figure


FIGURES = {"Learning curves of kernels": _curves}
