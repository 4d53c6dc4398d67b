"""Decisions with finite memory: tabular problems, memories, policies, steady states.

A player sees an observation, not the state; a policy says with which probability it takes each
action. Here both are small enough to be solved exactly, in float64. Nothing here knows networks.
"""

from regimes import _door
from regimes.decide._gth import gth
from regimes.decide._gymnasium import environment
from regimes.decide._memories import Memento, Ram
from regimes.decide._pomdp import TabularPOMDP
from regimes.decide._slope import Slope
from regimes.decide._steady_state import steady_state
from regimes.decide._two_arms import TwoArms

__all__ = [
    "Memento",
    "Ram",
    "Slope",
    "TabularPOMDP",
    "TwoArms",
    "environment",
    "gth",
    "steady_state",
]

_door.keep(globals())
