"""Losses of a prediction and their derivatives (docs/themes/regimes.md, "Losses")."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, cast, final

import torch
import torch.nn.functional as F
from torch import Tensor

from regimes._check import nearest_first, real, shown
from regimes.flow._slopes import slope_of

_NO_SLOPE = (
    "the loss {!r} cannot be differentiated: it leaves torch on the way; write it in torch, or "
    "give an object with value and derivative (flow.Loss)"
)
_LINEAR_FROM = 40.0  # softplus is the identity to rounding beyond this


class Loss(Protocol):
    """What a vector field needs of a loss; predictions are (m, n, c), labels (m or 1, n)."""

    @property
    def name(self) -> str:
        """How it is called, with its options."""
        ...

    @property
    def margin(self) -> float | None:
        """A point counts as fitted from this margin on; None where a loss knows no such point."""
        ...

    @property
    def smooth(self) -> bool:
        """Whether its derivative is continuous; the hinge's jumps at the margin."""
        ...

    def check(self, y: Tensor, outputs: int) -> None:
        """Raise a ValueError unless the labels suit the loss and the number of outputs."""
        ...

    def value(self, predictions: Tensor, y: Tensor) -> Tensor:
        """Loss of every point, (m, n)."""
        ...

    def derivative(self, predictions: Tensor, y: Tensor) -> Tensor:
        """Its derivative by the predictions, (m, n, c)."""
        ...

    def margins(self, predictions: Tensor, y: Tensor) -> Tensor:
        """How far every point is on the right side, (m, n)."""
        ...


LossLike = str | Loss | Callable[[Tensor, Tensor], Tensor]


@final
@dataclass(frozen=True)
class MarginLoss:
    """`l(F, y) = phi(t F)`, for labels y = t = +-1 or, with c > 1 outputs, averaged over classes.

    With c outputs and class labels, t_k is +1 for the true class and -1 otherwise and the loss is
    `(1/c) sum_k phi(t_k F_k)` as in [Geiger 2019, eq. 10]. The slope of phi is found by automatic
    differentiation where it is None; where it is given, runs compare the two before they begin.
    """

    name: str
    phi: Callable[[Tensor], Tensor]
    slope: Callable[[Tensor], Tensor] | None
    margin: float | None
    smooth: bool = True

    def check(self, y: Tensor, outputs: int) -> None:
        """Labels +-1 for one output, class indices below c for several."""
        if outputs == 1:
            _signs(self.name, y)
        else:
            _classes(self.name, y, outputs)

    def value(self, predictions: Tensor, y: Tensor) -> Tensor:
        """Loss of every point."""
        return self.value_and_margins(predictions, y)[0]

    def value_and_margins(self, predictions: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Both, which share `t F`."""
        m = _targets(predictions, y) * predictions
        values = self.phi(m)
        if m.shape[-1] == 1:
            return values.squeeze(-1), m.squeeze(-1)
        return values.mean(-1), m.amin(-1)

    def derivative(self, predictions: Tensor, y: Tensor) -> Tensor:
        """Its derivative by the predictions."""
        t, outputs = _targets(predictions, y), predictions.shape[-1]
        m = t * predictions
        slope = slope_of(self.phi, m) if self.slope is None else self.slope(m)
        if slope is None:
            raise ValueError(_NO_SLOPE.format(self.name))
        derivative = t * slope
        return derivative if outputs == 1 else derivative / outputs

    def margins(self, predictions: Tensor, y: Tensor) -> Tensor:
        """The smallest `t_k F_k` of every point."""
        margins = _targets(predictions, y) * predictions
        return margins.squeeze(-1) if margins.shape[-1] == 1 else margins.amin(-1)


@final
@dataclass(frozen=True)
class FunctionLoss:
    """A loss from a plain function `l(F, y)`, its derivative found by automatic differentiation.

    With one output F and y are both (m, n), so that a formula is written as on paper; with several
    F is (m, n, c). The function returns the loss of every point, (m, n), without a mean.

    Attributes:
        function: l.
        margin: a point counts as fitted from this `y F` on; None where there is no such point.
        smooth: False where its derivative jumps, which takes the tolerances of the hinge.
        name: how it is called.

    >>> loss = FunctionLoss(lambda F, y: (1 - y * F).clamp_min(0) ** 3, margin=1.0)
    >>> loss.derivative(torch.tensor([[[0.0], [2.0]]]), torch.tensor([[1.0, 1.0]])).flatten()
    tensor([-3., -0.])
    """

    function: Callable[[Tensor, Tensor], Tensor]
    margin: float | None = None
    smooth: bool = True
    name: str = "own"

    def check(self, y: Tensor, outputs: int) -> None:
        """Any labels: the function knows which."""

    def value(self, predictions: Tensor, y: Tensor) -> Tensor:
        """Loss of every point."""
        single = predictions.shape[-1] == 1
        points = predictions.shape[:-1]
        labels = y if y.ndim == 3 else y.expand(points)
        found = self.function(predictions.squeeze(-1) if single else predictions, labels)
        if not isinstance(found, Tensor) or found.shape != points:
            shape = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
            raise ValueError(
                f"the loss {self.name!r} must return the loss of every point, {tuple(points)} for "
                f"F of shape {tuple(points) if single else tuple(predictions.shape)}, got {shape}; "
                "take no mean over points, the flow does"
            )
        return found

    def derivative(self, predictions: Tensor, y: Tensor) -> Tensor:
        """Its derivative by the predictions."""
        found = slope_of(lambda at: self.value(at, y), predictions)
        if found is None:
            raise ValueError(_NO_SLOPE.format(self.name))
        return found

    def margins(self, predictions: Tensor, y: Tensor) -> Tensor:
        """`y F`, or with class labels true-class output minus the largest other."""
        classes = predictions.shape[-1] > 1 and not y.is_floating_point()
        return (CrossEntropy() if classes else MeanSquare()).margins(predictions, y)


@final
@dataclass(frozen=True)
class CrossEntropy:
    """`-log softmax(F)_y` for class labels; margins are `F_y - max of the others`."""

    name: str = "cross_entropy"
    margin: float | None = None
    smooth: bool = True

    def check(self, y: Tensor, outputs: int) -> None:
        """Class indices below the number of outputs."""
        _classes(self.name, y, outputs)

    def value(self, predictions: Tensor, y: Tensor) -> Tensor:
        """Loss of every point."""
        logs = F.log_softmax(predictions, -1)
        return -logs.gather(-1, _index(predictions, y)).squeeze(-1)

    def derivative(self, predictions: Tensor, y: Tensor) -> Tensor:
        """`softmax(F) - onehot(y)`."""
        index = _index(predictions, y)
        return predictions.softmax(-1).scatter_add(
            -1, index, predictions.new_full((), -1.0).expand(index.shape)
        )

    def margins(self, predictions: Tensor, y: Tensor) -> Tensor:
        """True-class output minus the largest other."""
        index = _index(predictions, y)
        others = predictions.scatter(-1, index, -torch.inf).amax(-1)
        return predictions.gather(-1, index).squeeze(-1) - others


@final
@dataclass(frozen=True)
class MeanSquare:
    """`(1/2) |F - y|^2` for real targets (n,) or (n, c)."""

    name: str = "mse"
    margin: float | None = None
    smooth: bool = True

    def check(self, y: Tensor, outputs: int) -> None:
        """Real targets, one an output."""
        if not y.is_floating_point() or (outputs > 1 and y.shape[-1] != outputs):
            raise ValueError(
                f"the mean square needs real targets of shape (n,) or (n, {outputs}), "
                f"got {y.dtype} of shape {tuple(y.shape[1:])}"
            )

    def value(self, predictions: Tensor, y: Tensor) -> Tensor:
        """Loss of every point."""
        return 0.5 * self.derivative(predictions, y).square().sum(-1)

    def derivative(self, predictions: Tensor, y: Tensor) -> Tensor:
        """`F - y`."""
        return predictions - (y if y.ndim == 3 else y.unsqueeze(-1))

    def margins(self, predictions: Tensor, y: Tensor) -> Tensor:
        """`y F` of the first output, so that a sign counts as right."""
        return (predictions * (y if y.ndim == 3 else y.unsqueeze(-1))).amin(-1)


def hinge(margin: float = 1.0) -> MarginLoss:
    """`max(0, margin - m)` [Geiger 2020, sec. 2].

    >>> loss = hinge()
    >>> loss.value(torch.tensor([[[0.25], [2.0]]]), torch.tensor([[1.0, 1.0]]))
    tensor([[0.7500, 0.0000]])
    """
    at = real("margin", margin)
    return MarginLoss(
        _named("hinge", margin=at),
        lambda m: (at - m).relu(),
        lambda m: -(m < at).to(m.dtype),
        at,
        smooth=False,
    )


def quadratic_hinge(margin: float = 1.0, *, half: bool = True) -> MarginLoss:
    """`(1/2) max(0, margin - m)^2` [Geiger 2019, eq. 9], or without the half."""
    at, factor = real("margin", margin), 0.5 if half else 1.0
    return MarginLoss(
        _named("qhinge", margin=at) + ("" if half else ", no half"),
        lambda m: factor * (at - m).relu().square(),
        lambda m: -2 * factor * (at - m).relu(),
        at,
    )


def soft_hinge(beta: float = 20.0, margin: float = 1.0) -> MarginLoss:
    """`ln(1 + e^{beta (margin - m)}) / beta` [Geiger 2020, sec. 2].

    It lies above the hinge by at most ln 2/beta.
    """
    at, b = real("margin", margin), real("beta", beta, above=0)
    return MarginLoss(
        _named(f"softhinge_{b:g}", margin=at),
        lambda m: F.softplus(at - m, beta=b, threshold=_LINEAR_FROM),
        lambda m: -torch.sigmoid(b * (at - m)),
        at,
    )


def binary_cross_entropy() -> MarginLoss:
    """`ln(1 + e^{-m})` for labels +-1 [Geiger 2021b, eq. 8]."""
    return MarginLoss(
        "cross_entropy",
        lambda m: F.softplus(-m, threshold=_LINEAR_FROM),
        lambda m: -torch.sigmoid(-m),
        None,
    )


_PLAIN: dict[str, Callable[[], Loss]] = {
    "hinge": hinge,
    "qhinge": quadratic_hinge,
    "softhinge": soft_hinge,
    "mse": MeanSquare,
}
_SOFT = re.compile(r"softhinge_(\d+(?:\.\d+)?(?:e[+-]?\d+)?)")


def value_and_margins(loss: Loss, predictions: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Losses and margins of every point, (m, n) each, with what they share done once."""
    if isinstance(loss, MarginLoss):
        return loss.value_and_margins(predictions, y)
    return loss.value(predictions, y), loss.margins(predictions, y)


def resolve_loss(loss: LossLike, outputs: int) -> Loss:
    """The loss with a name: hinge, qhinge, softhinge_<beta>, cross_entropy, mse; or of a function.

    "cross_entropy" is the binary form for one output and the softmax for several.
    """
    if isinstance(loss, str):
        return _named_loss(loss, outputs)
    if not isinstance(loss, type):
        if callable(getattr(loss, "value", None)) and callable(getattr(loss, "derivative", None)):
            return cast("Loss", loss)
        if callable(loss):
            return FunctionLoss(loss, name=getattr(loss, "__name__", type(loss).__name__))
    raise ValueError(f"loss must be a name, a Loss or a function l(F, y), got {shown(loss)}")


def _named_loss(loss: str, outputs: int) -> Loss:
    if loss == "cross_entropy":
        return binary_cross_entropy() if outputs == 1 else CrossEntropy()
    found = _SOFT.fullmatch(loss)
    if found:
        return soft_hinge(float(found[1]))
    if loss in _PLAIN:
        return _PLAIN[loss]()
    names = nearest_first(loss, loss_names())
    raise ValueError(f"unknown loss {loss!r}; use one of: {', '.join(names)}, a Loss or a function")


def loss_names() -> list[str]:
    """Names that every front door takes; softhinge_<beta> with any beta > 0."""
    return [*_PLAIN, "softhinge_20", "cross_entropy"]


def _named(name: str, margin: float) -> str:
    return name if margin == 1.0 else f"{name}(margin={margin:g})"


def _index(predictions: Tensor, y: Tensor) -> Tensor:
    return y.expand(predictions.shape[:-1]).unsqueeze(-1)


def _targets(predictions: Tensor, y: Tensor) -> Tensor:
    """+-1 for every output."""
    if predictions.shape[-1] == 1:
        return y.unsqueeze(-1)
    t = torch.full_like(predictions, -1.0)
    return t.scatter(-1, _index(predictions, y), 1.0)


def _signs(name: str, y: Tensor) -> None:
    if y.ndim != 2 or not y.is_floating_point() or not bool((y.abs() == 1).all()):
        found = sorted({f"{v:g}" for v in y.unique().tolist()})[:6]
        raise ValueError(
            f"{name} with one output needs labels +1 and -1 in floating point, got {y.dtype} with "
            f"values {', '.join(found)}, ...; transform them with data.parity() or data.binary(...)"
        )


def _classes(name: str, y: Tensor, outputs: int) -> None:
    if y.is_floating_point() or int(y.min()) < 0 or int(y.max()) >= outputs:
        raise ValueError(
            f"{name} with {outputs} outputs needs class indices 0..{outputs - 1} (int64), "
            f"got {y.dtype} from {y.min().item():g} to {y.max().item():g}"
        )
