"""Errors against the number of images."""

from regimes.lab import Data, Figure, draw
from regimes.studies.regimes._outcome_figures import PERCENT, errors_at_each_scale
from regimes.studies.regimes.sample_size._claims import finished


def _errors(dataset: Data) -> Figure:
    caption = (
        "Test error on odd and even digits reduced to ten components, of fully connected networks "
        "trained in the feature regime (sqrt(h) alpha = 1) and in the lazy one (1000): means over "
        "seeds with standard errors (dashed) and ensembles (solid). With few images lazy training "
        "is ahead; the gap closes as images are added, and [Geiger 2021, sec. 4] finds feature "
        "learning slightly ahead at 5000."
    )
    done = finished(dataset)
    figure = draw.axes("training images", PERCENT, log="xy", ticks=done.n_train, caption=caption)
    figure.update_yaxes(dtick="D2")
    errors_at_each_scale(figure, done, "n_train")
    return figure


FIGURES = {"Feature and lazy training against data": _errors}
