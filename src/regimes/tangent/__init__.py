"""The tangent kernel of any network: Grams, products, layers, linearisation, estimators."""

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from regimes.tangent._estimators import TangentKernelClassifier, TangentKernelRegressor

# what can overflow from finite arguments and has no meaning then
_FINITE = ("neuron_grams", "stacked_gram")

_door.keep(globals(), finite=_FINITE)

# scikit-learn loads with them, when they are asked for
_ESTIMATORS = ("TangentKernelClassifier", "TangentKernelRegressor")
__all__ += ["TangentKernelClassifier", "TangentKernelRegressor"]


def __getattr__(name: str) -> Any:
    """The estimators, on first use."""
    if name in _ESTIMATORS:
        from regimes.tangent import _estimators

        return getattr(_estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
