"""Decisions with finite memory: tabular problems, memories, policies, steady states.

A player sees an observation, not the state; a policy says with which probability it takes each
action. Here both are small enough to be solved exactly, in float64. Nothing here knows networks.
"""

from regimes import _door

__all__: list[str] = []

_door.keep(globals())
