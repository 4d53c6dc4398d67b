"""The a-b-c family of parametrisations [Yang 2021], [Geiger 2021b, sec. 8.2]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regimes._check import choose, real


@dataclass(frozen=True)
class ABC:
    """How the layers 1..L+1 of a network of width h are scaled.

    Layer l multiplies its weights by h^{-a_l} and starts them at std h^{-b_l}; the input layer
    carries an extra d^{-1/2}. Training with rate eta h^{-c} then follows
    the same functions for (a_l + s, b_l - s, c - 2 s) whatever s. The network uses a and b; c is
    kept for whoever trains it.

    Example:
        >>> ABC.mean_field(depth=2)
        ABC(a=(0.0, 0.5, 1.0), b=(0.0, 0.0, 0.0), c=-1.0)
        >>> ABC.maximal_update(depth=2) == ABC.mean_field(depth=2).shifted(-0.5)
        True
    """

    a: Sequence[float]
    b: Sequence[float]
    c: float = 0.0

    def __post_init__(self) -> None:
        if not self.a or len(self.a) != len(self.b):
            raise ValueError(
                f"a and b need one entry per layer, equally many; got a={self.a!r}, b={self.b!r}"
            )
        for field in ("a", "b"):
            values = tuple(real(f"{field}_{i + 1}", v) for i, v in enumerate(getattr(self, field)))
            object.__setattr__(self, field, values)
        object.__setattr__(self, "c", real("c", self.c))

    @classmethod
    def ntk(cls, depth: int) -> ABC:
        """NTP for `depth` hidden layers: a = 0, 1/2, ..., 1/2."""
        return cls((0.0,) + (0.5,) * depth, (0.0,) * (depth + 1))

    @classmethod
    def mean_field(cls, depth: int) -> ABC:
        """MFP for `depth` hidden layers: as NTP, but a = 1 at the readout."""
        if depth < 1:
            raise ValueError("the mean_field readout averages hidden neurons: depth must be >= 1")
        return cls((0.0,) + (0.5,) * (depth - 1) + (1.0,), (0.0,) * (depth + 1), c=-1.0)

    @classmethod
    def maximal_update(cls, depth: int) -> ABC:
        """The maximal-update form, the same functions as `mean_field` under training."""
        return cls.mean_field(depth).shifted(-0.5)

    def shifted(self, s: float) -> ABC:
        """(a + s, b - s, c - 2 s): another parametrisation of the same training."""
        return ABC(tuple(a + s for a in self.a), tuple(b - s for b in self.b), self.c - 2 * s)

    def weight_multipliers(self, in_dim: int, width: int) -> list[float]:
        """h^{-a_l} for each layer, with d^{-1/2} at the input."""
        multipliers = [float(width) ** -a for a in self.a]
        multipliers[0] *= in_dim**-0.5
        return multipliers

    def weight_stds(self, width: int) -> list[float]:
        """h^{-b_l} for each layer."""
        return [float(width) ** -b for b in self.b]


_NAMED = {"ntk": ABC.ntk, "mean_field": ABC.mean_field, "standard": None}


def resolve(parametrization: str | ABC, depth: int) -> ABC | None:
    """The exponents for a name or an `ABC`; None for "standard", which has no multipliers."""
    if isinstance(parametrization, ABC):
        if len(parametrization.a) != depth + 1:
            raise ValueError(
                f"depth {depth} needs {depth + 1} exponents a and b, one per weight matrix; "
                f"got {len(parametrization.a)}"
            )
        return parametrization
    make = choose(parametrization, _NAMED, "parametrization")
    return None if make is None else make(depth)
