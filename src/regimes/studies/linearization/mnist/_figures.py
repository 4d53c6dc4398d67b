"""Accuracy of both models on eigenfunctions of MNIST."""

from __future__ import annotations

from regimes.lab import Data, Figure
from regimes.studies.linearization._figures import MODELS, PERCENT, panels


def _accuracy(dataset: Data) -> Figure:
    caption = (
        "Test accuracy on the sign of eigenfunction j of the tangent kernel at the start, on "
        "handwritten digits. Dotted: the same models on the images' own labels."
    )
    return panels(
        dataset, {f"accuracy_{model}": model for model in MODELS}, PERCENT, caption, "x", "momentum"
    )


FIGURES = {"Accuracy on eigenfunctions": _accuracy}
