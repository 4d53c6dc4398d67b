"""Errors of convolutional networks against the scale of their output."""

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.regimes._outcome_figures import PERCENT, SCALE, draw_errors


def _errors(dataset: Data) -> Figure:
    caption = (
        "Four convolutions and a readout, trained with Adam on the parity of the class. Dashed: "
        "the mean error of a network; solid: the error of the mean over seeds. On digits the "
        "feature side (left) has the lower error of a network, the reverse of what fully "
        "connected networks show; averaging over seeds narrows the gap. On Fashion no side wins: "
        "an intermediate scale does. Bars are one standard error."
    )
    sets = judge.need(dataset, "ensemble_error").images.values.tolist()
    figure = draw.axes(SCALE, PERCENT, log="x", panels=sets, legend="below", caption=caption)
    figure.update_xaxes(dtick=1)
    for panel, images in enumerate(sets, start=1):
        draw_errors(figure, dataset.sel(images=images), panel=panel, color=draw.BLUE)
    return figure


FIGURES = {"Convolutional networks with Adam (fig. 7b)": _errors}
