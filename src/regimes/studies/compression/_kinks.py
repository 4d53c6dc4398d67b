"""Where the kinks of neurons go in the plane of d = 2, drawn alike in all figures of the theme."""

import numpy as np

from regimes.lab import Figure, draw
from regimes.studies.compression._attractors import EDGES

Z1, Z2 = "z₁ (standard deviations)", "z₂ (standard deviations)"  # of a kink, nearest the origin


def plane(caption: str) -> Figure:
    """Axes for the points z of kinks, with the stripe."""
    figure = draw.axes(Z1, Z2, caption=caption, height=560)
    figure.update_xaxes(range=[-3.2, 3.2]).update_yaxes(range=[-2.4, 2.4])
    draw.band(figure, *EDGES, color=draw.ORANGE)
    return figure


def paths(figure: Figure, z: np.ndarray, name: str, color: str) -> None:
    """Paths z (moments, neurons, 2), with dots where they end."""
    draw.line(figure, *draw.joined(z, digits=3), name, color=color, width=1)
    draw.points(figure, *z[-1].T, color=color, size=5)


def attractor(figure: Figure, place: float, color: str) -> None:
    """A cross on the informative axis."""
    name = f"attractor {place:.3f}"
    draw.points(figure, [place], [0.0], name, color=color, symbol="x", size=14)
