"""How far the decision boundary of a network lies from that of the mean of many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes.measure._kernel import check_tensor

_FLAT = 1e-6  # of the mean gradient: below it a point lies where the output is constant


@dataclass(frozen=True, eq=False)
class BoundaryDistance:
    """Distances of R boundaries from that of the mean."""

    pointwise: Tensor  # (R, n), delta_f(x)/|grad f(x)|; NaN where the output is flat
    typical: Tensor  # (R,), mean modulus where the signs disagree; NaN where none do
    overall: Tensor  # (R,), |delta_f|/|grad f|, norms over all points
    disagreeing: Tensor  # (R,), points that count in `typical`
    flat: Tensor  # (R,), points that were dropped


@dataclass(frozen=True, eq=False)
class LineProbe:
    """Where outputs vanish along lines, in units of the predicted distance."""

    ratio: Tensor  # (n,), NaN where no zero was met
    quartiles: tuple[float, float, float]  # of the ratios that are there; NaN without any
    missed: float  # share of the lines without a zero


def boundary_distance(
    F: Tensor, gradient: Tensor, *, center: Tensor | None = None
) -> BoundaryDistance:
    """`delta(x) = (f(x) - f_bar(x))/|grad f(x)|`, and two numbers for all points.

    The typical distance is the mean of |delta(x)| over points at which f and f_bar differ in sign
    [Geiger 2020b, eq. 3]; the overall estimate is `|f - f_bar|/|grad f|` with norms over points.

    Args:
        F: outputs (R, n).
        gradient: norms of their gradients by the inputs, (R, n).
        center: f_bar, (n,); None for the mean over R.

    >>> F = torch.tensor([[1.0, -0.5], [3.0, 1.5]])
    >>> found = boundary_distance(F, torch.ones(2, 2))
    >>> found.typical, found.overall, found.disagreeing
    (tensor([1., nan]), tensor([1., 1.]), tensor([1, 0]))
    """
    F, gradient = check_tensor("F", F), check_tensor("gradient", gradient)
    if F.ndim != 2 or gradient.shape != F.shape or bool((gradient < 0).any()):
        raise ValueError(
            "F must have shape (R, n) and gradient be norms of the same shape, got "
            f"{tuple(F.shape)} and {tuple(gradient.shape)}"
        )
    middle = F.mean(0) if center is None else check_tensor("center", center)
    if middle.shape != F.shape[1:]:
        raise ValueError(f"center must have shape ({F.shape[1]},), got {tuple(middle.shape)}")
    apart, steep = F - middle, gradient > _FLAT * gradient.mean(1, keepdim=True)
    pointwise = torch.where(steep, apart / torch.where(steep, gradient, 1.0), torch.nan)
    counted = steep & ((F > 0) != (middle > 0))
    total = pointwise.abs().where(counted, 0.0).sum(1)
    return BoundaryDistance(
        pointwise,
        total / counted.sum(1),
        apart.square().mean(1).sqrt() / gradient.square().mean(1).sqrt(),
        counted.sum(1),
        (~steep).sum(1),
    )


def line_probe(
    function: Callable[[Tensor], Tensor],
    x: Tensor,
    gradient: Tensor,
    distance: Tensor,
    *,
    furthest: float = 3.0,
    steps: int = 60,
) -> LineProbe:
    """First zero of `s -> f(x - s grad f/|grad f|)`, over a predicted one [Geiger 2020b, fig. 9].

    For the boundary of f itself the prediction is `f(x)/|grad f(x)|`; the printed figure takes
    `(f - f_bar)/|grad f|`, which holds where f_bar is near 0.

    Args:
        function: from points (m, d) to outputs (m,) or (m, 1).
        x: points (n, d).
        gradient: of the output there, (n, d).
        distance: predicted s of the crossing, (n,), of either sign.
        furthest: lines end at so many times the prediction.
        steps: of a line.

    >>> x = torch.tensor([[3.0, 0.0], [0.0, 2.0]])
    >>> probe = line_probe(lambda p: p[:, 0] - 1, x, torch.tensor([[1.0, 0.0]] * 2),
    ...                    torch.tensor([2.0, -0.5]))
    >>> probe.ratio, probe.missed
    (tensor([1., 2.]), 0.0)
    """
    x, gradient = check_tensor("x", x), check_tensor("gradient", gradient)
    distance = check_tensor("distance", distance)
    if x.ndim != 2 or gradient.shape != x.shape or distance.shape != x.shape[:1]:
        raise ValueError(
            "x and gradient must have shape (n, d) and distance (n,), got "
            f"{tuple(x.shape)}, {tuple(gradient.shape)} and {tuple(distance.shape)}"
        )
    norm = gradient.norm(dim=1, keepdim=True)
    if not bool((norm > 0).all()):
        raise ValueError("the gradient is zero at some points; leave those out")
    count = positive_int("steps", steps)
    places = torch.linspace(0, real("furthest", furthest, above=0.0), count + 1).to(x)
    walks = x - places[:, None, None] * distance[:, None] * gradient / norm  # (steps + 1, n, d)
    found = function(walks.flatten(0, 1))
    if not isinstance(found, Tensor) or found.numel() != walks[..., 0].numel():
        raise ValueError("function must return one output for each point")
    values = found.reshape(count + 1, len(x))
    before, after = values[:-1], values[1:]
    crosses = (before > 0) != (after > 0)
    first = crosses.to(torch.uint8).argmax(0, keepdim=True)
    low, high = before.gather(0, first)[0], after.gather(0, first)[0]
    met = crosses.any(0)
    inside = low / torch.where(met, low - high, 1.0)
    ratio = torch.where(met, places[first[0]] + inside * places[1], torch.nan)
    three = [float(ratio[met].double().quantile(q)) if met.any() else torch.nan for q in _QUARTERS]
    return LineProbe(ratio, (three[0], three[1], three[2]), float((~met).double().mean()))


_QUARTERS = (0.25, 0.5, 0.75)
