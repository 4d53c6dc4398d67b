"""How many parameters a fully connected network with one output has, as the papers count them."""

from __future__ import annotations

import math

from regimes._check import positive_int, real


def n_total(d: int, h: int, L: int) -> int:
    """All parameters, `d h + (L-1) h^2 + h` weights and `L h + 1` biases; `d + 1` for L = 0.

    >>> n_total(10, 14, 2)
    379
    """
    d, h, layers = _sizes(d, h, L)
    return n_weights(d, h, L) + (layers * h + 1 if layers else 1)


def n_weights(d: int, h: int, L: int) -> int:
    """N on every axis of the papers: `d h + (L-1) h^2 + h`, weights without biases; d for L = 0.

    It is `n_total` less one for every neuron: what each loses to the scaling symmetry of relu
    [Geiger 2019, app. A].

    >>> n_weights(51, 51, 3), n_weights(10, 14, 5), n_weights(10, 1265, 5)
    (7854, 938, 6414815)
    """
    d, h, layers = _sizes(d, h, L)
    return d * h + (layers - 1) * h * h + h if layers else d


def width_for(N: float, L: int, d: int | None = None) -> int:
    """The width h whose `n_weights` is nearest to N.

    Args:
        N: wanted number of weights.
        L: hidden layers, at least one.
        d: input dimension; None for d = h.

    >>> width_for(7854, 3), width_for(13623, 5, d=10), width_for(400, 1, d=10)
    (51, 57, 36)
    """
    wanted, layers = real("N", N, above=0.0, below=1e15), positive_int("L", L)
    square = layers if d is None else layers - 1  # square h^2 + linear h = N
    linear = 1 if d is None else positive_int("d", d) + 1
    root = 2 * wanted / (linear + math.sqrt(linear**2 + 4 * square * wanted))

    def away(h: int) -> float:
        return abs(n_weights(h if d is None else d, h, layers) - wanted)

    return min((max(1, math.floor(root)), max(1, math.ceil(root))), key=away)


def _sizes(d: int, h: int, layers: int) -> tuple[int, int, int]:
    return positive_int("d", d), positive_int("h", h), positive_int("L", layers, least=0)
