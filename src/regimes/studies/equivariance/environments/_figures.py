"""How well templates are told apart."""

from __future__ import annotations

from regimes.lab import Data, Figure, draw, judge


def _accuracy(dataset: Data) -> Figure:
    caption = (
        "Accuracy on shaken copies of twenty random templates, against the parameters of the "
        "network; a check of the pipeline, not a measurement on proteins."
    )
    figure = draw.axes("parameters", "accuracy", log="x", caption=caption)
    for model, color in zip(("steerable", "cnn"), draw.COLORS, strict=False):
        at = judge.where_ran(dataset, "seed", "accuracy", model=model)
        found = judge.mean_of(at.accuracy.values)
        draw.points(
            figure, [float(at.parameters.values[0])], [found.value], model, error=[found.error],
            color=color, size=9,
        )  # fmt: skip
    figure.update_yaxes(range=[0, 1.05])
    return figure


FIGURES = {"Templates told apart": _accuracy}
