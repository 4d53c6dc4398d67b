"""What is given: the network, its inputs, and which of its outputs and parameters are meant."""

from regimes.tangent.network._batch import Batch
from regimes.tangent.network._grouping import LEFT_OUT, GroupOf, by_prefix, owner, whole
from regimes.tangent.network._outputs import Outputs, output_index, parse_outputs
from regimes.tangent.network._snapshot import Snapshot, checked_output, real

__all__ = [
    "LEFT_OUT",
    "Batch",
    "GroupOf",
    "Outputs",
    "Snapshot",
    "by_prefix",
    "checked_output",
    "output_index",
    "owner",
    "parse_outputs",
    "real",
    "whole",
]
