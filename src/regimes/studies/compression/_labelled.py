"""Points of the two classes, drawn alike in all figures of the theme."""

from typing import Any

import numpy as np

from regimes.lab import Figure, draw

LABELS = {1.0: draw.BLUE, -1.0: draw.ORANGE}


def dots(
    figure: Figure, points: np.ndarray, labels: np.ndarray, *, panel: int = 1, **options: Any
) -> None:
    """Points (n, 2) coloured by their labels (n,), +-1: one trace per class, the positive first."""
    for label, color in LABELS.items():
        x, y = points[labels == label].T
        style = {"color": color, "size": 4, "hoverinfo": "skip", **options}
        draw.points(figure, x, y, f"y = {label:+.0f}", panel=panel, **style)
