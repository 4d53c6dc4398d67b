"""The tangent kernel of any network: Grams, products, layers, linearisation."""

from regimes import _door
from regimes.tangent._anisotropy import (
    AnisotropyDirections,
    MixedDerivative,
    anisotropy_directions,
)
from regimes.tangent._effective_parameters import EffectiveParameters, effective_parameters
from regimes.tangent._eigenpairs import ConditionEstimate, KernelEigenpairs, nystrom_eigenpairs
from regimes.tangent._input_gradients import input_gradients
from regimes.tangent._kernel import TangentKernel
from regimes.tangent._linearize import LinearizedModel, linearize
from regimes.tangent._plan import LayerPlan, Plan
from regimes.tangent._products import TraceEstimate
from regimes.tangent._stacked import layer_gradients, neuron_grams, stacked_change, stacked_gram

__all__ = [
    "AnisotropyDirections",
    "ConditionEstimate",
    "EffectiveParameters",
    "KernelEigenpairs",
    "LayerPlan",
    "LinearizedModel",
    "MixedDerivative",
    "Plan",
    "TangentKernel",
    "TraceEstimate",
    "anisotropy_directions",
    "effective_parameters",
    "input_gradients",
    "layer_gradients",
    "linearize",
    "neuron_grams",
    "nystrom_eigenpairs",
    "stacked_change",
    "stacked_gram",
]

# what can overflow from finite arguments and has no meaning then
_FINITE = ("neuron_grams", "stacked_gram")

_door.keep(globals(), finite=_FINITE)
