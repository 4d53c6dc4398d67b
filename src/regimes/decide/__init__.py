"""Decisions with finite memory: tabular problems, memories, policies, steady states.

A player sees an observation, not the state; a policy says with which probability it takes each
action. Here both are small enough to be solved exactly, in float64. Nothing here knows networks.
"""

from regimes import _door
from regimes.decide._ccp import ccp
from regimes.decide._columns import BestExit, ccp_opt, ccp_q
from regimes.decide._gray_chain import gray_chain
from regimes.decide._gth import gth
from regimes.decide._gymnasium import environment
from regimes.decide._initial import initial_logits
from regimes.decide._linear import likelihood_ratios, linear
from regimes.decide._memories import Memento, Ram
from regimes.decide._necklace_policy import NecklaceExit, necklace_exits, necklace_policy
from regimes.decide._necklaces import necklace, necklace_count, necklace_graph, necklaces
from regimes.decide._policy import Logits, Policy
from regimes.decide._policy_flow import policy_flow
from regimes.decide._policy_run import PolicyRun
from regimes.decide._pomdp import TabularPOMDP
from regimes.decide._slope import Slope
from regimes.decide._steady_state import steady_state
from regimes.decide._two_arms import TwoArms

__all__ = [
    "BestExit",
    "Logits",
    "Memento",
    "NecklaceExit",
    "Policy",
    "PolicyRun",
    "Ram",
    "Slope",
    "TabularPOMDP",
    "TwoArms",
    "ccp",
    "ccp_opt",
    "ccp_q",
    "environment",
    "gray_chain",
    "gth",
    "initial_logits",
    "likelihood_ratios",
    "linear",
    "necklace",
    "necklace_count",
    "necklace_exits",
    "necklace_graph",
    "necklace_policy",
    "necklaces",
    "policy_flow",
    "steady_state",
]

_door.keep(globals())
