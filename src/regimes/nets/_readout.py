"""The linear readout of convolutional networks in the ntk and mean-field parametrisations."""

from __future__ import annotations

from regimes._check import choose
from regimes.nets._layers import ScaledLinear

_EXPONENTS = {"ntk": 0.5, "mean_field": 1.0}


def readout(channels: int, out_dim: int, parametrization: str, *, bias: bool) -> ScaledLinear:
    """W z / channels^a, a = 1/2 for "ntk" and 1 for "mean_field"; unfilled, on the meta device."""
    exponent = choose(parametrization, _EXPONENTS, "parametrization")
    return ScaledLinear(
        channels, out_dim, bias, weight_multiplier=channels**-exponent, device="meta"
    )
