"""Activations, each multiplied so that E[sigma(g)^2] = 1 for g ~ N(0, 1) [Geiger 2020, eq. 10]."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from typing import final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regimes._check import choose, real
from regimes.nets._moments import gaussian_second_moment

Function = Callable[[Tensor], Tensor]

# Library softplus returns u itself once beta u > threshold, by default 20, where it is wrong by
# 2e-9 in float64. At 40 the neglected ln(1 + e^-40) = 4e-18 is below half a unit in the last place
# of 40, so the switch is exact to rounding; below it exp(beta u) <= e^40 cannot overflow.
_SOFTPLUS_THRESHOLD = 40.0


def _identity(u: Tensor) -> Tensor:
    return u


_PLAIN: dict[str, Function] = {
    "relu": torch.relu,
    "gelu": F.gelu,
    "tanh": torch.tanh,
    "erf": torch.erf,
    "linear": _identity,
}
_ALIASES = {
    "softplus": "softplus_5",
    "swish": "swish_1",
    "silu": "swish_1",
    "identity": "linear",
}
_WITH_BETA = re.compile(r"(softplus|swish)_(\d+(?:\.\d+)?(?:e[+-]?\d+)?)")


def _softplus(u: Tensor, beta: float) -> Tensor:
    return F.softplus(u, beta=beta, threshold=_SOFTPLUS_THRESHOLD)


def _swish(u: Tensor, beta: float) -> Tensor:
    return F.silu(u) if beta == 1.0 else F.silu(beta * u) / beta


@final
class Activation(nn.Module):
    """u -> factor * sigma(u), elementwise and without parameters.

    Attributes:
        name: which sigma, e.g. "softplus_5".
        beta: its sharpness, None where there is none.
        factor: 1 / sqrt(E[sigma(g)^2]) with g ~ N(0, 1), or 1 when not normalised.
        function: sigma itself, without the factor.

    Example:
        >>> activation("relu")
        Activation(1.41421 * relu)
        >>> activation("relu")(torch.tensor([-1.0, 1.0]))
        tensor([0.0000, 1.4142])
    """

    def __init__(
        self, name: str, function: Function, *, factor: float = 1.0, beta: float | None = None
    ) -> None:
        super().__init__()
        self.name = name
        self.function = function
        self.factor = factor
        self.beta = beta

    def forward(self, u: Tensor) -> Tensor:
        """The activation of every entry of `u`, same shape."""
        value = self.function(u)
        return value if self.factor == 1.0 else self.factor * value

    def unscaled(self, u: Tensor) -> Tensor:
        """sigma(u) without the factor, which may overwrite `u`.

        Callers that own `u` and fold the factor into their next product save two passes over
        memory. The result of a matrix product may be overwritten by relu even under autograd:
        neither backward needs it.
        """
        return torch.relu_(u) if self.function is torch.relu else self.function(u)

    def extra_repr(self) -> str:
        """The formula, e.g. `1.40438 * softplus_5`."""
        return self.name if self.factor == 1.0 else f"{self.factor:.6g} * {self.name}"


def activation(sigma: str | Function, *, normalize: bool = True) -> Activation:
    """The activation with a name, or any elementwise function as an activation.

    The factor is computed by quadrature from the function itself. It makes pre-activations of
    order one at every depth in the ntk and mean-field parametrisations; choose
    `normalize=False` for the plain function of standard networks.

    Args:
        sigma: "relu", "gelu" (the exact one), "tanh", "erf", "linear" (or "identity"),
            "softplus_<beta>" = ln(1 + e^{beta u}) / beta ("softplus" is softplus_5),
            "swish_<beta>" = u / (1 + e^{-beta u}) ("swish" and "silu" are swish_1);
            a function from tensor to tensor; or an `Activation`, which is returned as it is.
        normalize: multiply by 1 / sqrt(E[sigma(g)^2]).

    Raises:
        ValueError: unknown name, beta not positive, a module with parameters, or a function that
            is not elementwise or has no finite, positive second moment.

    Example:
        >>> activation("softplus_5")
        Activation(1.40438 * softplus_5)
        >>> activation(torch.sin)
        Activation(1.52087 * sin)
    """
    if isinstance(sigma, Activation):
        return sigma
    if isinstance(sigma, str):
        name, function, beta = _named(sigma)
        factor = _named_factor(name) if normalize else 1.0
        return Activation(name, function, factor=factor, beta=beta)
    if not callable(sigma):
        raise ValueError(f"an activation is a name or a function of a tensor, got {sigma!r}")
    if isinstance(sigma, nn.Module) and any(True for _ in sigma.parameters()):
        raise ValueError(f"an activation has no parameters, but {sigma!r} does")
    name = getattr(sigma, "__name__", type(sigma).__name__)
    return Activation(name, sigma, factor=_factor(sigma) if normalize else 1.0)


def activation_names() -> list[str]:
    """Names that `activation` knows; softplus_<beta> and swish_<beta> take any beta > 0."""
    return [*_PLAIN, "softplus_5", "swish_1", "swish_10", *_ALIASES]


def _named(name: str) -> tuple[str, Function, float | None]:
    """Canonical name, function and beta."""
    name = _ALIASES.get(name, name)
    found = _WITH_BETA.fullmatch(name)
    if found is None:
        known: dict[str, Function] = dict.fromkeys(activation_names(), torch.relu) | _PLAIN
        return name, choose(name, known, "activation"), None
    family, beta = found.group(1), real(f"beta of {name}", found.group(2), above=0.0)
    function = functools.partial(_softplus if family == "softplus" else _swish, beta=beta)
    return f"{family}_{beta:g}", function, beta


@functools.cache
def _named_factor(name: str) -> float:
    return _factor(_named(name)[1])


def _factor(function: Function) -> float:
    moment = gaussian_second_moment(function)
    if moment <= 0.0:
        raise ValueError("an activation that is 0 almost everywhere cannot be normalised")
    return 1.0 / math.sqrt(moment)
