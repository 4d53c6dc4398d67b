"""Decisions with finite memory: tabular problems, memories, policies, steady states.

A player sees an observation, not the state; a policy says with which probability it takes each
action. Here both are small enough to be solved exactly, in float64. Nothing here knows networks.
"""

from regimes import _door
from regimes.decide._columns import BestExit, ccp_opt, ccp_q
from regimes.decide._gray_chain import gray_chain
from regimes.decide._necklaces import necklace, necklace_count, necklace_graph, necklaces

__all__ = [
    "BestExit",
    "ccp_opt",
    "ccp_q",
    "gray_chain",
    "necklace",
    "necklace_count",
    "necklace_graph",
    "necklaces",
]

_door.keep(globals())
