"""The residual of the initial function."""

from regimes.lab import Data, Figure, draw, judge


def _residual(dataset: Data) -> Figure:
    own = judge.need(dataset, "residual").dropna("seed", how="all", subset=["residual"])
    caption = (
        "What is left of the initial function of an infinitely wide network on test points after "
        "training by least squares (root mean square, over that of the initial function), against "
        "the number P of training points. On the training points themselves nothing is left."
    )
    figure = draw.axes(
        "training points P", "residual of the initial function", log="xy", caption=caption
    )
    draw.curve(figure, own.residual / own.initial, "size", "test points")
    return figure


FIGURES = {"What is left of the initial function": _residual}
