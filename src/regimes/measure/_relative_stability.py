"""Relative stability: what a deformation changes against what noise of its size changes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import choose, instance, positive_int, shown

STATISTICS = {"median": 0, "mean": 1}
_SHIFTS = 16  # other points that each point is compared with for the scale of the function
_RESAMPLES = 200
_AT_ONCE = 2**23  # numbers gathered at a time, of as many resamples as fit


class NoScaleError(ValueError):
    """The outputs hardly differ between points, so that nothing can be relative to that.

    `scale` is what was found, an entry each function: zero, or NaN.
    """

    def __init__(self, statistic: str, scale: Tensor) -> None:
        same = "half or more of the pairs of" if statistic == "median" else "all"
        super().__init__(
            f"the outputs are the same at {same} points, or no numbers, so that they have no scale"
        )
        self.scale = scale


@dataclass(frozen=True, eq=False)
class RelativeStability:
    """Stabilities of one function or, entry by entry, of several."""

    deformation: Tensor  # D_f: change under deformations over the change between points
    noise: Tensor  # G_f: change under noise of that size over the change between points
    relative: Tensor  # R_f = D_f / G_f; below one: deformations matter less than noise
    deformation_error: Tensor  # standard errors over bootstrap resamples of the points
    noise_error: Tensor
    relative_error: Tensor
    scale: Tensor  # change between different points, |f(x) - f(z)|^2
    points: int
    draws: int  # deformations, and as many noises, of each point


def relative_stability(
    outputs: Tensor,
    deformed: Tensor,
    noisy: Tensor,
    *,
    statistic: str = "median",
    seed: int = 0,
) -> RelativeStability:
    """`D_f`, `G_f` and `R_f = D_f/G_f` from outputs [Petrini 2021, eqs. 4 and 5].

    `D_f = <|f(tau x) - f(x)|^2> / <|f(x) - f(z)|^2>` and `G_f` likewise with `f(x + eta)`; `<.>` is
    the median or the mean over points and draws together, in the denominator over pairs of
    different points: each with 16 others.

    Args:
        outputs: f(x), (n, c), or (members, n, c).
        deformed: f(tau x), (draws, n, c), or (draws, members, n, c).
        noisy: f(x + eta), shaped like `deformed`.
        statistic: "median" or "mean".
        seed: of the pairs and of the bootstrap.

    Returns:
        The three with their errors; each a tensor without axes, or one entry a member.

    Raises:
        ValueError: for shapes that do not fit, or fewer than two points.
        NoScaleError: outputs that do not differ between points.

    Example:
        >>> x = torch.randn(100, 5, generator=torch.Generator().manual_seed(0))
        >>> found = relative_stability(x, (1.01 * x)[None], (0.98 * x)[None])
        >>> round(float(found.relative), 3)
        0.25
    """
    choose(statistic, STATISTICS, "statistic")
    for name, values in (("outputs", outputs), ("deformed", deformed), ("noisy", noisy)):
        instance(name, values, Tensor, "a tensor of outputs")
    if outputs.ndim not in (2, 3) or deformed.shape[1:] != outputs.shape or not len(deformed):
        raise ValueError(
            "outputs are (n, c) or (members, n, c), and deformed has an axis of draws before "
            f"the same axes; got {shown(outputs)} and {shown(deformed)}"
        )
    if noisy.shape != deformed.shape:
        raise ValueError(
            f"noisy and deformed have as many draws: got {shown(noisy)} and {shown(deformed)}"
        )
    n = positive_int("points", outputs.shape[-2], least=2)
    source = torch.Generator().manual_seed(seed)
    f = outputs.double()
    moved = (deformed.double() - f).square().sum(-1)
    shaken = (noisy.double() - f).square().sum(-1)
    order = torch.randperm(n, generator=source).to(f.device)
    pairs = torch.stack(
        [
            (f[..., order, :] - f[..., order.roll(shift), :]).square().sum(-1)
            for shift in range(1, min(n, _SHIFTS + 1))
        ]
    )
    pairs = pairs[..., torch.argsort(order)]
    parts = [part.movedim(0, -1) for part in (moved, shaken, pairs)]  # (members?, n, draws)

    def all_three(at: Tensor | None) -> Tensor:
        """D, G, R and V, (4, members?); of resamples (r, n) of the points, (4, members?, r)."""
        chosen = [part if at is None else part[..., at, :] for part in parts]
        D, G, V = (_center(each.flatten(-2), statistic) for each in chosen)
        return torch.stack([D / V, G / V, D / G, V])

    found = all_three(None)
    if not bool((found[3] > 0).all()):
        raise NoScaleError(statistic, found[3])
    again = torch.randint(n, (_RESAMPLES, n), generator=source).to(f.device)
    some = again.split(max(1, _AT_ONCE // sum(part.numel() for part in parts)))
    errors = torch.cat([all_three(at) for at in some], -1).std(-1)
    D, G, R, V = found
    D_error, G_error, R_error, _ = errors
    return RelativeStability(D, G, R, D_error, G_error, R_error, V, points=n, draws=len(deformed))


def without_scale(error: NoScaleError, points: int, draws: int) -> RelativeStability:
    """What takes the place of a stability that cannot be told: NaN, with the scale as it is."""
    nan = torch.full_like(error.scale, torch.nan)
    return RelativeStability(nan, nan, nan, nan, nan, nan, error.scale, points, draws)


def _center(values: Tensor, statistic: str) -> Tensor:
    return values.mean(-1) if statistic == "mean" else values.median(-1).values


@dataclass(frozen=True)
class LogAverage:
    """A geometric mean with its standard error, both of the logarithm."""

    value: float
    log_error: float  # standard error of log value: a relative error; NaN for one network


def log_average(values: Tensor) -> LogAverage:
    """The geometric mean over networks, with the standard error of the logarithm.

    As stabilities of several networks are averaged in [Petrini 2021, sec. 3].

    >>> log_average(torch.tensor([0.1, 0.4], dtype=torch.float64))
    LogAverage(value=0.2, log_error=0.693147180559945...)
    """
    instance("values", values, Tensor, "a tensor of positive numbers")
    if values.ndim != 1 or not len(values) or not bool((values > 0).all()):
        raise ValueError(f"values must be positive numbers (networks,), got {shown(values)}")
    logs = values.double().log()
    error = float(logs.std() / len(logs) ** 0.5) if len(logs) > 1 else float("nan")
    return LogAverage(float(logs.mean().exp()), error)
