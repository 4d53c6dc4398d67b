"""The first-order model of a network, as a module that trains like any other."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn
from torch.func import jvp
from torch.nn.modules.batchnorm import _BatchNorm

from regimes._functional import functional_call


class LinearizedModel(nn.Module):
    """f^(x) = f_a(x) + <theta - theta_a, grad f_a(x)>, or the second term alone.

    [Ortiz-Jimenez 2021, eq. 1]. One forward-mode product per batch, no Jacobian stored. The
    gradient with respect to theta is grad f_a(x) whatever theta is. Batch norm and dropout are
    frozen in evaluation mode, so samples do not interact (app. B there).

    Build it with `linearize`. Trainable parameters live in `theta`, with the network's own names;
    the anchor and, where it differs, the origin are kept frozen beside them, so `state_dict` holds
    the whole model.
    """

    def __init__(
        self,
        network: nn.Module,
        anchor: Mapping[str, Tensor] | None,
        origin: Mapping[str, Tensor] | None,
        biased: bool,
        reset_statistics: bool,
    ) -> None:
        super().__init__()
        trainable = [name for name, p in network.named_parameters() if p.requires_grad]
        if not trainable:
            raise ValueError("the network has no trainable parameter to linearise in")
        self.biased = biased
        self.anchor = _frozen(network, anchor, "anchor")
        start = self.anchor if origin is None else _frozen(network, origin, "origin")
        self.origin = start if origin is not None else None
        if reset_statistics:
            for child in self.anchor.modules():
                if isinstance(child, _BatchNorm):
                    child.reset_running_stats()
        self.theta = copy.deepcopy(start)
        for name, parameter in self.theta.named_parameters():
            parameter.requires_grad_(name in trainable)
        self._trainable = trainable

    def displacement(self) -> dict[str, Tensor]:
        """Theta minus the point that the linear term is measured from, by parameter."""
        base = self.anchor if self.biased or self.origin is None else self.origin
        at = dict(base.named_parameters())
        return {name: p - at[name] for name, p in self.theta.named_parameters() if p.requires_grad}

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        """Outputs of the linear model, with the network's own calling convention."""
        moved = self.displacement()
        anchors = dict(self.anchor.named_parameters())
        at = {name: anchors[name] for name in moved}

        def network(parameters: dict[str, Tensor]) -> Tensor:
            return functional_call(self.anchor, parameters, args, kwargs)

        value, change = jvp(network, (at,), (moved,))  # type: ignore[misc]
        return value + change if self.biased else change

    def train(self, mode: bool = True) -> LinearizedModel:
        """Set the mode of theta only: the anchor always runs in evaluation mode."""
        super().train(mode)
        self.anchor.eval()
        return self

    def extra_repr(self) -> str:
        """Whether the network's own output at the anchor is added."""
        count = sum(p.numel() for p in self.theta.parameters() if p.requires_grad)
        return f"biased={self.biased}, {count:,} trainable parameters"


def linearize(
    network: nn.Module,
    *,
    anchor: Mapping[str, Tensor] | None = None,
    origin: Mapping[str, Tensor] | None = None,
    biased: bool = True,
    reset_statistics: bool = False,
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

    Example:
        >>> import torch
        >>> net = nn.Linear(3, 2)
        >>> lin = linearize(net)
        >>> x = torch.ones(4, 3)
        >>> torch.allclose(lin(x), net(x))  # equal at the anchor; here everywhere, f is linear
        True
    """
    if not isinstance(network, nn.Module):
        raise ValueError(f"expected a torch.nn.Module, got {type(network).__name__}")
    return LinearizedModel(network, anchor, origin, biased, reset_statistics)


def _frozen(network: nn.Module, state: Mapping[str, Tensor] | None, what: str) -> nn.Module:
    frozen = copy.deepcopy(network)
    if state is not None:
        try:
            frozen.load_state_dict(dict(state), strict=False)
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
    return frozen.eval().requires_grad_(False)
