"""How far a network is from equivariant: one meter for every group and every kind of signal."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from regimes._check import choose

Action = Callable[[Tensor, Any], Tensor]
Size = Callable[[Tensor], float]


@dataclasses.dataclass(frozen=True)
class EquivarianceError:
    """How much acting before a network differs from acting after it.

    Attributes:
        value: mean over the pairs of an input and a group element.
        error: standard error of that mean, 0 for a single pair.
        each: the pairs' own values.
    """

    value: float
    error: float
    each: tuple[float, ...]

    @property
    def worst(self) -> float:
        """The largest of the pairs' values."""
        return max(self.each)


def _deviation(x: Tensor) -> float:
    return float(x.std(correction=0))


def _root_mean_square(x: Tensor) -> float:
    return float(x.square().mean().sqrt())


_SIZES: dict[str, Size] = {"std": _deviation, "rms": _root_mean_square}


def equivariance_error(
    network: Callable[[Tensor], Tensor],
    samples: Tensor | Callable[[int], Tensor],
    elements: Iterable[Any],
    act_in: Action,
    act_out: Action,
    *,
    size: str | Size = "std",
) -> EquivarianceError:
    """`std(g f(x) - f(g x)) / std(f(x))`, averaged over pairs of an input and a group element.

    The measure of [Cohen 2018, section 5.1], for any module and any group given by what its
    elements do. The network is called as it stands, without gradients; put it into `eval()` if
    its layers look at the batch or drop units.

    Args:
        network: from a batch of inputs to a batch of outputs, such as a module.
        samples: inputs (n, ...), of which the i-th goes with the i-th element; or a function
            from i to a batch.
        elements: group elements: rotations, shifts, whatever the two actions understand.
        act_in: `act_in(x, g)`, the element g applied to a batch of inputs.
        act_out: `act_out(y, g)`, the same for outputs; `lambda y, g: y` measures invariance.
        size: "std", the standard deviation over all entries; "rms", which also sees a constant
            (for outputs of a few numbers, or with a mean that matters); or a function from a
            tensor to its size, such as `nets.sphere.spectral_size`.

    Returns:
        Mean, standard error and the value of each pair.

    Raises:
        ValueError: if there are no elements, too few samples, or outputs of size zero.

    Example:
        Circular convolutions commute with shifts, strided ones do not.

        >>> x = torch.randn(2, 1, 8, generator=torch.Generator().manual_seed(0))
        >>> shift = lambda x, n: x.roll(n, -1)
        >>> equivariance_error(lambda x: x - x.roll(1, -1), x, [1, 3], shift, shift).value
        0.0
        >>> equivariance_error(lambda x: x[..., ::2], x, [1, 3], shift, shift).value > 1
        True
    """
    measured = choose(size, _SIZES, "size") if isinstance(size, str) else size
    values = []
    for i, element in enumerate(elements):
        x = samples(i) if callable(samples) else samples[i : i + 1]
        if len(x) == 0:
            raise ValueError(f"samples holds {i} inputs, fewer than there are elements")
        if not bool(x.isfinite().all()):
            raise ValueError(f"input {i} holds NaN or infinite values")
        values.append(_pair(network, x, element, act_in, act_out, measured))
    if not values:
        raise ValueError("elements is empty; give at least one group element")
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    mean = math.fsum(values) / len(values)
    return EquivarianceError(mean, spread / math.sqrt(len(values)), tuple(values))


def assert_equivariant(
    network: Callable[[Tensor], Tensor],
    samples: Tensor | Callable[[int], Tensor],
    elements: Iterable[Any],
    act_in: Action,
    act_out: Action,
    *,
    tolerance: float | None = None,
    size: str | Size = "std",
) -> None:
    """Fail unless a network is equivariant for every pair: for the tests of one's own layers.

    Args:
        network: as for `equivariance_error`.
        samples: as for `equivariance_error`.
        elements: as for `equivariance_error`.
        act_in: as for `equivariance_error`.
        act_out: as for `equivariance_error`.
        tolerance: largest error allowed; None: 1e-5 for float32 inputs, 1e-10 for float64.
        size: as for `equivariance_error`.

    Raises:
        AssertionError: if an error is above the tolerance, with the element it is worst for.

    Example:
        >>> x = torch.randn(3, 1, 8, generator=torch.Generator().manual_seed(0))
        >>> shift = lambda x, n: x.roll(n, -1)
        >>> assert_equivariant(torch.relu, x, [1, 2, 5], shift, shift)
    """
    elements = list(elements)
    result = equivariance_error(network, samples, elements, act_in, act_out, size=size)
    if tolerance is None:
        first = samples(0) if callable(samples) else samples
        tolerance = 1e-10 if first.dtype == torch.float64 else 1e-5
    if not result.worst <= tolerance:
        worst = result.each.index(result.worst)
        raise AssertionError(
            f"not equivariant: the relative error is {result.value:.3g} +- {result.error:.2g} and "
            f"{result.worst:.3g} at worst, with sample {worst} and element {elements[worst]!r}; "
            f"allowed is {tolerance:g}"
        )


@torch.no_grad()
def _pair(
    network: Callable[[Tensor], Tensor],
    x: Tensor,
    element: Any,
    act_in: Action,
    act_out: Action,
    size: Size,
) -> float:
    out = network(x)
    after, before = act_out(out, element), network(act_in(x, element))
    if after.shape != before.shape:
        raise ValueError(
            f"acting after the network gives shape {tuple(after.shape)}, acting before it "
            f"{tuple(before.shape)}; act_in or act_out does not fit"
        )
    whole = size(out)
    if not whole > 0:
        raise ValueError(
            "the output has size zero, so that no relative error exists; use size='rms' for "
            "outputs that are constant over their entries"
        )
    return size(after - before) / whole
