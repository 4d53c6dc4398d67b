"""The network before and after training, as copies that stand still."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

from regimes._check import instance, shown
from regimes._copied import copied, inside
from regimes.diagnosis._watch import Watch

Fit = Callable[[nn.Module, Any], object]


def the_two(
    model: nn.Module, train: Any, before: nn.Module | None, fit: Fit | None, watch: Watch
) -> tuple[nn.Module | None, nn.Module, list[str]]:
    """Copies in evaluation mode, before (None where it is not known) and after; and warnings.

    Raises:
        ValueError: both `before` and `fit`, a `fit` that is no function, two architectures.
    """
    if before is not None and fit is not None:
        raise ValueError(
            "give before=, the network before it was trained, or fit=, which trains it; not both"
        )
    warnings = []
    if any(_mixes(child) and child.training for child in inside(model).modules()):
        warnings.append(
            "The network was in training mode, in which samples of a batch interact or are dropped "
            "at random; it was measured in evaluation mode."
        )
    if before is not None:
        instance("before", before, nn.Module, "a torch.nn.Module")
        _alike(before, model)
        device = next((p.device for p in model.parameters()), torch.device("cpu"))
        return _still(before).to(device), _still(model), warnings
    if fit is None:
        return None, _still(model), warnings
    if not callable(fit):
        raise ValueError(
            f"fit must be a function that trains a network in place, fit(network, train); "
            f"got {shown(fit)}"
        )
    first, (last, _) = _still(model), copied(inside(model))
    watch.say("training with fit")
    with watch.part("training"):
        fit(last.train(model.training), train)
    return first, _still(last), warnings


def displacement(first: nn.Module, last: nn.Module) -> dict[str, Tensor]:
    """What training did to each parameter that takes part in it."""
    start = dict(first.named_parameters())
    return {
        name: (p.detach() - start[name].detach()).to(p)
        for name, p in last.named_parameters()
        if p.requires_grad
    }


def _mixes(child: nn.Module) -> bool:
    return isinstance(child, _BatchNorm | _DropoutNd)


def _still(network: nn.Module) -> nn.Module:
    made, _ = copied(inside(network))
    return made.eval()


def _alike(before: nn.Module, after: nn.Module) -> None:
    """Raise where parameters differ in name, shape or whether they are trained."""
    first, last = (
        {name: (tuple(p.shape), p.requires_grad) for name, p in inside(each).named_parameters()}
        for each in (before, after)
    )
    if first == last:
        return
    names = [name for name in {**first, **last} if first.get(name) != last.get(name)]
    name = names[0]
    raise ValueError(
        f"before and model must be one architecture at two moments, but {len(names)} parameters "
        f"differ, first {name}: {_told(first.get(name))} before and {_told(last.get(name))} after"
    )


def _told(found: tuple[tuple[int, ...], bool] | None) -> str:
    if found is None:
        return "missing"
    return f"shape {found[0]}{'' if found[1] else ', frozen'}"
