"""The first-order model of a network, as a module that trains like any other."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import jvp
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.modules.batchnorm import _BatchNorm

from regimes._adapter import check_pick, one_tensor
from regimes._functional import functional_call
from regimes._random import generator
from regimes.tangent._linear_map import LinearMap
from regimes.tangent.network import copied

Tensors = dict[str, Tensor]


class LinearizedModel(nn.Module):
    """f^(x) = f_a(x) + <theta - theta_a, grad f_a(x)>, or the second term alone.

    Spec `linearization.md` 1.2 (eq. 1). One forward-mode product per batch, no Jacobian stored. The
    gradient with respect to theta is grad f_a(x) whatever theta is. Batch norm and dropout are
    frozen in evaluation mode, so samples do not interact (App. B there).

    Where an operation has no forward mode (fused recurrences, bags of embeddings, functions of
    one's own), or it disagrees with the gradient that training sees, the product is the derivative
    of the gradient's backward pass, and the first call finds out. Such a model trains with any
    optimiser, but the transforms of `torch.func`, and with them `gradient_flow`, do not take it.

    Build it with `linearize`. The parameters are those of `theta`, with the network's own names; the
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
        code = _standing(network, anchor, "anchor")
        if reset_statistics:
            for child in code.modules():
                if isinstance(child, _BatchNorm):
                    child.reset_running_stats()
        self.theta = _standing(network, anchor if origin is None else origin, "origin")
        self.anchor = Kept(code, [name for name, _ in code.named_parameters()])
        self.origin = None if origin is None else Kept(self.theta, trainable)
        for name, parameter in [*code.named_parameters(), *self.theta.named_parameters()]:
            parameter.requires_grad_(name in trainable)
        self._trainable, self._output = trainable, output
        # what runs: it stands at the anchor, and is no part of the model's parameters and modules
        self._code = (code,)
        self._forward_mode: bool | None = None

    def displacement(self) -> dict[str, Tensor]:
        """Theta minus the point that the linear term is measured from, by parameter."""
        base = self.anchor if self.biased or self.origin is None else self.origin
        start, theta = base.tensors(), dict(self.theta.named_parameters())
        return {name: theta[name] - start[name] for name in self._trainable}

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        """Outputs of the linear model, with the network's own calling convention and axes."""
        moved = self.displacement()
        # the fused attention kernels have neither a forward mode nor a second derivative
        with sdpa_kernel(SDPBackend.MATH), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "There is a performance drop")
            if self._forward_mode is None and not _inside_transform():
                self._forward_mode = self._forward_mode_agrees(args, kwargs)
            if self._forward_mode is False:
                around = self._linear_map(args, kwargs)
                value, change = around.value, around.along(moved)
            else:
                value, change = self._forwards(moved, args, kwargs)
        return value + change if self.biased else change

    def _forwards(self, moved: Tensors, args: Any, kwargs: Any) -> tuple[Tensor, Tensor]:
        """Output at the anchor and its derivative along a direction, in one pass."""
        anchors = self.anchor.tensors()
        at = {name: anchors[name] for name in moved}
        (code,) = self._code

        def network(parameters: Tensors) -> Tensor:
            # clones, because a network may write to its buffers
            fixed = {name: t.clone() for name, t in anchors.items() if name not in at}
            return one_tensor(functional_call(code, fixed | parameters, args, kwargs), self._output)

        return jvp(network, (at,), (moved,))  # type: ignore[misc, return-value]

    def _linear_map(self, args: Any, kwargs: Any) -> LinearMap:
        """The network around its anchor, by backward passes alone."""
        (code,) = self._code
        anchors = self.anchor.tensors()
        for name, parameter in code.named_parameters():
            parameter.data = anchors[name].detach()
        for name, buffer in code.named_buffers():  # it may write to them, and starts anew
            buffer.data = anchors[name].clone()
        parameters = {n: p for n, p in code.named_parameters() if n in self._trainable}
        with torch.enable_grad():
            return LinearMap(one_tensor(code(*args, **kwargs), self._output), parameters)

    def _forward_mode_agrees(self, args: Any, kwargs: Any) -> bool:
        """Whether v . (J u) by forward mode is u . (J^T v) by the backward pass that trains.

        Raises:
            ValueError: the derivative of the backward pass does not agree either.
        """
        (code,) = self._code
        around = self._linear_map(args, kwargs)
        draws = generator(0, "tangent/linearize")

        def like(t: Tensor) -> Tensor:
            wide = torch.complex128 if t.is_complex() else torch.float64
            return torch.randn(t.shape, generator=draws, dtype=wide).to(t)

        u = {name: like(p) for name, p in around.parameters.items()}
        v = like(around.value)
        true = sum(_dot(u[name], g) for name, g in around.pull(v).items())
        tolerance = 1e-9 if v.dtype == torch.float64 else 1e-3

        def agrees(found: Tensor) -> bool:
            found = found.detach()
            return abs(_dot(v, found) - true) <= tolerance * max(float(found.norm()), abs(true))

        try:
            if agrees(self._forwards(u, args, kwargs)[1]):
                return True
        except (NotImplementedError, RuntimeError):
            pass  # torch has no rule for an operation, or cannot call such a module as a function
        try:
            if agrees(around.along(u)):
                return False
            reason = "it does not agree with the gradient"
        except RuntimeError as error:
            reason = str(error).splitlines()[0]
        raise ValueError(
            f"{type(code).__name__} cannot be linearised: it has no derivative in forward mode, "
            f"and that of its backward pass fails: {reason}; TangentKernel(network) may still know "
            "its kernel"
        )

    def extra_repr(self) -> str:
        """Whether the network's own output at the anchor is added."""
        count = sum(p.numel() for p in self.theta.parameters() if p.requires_grad)
        return f"biased={self.biased}, {count:,} trainable parameters"


class Kept(nn.Module):
    """The tensors of a network as buffers of the same names, which share its memory."""

    def __init__(self, network: nn.Module, parameters: list[str]) -> None:
        super().__init__()
        saved = network.state_dict()
        named = dict(network.named_parameters())
        for name in parameters:
            self._keep(name, named[name].detach(), True)
        if len(parameters) == len(named):
            for name, buffer in network.named_buffers():
                self._keep(name, buffer.detach(), name in saved)

    def _keep(self, name: str, tensor: Tensor, persistent: bool) -> None:
        *path, last = name.split(".")
        place: nn.Module = self
        for part in path:
            if part not in dict(place.named_children()):
                place.add_module(part, nn.Module())
            place = place.get_submodule(part)
        place.register_buffer(last, tensor, persistent=persistent)

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
    """The trainable first-order model of `network` (spec `linearization.md` 1.2).

    Args:
        network: any module; it is copied.
        anchor: parameters (a state_dict) where the gradient is taken; None: the current ones.
        origin: parameters that theta starts from and, for the unbiased model, that its
            displacement is measured from; None: the anchor. `anchor=solution, origin=init,
            biased=False` is the trained-kernel model of the document's Sec 4.3.
        biased: add the network's output at the anchor.
        reset_statistics: set batch-norm statistics to mean 0 and variance 1 first, as the document
            does when it anchors at a trained checkpoint.
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
    network = getattr(network, "_orig_mod", network)  # what torch.compile wraps
    return LinearizedModel(network, anchor, origin, biased, reset_statistics, check_pick(output))


def _standing(network: nn.Module, state: Mapping[str, Tensor] | None, what: str) -> nn.Module:
    """A copy of the network, in evaluation mode, at the given state."""
    placed = copied(network)
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
    return placed.eval()


def _dot(a: Tensor, b: Tensor) -> float:
    """Sum of products in double precision, of complex numbers as pairs of real ones."""
    if a.is_complex():
        a, b = torch.view_as_real(a), torch.view_as_real(b)
    return float(torch.dot(a.flatten().double(), b.flatten().double()))


def _inside_transform() -> bool:
    """Whether a transform of `torch.func` is tracing us, so that no number can be looked at."""
    return torch._C._functorch.peek_interpreter_stack() is not None
