"""Second on the way to a Gram: forward and backward passes that leave the factors of gradients."""

from regimes.tangent.passes._backward import find_route
from regimes.tangent.passes._collect import Factors, Recipe, collect, refuse_not_finite
from regimes.tangent.passes._general import can_batch, functional
from regimes.tangent.passes._gradients import gradients_and_parameters, gradients_at

__all__ = [
    "Factors",
    "Recipe",
    "can_batch",
    "collect",
    "find_route",
    "functional",
    "gradients_and_parameters",
    "gradients_at",
    "refuse_not_finite",
]
