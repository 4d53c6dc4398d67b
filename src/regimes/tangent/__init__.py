"""The tangent kernel of any network: Grams, products, layers, linearisation."""

from regimes import _door
from regimes.tangent._anisotropy import (
    AnisotropyDirections,
    MixedDerivative,
    anisotropy_directions,
)
from regimes.tangent._eigenpairs import ConditionEstimate, KernelEigenpairs, nystrom_eigenpairs
from regimes.tangent._kernel import TangentKernel
from regimes.tangent._linearize import LinearizedModel, linearize
from regimes.tangent._plan import LayerPlan, Plan
from regimes.tangent._products import TraceEstimate
from regimes.tangent._stacked import layer_gradients, stacked_change, stacked_gram

__all__ = [
    "AnisotropyDirections",
    "ConditionEstimate",
    "KernelEigenpairs",
    "LayerPlan",
    "LinearizedModel",
    "MixedDerivative",
    "Plan",
    "TangentKernel",
    "TraceEstimate",
    "anisotropy_directions",
    "layer_gradients",
    "linearize",
    "nystrom_eigenpairs",
    "stacked_change",
    "stacked_gram",
]

# what can overflow from finite arguments and has no meaning then
_FINITE = ("stacked_gram",)

_door.keep(globals(), finite=_FINITE)
