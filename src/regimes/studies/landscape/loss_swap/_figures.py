"""Errors with both losses."""

from regimes.lab import Data, Figure, draw, judge


def _errors(dataset: Data) -> Figure:
    own = judge.need(dataset, "error")
    caption = (
        "Test error of the same convolutional networks trained with the quadratic hinge and with "
        "the cross-entropy: every seed is a start and an order of batches that both share."
    )
    figure = draw.axes("seed", "test error (%)", caption=caption)
    for loss, color, part in draw.each(own, "loss"):
        draw.points(figure, part.seed.values, 100 * part.error.values, loss, color=color)
    return figure


FIGURES = {"Test error of each seed": _errors}
