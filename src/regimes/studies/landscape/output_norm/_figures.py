"""N* against the margin."""

from regimes.lab import Data, Figure, draw
from regimes.studies.landscape.output_norm._claims import stars


def _stars(dataset: Data) -> Figure:
    margins, found = stars(dataset)
    caption = (
        "Number of parameters N* at which half of the networks fit random labels with a given "
        "margin, their outputs divided by their norm over the training points. A larger margin "
        "takes more parameters, in proportion where it is small."
    )
    figure = draw.axes("margin", "N* (weights)", caption=caption)
    draw.points(
        figure,
        margins,
        [each.value for each in found],
        "half of the runs fit",
        error=[each.error for each in found],
        mode="lines+markers",
    )
    return figure


FIGURES = {"Parameters needed for a margin": _stars}
