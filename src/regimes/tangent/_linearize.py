"""The first-order model of a network, as a module that trains like any other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from enum import StrEnum
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import jvp
from torch.nn.modules.batchnorm import _BatchNorm

from regimes._adapter import as_tensor, check_pick, one_tensor
from regimes._copied import copied, inside
from regimes._functional import functional_call
from regimes._random import generator
from regimes.tangent._linear_map import LinearMap, Tensors
from regimes.tangent._operations import plain_operations

# relative; looser than rounding, because networks may compute in float32 inside
_AGREEMENT, _AGREEMENT_LOW = {torch.float64: 1e-5}, 1e-3


class Way(StrEnum):
    """How the product with a direction is found, and how its gradient."""

    FORWARD = "forward mode, differentiated again"
    PAIRED = "forward mode, with the gradient from a backward pass"
    BACKWARD = "the derivative of a backward pass"


class LinearizedModel(nn.Module):
    """f^(x) = f_a(x) + <theta - theta_a, grad f_a(x)>, or the second term alone.

    [Ortiz-Jimenez 2021, eq. 1]. One forward-mode product per batch, no Jacobian stored. The
    gradient with respect to theta is grad f_a(x) whatever theta is. Batch norm and dropout are
    frozen in evaluation mode, so samples do not interact (app. B there).

    Where forward mode has no rule for an operation (fused recurrences, functions of one's own), or
    disagrees with the gradient that training sees (the padding of an embedding, hooks), the product
    or its gradient comes from backward passes; the first call outside of `torch.func` finds out.
    Such a model trains with any optimiser, but the transforms of `torch.func`, and with them
    `gradient_flow`, do not take it.

    Build it with `linearize`. The parameters are those of `theta`, by the network's own names; the
    anchor and, where it differs, the origin are buffers, so `state_dict` holds the whole model.
    """

    def __init__(
        self,
        network: nn.Module,
        anchor: Mapping[str, Tensor] | None,
        origin: Mapping[str, Tensor] | None,
        biased: bool,
        reset_statistics: bool,
        output: Callable[[Any], Any] | None,
    ) -> None:
        super().__init__()
        trainable = [name for name, p in network.named_parameters() if p.requires_grad]
        if not trainable:
            raise ValueError("the network has no trainable parameter to linearise in")
        self.biased = biased
        code, cut = _standing(network, anchor, "anchor")
        if reset_statistics:
            for child in code.modules():
                if isinstance(child, _BatchNorm):
                    child.reset_running_stats()
        self.theta, _ = _standing(network, anchor if origin is None else origin, "origin")
        buffers = {name: buffer.clone() for name, buffer in code.named_buffers()}
        parameters = {name: p.detach() for name, p in code.named_parameters()}
        self.anchor = Kept(parameters | buffers, buffers.keys() - code.state_dict().keys())
        self.origin = None
        if origin is not None:
            theta = dict(self.theta.named_parameters())
            self.origin = Kept({name: theta[name].detach().clone() for name in trainable})
        for name, parameter in [*code.named_parameters(), *self.theta.named_parameters()]:
            parameter.requires_grad_(name in trainable)
        self._trainable, self._output = trainable, output
        # what runs: it stands at the anchor, and is no part of the model's parameters and modules
        self._code, self._cut = (code,), cut
        self._way: Way | None = None

    def displacement(self) -> dict[str, Tensor]:
        """Theta minus the point that the linear term is measured from, by parameter."""
        base = self.anchor if self.biased or self.origin is None else self.origin
        start, theta = base.tensors(), dict(self.theta.named_parameters())
        return {name: theta[name] - start[name] for name in self._trainable}

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        """Outputs of the linear model, with the network's own calling convention and axes.

        Arrays among the inputs become tensors, their floats in the precision of theta.
        """
        moved = self.displacement()
        first = next(iter(moved.values()))
        place = (first.dtype.to_real(), first.device)
        args = tuple(as_tensor(each, *place) for each in args)
        kwargs = {name: as_tensor(each, *place) for name, each in kwargs.items()}
        with plain_operations(self._code[0]):
            if not _inside_transform():
                self._way = self._way or self._agreeing_way(args, kwargs)
                value, change = self._product(self._way, moved, args, kwargs)
            else:
                value, change = self._transformed(moved, args, kwargs)
        return value + change if self.biased else change

    def _transformed(self, direction: Tensors, args: Any, kwargs: Any) -> tuple[Tensor, Tensor]:
        """The product inside a transform of `torch.func`, which only forward mode lets through."""
        reason = f"the product is found by {self._way}"
        if self._way in (None, Way.FORWARD):
            try:
                return self._forwards(direction, args, kwargs)
            except (NotImplementedError, RuntimeError) as error:
                reason = str(error).splitlines()[0]
        raise ValueError(
            f"the linear model of {type(self._code[0]).__name__} cannot go through torch.func, and "
            f"so not through gradient_flow or descend: no forward mode ({reason}); train it with "
            "an optimiser of torch"
        )

    def _product(
        self, way: Way, direction: Tensors, args: Any, kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """The output at the anchor and its derivative along a direction."""
        if way == Way.FORWARD:
            return self._forwards(direction, args, kwargs)
        push = None
        if way == Way.PAIRED:

            def push(u: Tensors) -> Tensor:
                return self._forwards(u, args, kwargs)[1]

        around = self._around_anchor(args, kwargs, push)
        return around.output.detach(), around.along(direction)

    def _forwards(self, direction: Tensors, args: Any, kwargs: Any) -> tuple[Tensor, Tensor]:
        """Both in one pass of forward mode."""
        anchors = self.anchor.tensors()
        at = {name: anchors[name] for name in direction}
        (code,) = self._code

        def network(parameters: Tensors) -> Tensor:
            # clones, because a network may write to its buffers
            fixed = {name: t.clone() for name, t in anchors.items() if name not in at}
            return one_tensor(functional_call(code, fixed | parameters, args, kwargs), self._output)

        return jvp(network, (at,), (direction,))  # type: ignore[return-value]

    def _around_anchor(
        self, args: Any, kwargs: Any, push: Callable[[Tensors], Tensor] | None = None
    ) -> LinearMap:
        (code,) = self._code
        anchors = self.anchor.tensors()
        for name, parameter in code.named_parameters():
            parameter.data = anchors[name].detach()
        for name, buffer in code.named_buffers():  # it may write to them, and starts anew
            buffer.data = anchors[name].clone()
        leaves: Tensors = {name: p for name, p in code.named_parameters() if p.requires_grad}
        with torch.enable_grad():
            return LinearMap(one_tensor(code(*args, **kwargs), self._output), leaves, push)

    def _agreeing_way(self, args: Any, kwargs: Any) -> Way:
        """The first way whose product and gradient are those of the backward pass that trains.

        Raises:
            ValueError: none is.
        """
        around = self._around_anchor(args, kwargs)
        (code,) = self._code
        if self._cut and any(
            gradient is not None
            for gradient in torch.autograd.grad(
                around.output.sum(), self._cut, retain_graph=True, allow_unused=True
            )
        ):
            raise ValueError(
                f"{type(code).__name__} cannot be linearised: it uses a tensor computed from "
                "its parameters before the pass; compute it in forward"
            )
        draws = generator(0, "tangent/linearize")
        u = {name: _normal_like(p, draws) for name, p in around.parameters.items()}
        v = _normal_like(around.output, draws)
        true = around.pull(v)
        size = _norm(true.values())
        along = sum(_dot(u[name], g) for name, g in true.items())
        tolerance = _AGREEMENT.get(v.dtype, _AGREEMENT_LOW)
        reason = ""
        for way in Way:
            leaves = {name: each.clone().requires_grad_() for name, each in u.items()}
            try:
                with torch.enable_grad():
                    found = self._product(way, leaves, args, kwargs)[1]
                pulled = torch.autograd.grad(found, list(leaves.values()), v, allow_unused=True)
            except (NotImplementedError, RuntimeError) as error:
                reason = str(error).splitlines()[0]  # torch has no rule, or cannot call it so
                continue
            reason = "it disagrees with the gradient"
            gaps = [
                b if a is None else a.to_dense() - b
                for a, b in zip(pulled, true.values(), strict=True)
            ]
            scale = max(float(found.detach().norm()), abs(along))
            product_agrees = abs(_dot(v, found.detach()) - along) <= tolerance * scale
            if product_agrees and _norm(gaps) <= tolerance * size:
                return way
        raise ValueError(
            f"{type(code).__name__} cannot be linearised: its derivative along a direction was "
            f"sought in forward mode and by a second backward pass, and {reason}"
        )

    def extra_repr(self) -> str:
        """Whether the network's own output at the anchor is added."""
        count = sum(p.numel() for p in self.theta.parameters() if p.requires_grad)
        return f"biased={self.biased}, {count:,} trainable parameters"


class Kept(nn.Module):
    """Tensors of a network as buffers of the same names, in modules named like its own."""

    def __init__(self, tensors: Tensors, transient: Collection[str] = ()) -> None:
        super().__init__()
        for name, tensor in tensors.items():
            *path, last = name.split(".")
            place: nn.Module = self
            for part in path:
                if part not in place._modules:
                    place.add_module(part, nn.Module())
                place = place.get_submodule(part)
            place.register_buffer(last, tensor, persistent=name not in transient)

    def tensors(self) -> Tensors:
        """All of them by the network's own names."""
        return dict(self.named_buffers(remove_duplicate=False))


def linearize(
    network: nn.Module,
    *,
    anchor: Mapping[str, Tensor] | None = None,
    origin: Mapping[str, Tensor] | None = None,
    biased: bool = True,
    reset_statistics: bool = False,
    output: Callable[[Any], Any] | None = None,
) -> LinearizedModel:
    """The trainable first-order model of `network` [Ortiz-Jimenez 2021, eq. 1].

    Args:
        network: any module; it is copied.
        anchor: parameters (a state_dict) where the gradient is taken; None: the current ones.
        origin: parameters that theta starts from and, for the unbiased model, that its
            displacement is measured from; None: the anchor. `anchor=solution, origin=init,
            biased=False` is the trained-kernel model of [Ortiz-Jimenez 2021, sec. 4.3].
        biased: add the network's output at the anchor.
        reset_statistics: set batch-norm statistics to mean 0 and variance 1 first, as the
            paper's programs do when they anchor at a trained checkpoint.
        output: from what the network returns to the tensor that is meant, such as
            `lambda o: o.logits`; None where it is or holds only one (of floats, with axes). The
            model returns that tensor.

    Example:
        >>> import torch
        >>> net = nn.Linear(3, 2)
        >>> lin = linearize(net)
        >>> x = torch.ones(4, 3)
        >>> torch.allclose(lin(x), net(x))  # equal at the anchor; here everywhere, f is linear
        True
        >>> [name for name, _ in lin.named_parameters()]
        ['theta.weight', 'theta.bias']
    """
    if not isinstance(network, nn.Module):
        raise ValueError(f"expected a torch.nn.Module, got {type(network).__name__}")
    network, output = inside(network), check_pick(output)
    return LinearizedModel(network, anchor, origin, biased, reset_statistics, output)


def _standing(
    network: nn.Module, state: Mapping[str, Tensor] | None, what: str
) -> tuple[nn.Module, list[Tensor]]:
    """A copy of the network, in evaluation mode, at the given state; and what it was cut off."""
    placed, cut = copied(network)
    if state is not None:
        try:
            placed.load_state_dict(dict(state), strict=False)
        except RuntimeError as error:
            raise ValueError(f"the {what} does not fit the network: {error}") from error
        names = {name for name, _ in network.named_parameters()}
        missing = sorted(names - set(state))
        unknown = sorted(set(state) - set(network.state_dict()))
        if missing or unknown:
            raise ValueError(
                f"the {what} must hold the network's parameters: missing {missing}, unknown "
                f"{unknown}; pass a state_dict of the same network"
            )
    return placed.eval(), cut


def _normal_like(t: Tensor, draws: torch.Generator) -> Tensor:
    wide = torch.complex128 if t.is_complex() else torch.float64
    return torch.randn(t.shape, generator=draws, dtype=wide).to(t)


def _norm(tensors: Iterable[Tensor]) -> float:
    return float(torch.stack([t.norm().double() for t in tensors]).norm())


def _dot(a: Tensor, b: Tensor) -> float:
    """Sum of products in double precision, of complex numbers as pairs of real ones."""
    if a.is_complex():
        a, b = torch.view_as_real(a), torch.view_as_real(b)
    return float(torch.dot(a.flatten().double(), b.flatten().double()))


def _inside_transform() -> bool:
    """Whether a transform of `torch.func` is tracing us, so that no number can be looked at."""
    return torch._C._functorch.peek_interpreter_stack() is not None
