"""Losses of points as curvature needs them: sums, slopes l' and second derivatives l''.

Everything is found from the loss's values by differentiating twice, so that the built-in losses and
a user's plain function go the same way. At a kink torch's own rule decides: relu has slope 0 there.
So the hinge's l'' is 0 everywhere, and the square hinge's is 0 from its margin on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast, final

import torch
from torch import Tensor

from regimes._check import shown
from regimes.flow._losses import Loss, resolve_loss

LossLike = str | Loss | Callable[[Tensor, Tensor], Tensor]


@final
@dataclass(frozen=True)
class PointLoss:
    """A mean over points of l(f(x_i), y_i), in terms of the outputs F (n, c).

    Attributes:
        name: how it is called.
        of: from F and the labels of some points the values of l, (n,), or their sum.
    """

    name: str
    of: Callable[[Tensor, Any], Tensor]

    def total(self, F: Tensor, y: Any) -> Tensor:
        """Sum of l over these points, a scalar that autograd can differentiate twice."""
        return self.of(F, y).sum()

    def slopes(self, F: Tensor, y: Any) -> Tensor:
        """L' by the outputs, (n, c)."""
        with torch.enable_grad():
            leaf = F.detach().requires_grad_()
            return self._slopes(leaf, y).detach()

    def second(self, F: Tensor, y: Any) -> Tensor:
        """L'' by the outputs, (n, c, c)."""
        n, c = F.shape
        units = torch.eye(c, dtype=F.dtype, device=F.device)
        return self.second_times(F, y, units.expand(n, c, c))

    def second_times(self, F: Tensor, y: Any, U: Tensor) -> Tensor:
        """L'' U for directions U (n, c, k) in the space of outputs, (n, c, k)."""
        with torch.enable_grad():
            leaf = F.detach().requires_grad_()
            slopes = self._slopes(leaf, y)
            if not slopes.requires_grad:  # linear in F, piece by piece
                return torch.zeros_like(U)
            (found,) = torch.autograd.grad(
                slopes, leaf, U.movedim(-1, 0), is_grads_batched=True, materialize_grads=True
            )
        return found.movedim(0, -1).detach()

    def _slopes(self, leaf: Tensor, y: Any) -> Tensor:
        value = self.total(leaf, y)
        if not value.requires_grad:
            raise ValueError(
                f"the loss {self.name!r} does not depend on the outputs, or leaves torch on the "
                "way; write it in torch"
            )
        (slopes,) = torch.autograd.grad(value, leaf, create_graph=True)
        return slopes

    def check_mean(self, F: Tensor, y: Any, row: Callable[[int], Any]) -> None:
        """Refuse a function that is no mean of points, told from some points and each alone.

        Args:
            F: outputs of some points, (k, c).
            y: their labels.
            row: from a number below k to the labels of that point alone.
        """
        together = self.total(F, y)
        alone = torch.stack([self.total(F[i : i + 1], row(i)) for i in range(len(F))])
        if not torch.isfinite(together):
            raise ValueError(f"the loss {self.name!r} is {float(together)} at these outputs")
        if abs(float(together - alone.sum())) > 1e-3 * float(alone.abs().sum()):
            raise ValueError(
                f"the loss {self.name!r} is no mean over points: of {len(F)} points together it is "
                f"{float(together) / len(F):.4g}, their mean one by one {float(alone.mean()):.4g}"
                "; return the mean, or one value a point, without sums or shared weights"
            )


def point_loss(loss: LossLike, outputs: int, y: Any) -> PointLoss:
    """The loss with a name, a `flow.Loss`, or a plain function l(F, y), for labels y.

    A function gets outputs (n, c) and the labels as they are; with one output both are (n,), so
    that a formula is written as on paper. It returns their mean, as `torch.nn.functional` does, or
    the value of every point, (n,).

    Raises:
        ValueError: no such loss, or labels that do not suit it.

    >>> loss = point_loss("cross_entropy", 3, torch.tensor([0, 2]))
    >>> loss.slopes(torch.zeros(2, 3), torch.tensor([0, 2]))
    tensor([[-0.6667,  0.3333,  0.3333],
            [ 0.3333,  0.3333, -0.6667]])
    """
    named = isinstance(loss, str) or hasattr(loss, "value")
    if not named and (isinstance(loss, type) or not callable(loss)):
        raise ValueError(
            f"loss must be a name, a flow.Loss or a function l(F, y), got {shown(loss)}"
        )
    if named:
        known = resolve_loss(loss, outputs)
        if not isinstance(y, Tensor):
            raise ValueError(f"the loss {known.name!r} needs labels as one tensor, got {shown(y)}")
        known.check(_column(y, outputs)[None], outputs)
        return PointLoss(known.name, _Known(known))
    function = cast("Callable[[Tensor, Any], Tensor]", loss)
    return PointLoss(getattr(loss, "__name__", type(loss).__name__), _Plain(function))


@dataclass(frozen=True)
class _Known:
    """The values of a loss of the flow, whose predictions have an axis of members."""

    loss: Loss

    def __call__(self, F: Tensor, y: Tensor) -> Tensor:
        return self.loss.value(F[None], _column(y, F.shape[1])[None])[0]


@dataclass(frozen=True)
class _Plain:
    """A plain function that returns a mean, of which a sum is made, or one value a point."""

    function: Callable[[Tensor, Any], Tensor]

    def __call__(self, F: Tensor, y: Any) -> Tensor:
        n, c = F.shape
        outputs, labels = F[:, 0] if c == 1 else F, _column(y, c)
        try:
            found = self.function(outputs, labels)
        except torch.OutOfMemoryError:
            raise
        except (RuntimeError, TypeError, IndexError) as error:
            raise ValueError(
                f"the loss failed on outputs of shape {tuple(outputs.shape)} and labels "
                f"{shown(labels)}: {str(error).splitlines()[0] if str(error) else type(error)}"
            ) from error
        if isinstance(found, Tensor) and found.shape == ():
            return n * found
        if isinstance(found, Tensor) and found.shape == (n,):
            return found
        got = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
        raise ValueError(
            f"the loss must return the mean over points, a scalar, or one value a point, ({n},); "
            f"for outputs of shape {(n,) if c == 1 else (n, c)} it returned {got}"
        )


def _column(y: Any, outputs: int) -> Any:
    """Labels (n,) of one output, whichever of (n,) and (n, 1) they come as."""
    return y[:, 0] if outputs == 1 and isinstance(y, Tensor) and y.shape[1:] == (1,) else y
