"""Learning curves of machines with kernels: measured, fitted, predicted and drawn.

A task is a user's arrays, a `Dataset`, or a `Teacher`; a kernel is anything that gives a Gram, the
tangent kernel of a network too. This room stands above those it brings together: kernels learn,
measures fit, and the lab's vocabulary draws.
"""

from regimes import _door
from regimes.curves._learning_curve import LearningCurve, learning_curve, learning_curves
from regimes.curves._spectral_tail import SpectralTail, spaced_ranks, spectral_tail
from regimes.curves._tasks import Drawn, Pool, Teacher

__all__ = [
    "Drawn",
    "LearningCurve",
    "Pool",
    "SpectralTail",
    "Teacher",
    "learning_curve",
    "learning_curves",
    "spaced_ranks",
    "spectral_tail",
]

_door.keep(globals())
