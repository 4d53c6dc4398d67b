"""Second on the way to a Gram: forward and backward passes that leave the factors of gradients."""

from regimes.tangent.passes._backward import find_route
from regimes.tangent.passes._collect import Factors, Recipe, collect, refuse_not_finite
from regimes.tangent.passes._general import can_batch
from regimes.tangent.passes._gradients import (
    agree,
    gradients_and_parameters,
    gradients_at,
    weighted_gradients,
)

__all__ = [
    "Factors",
    "Recipe",
    "agree",
    "can_batch",
    "collect",
    "find_route",
    "gradients_and_parameters",
    "gradients_at",
    "refuse_not_finite",
    "weighted_gradients",
]
