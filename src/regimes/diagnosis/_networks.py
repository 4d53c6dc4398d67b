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
from regimes.data import Dataset
from regimes.diagnosis._watch import Watch

Fit = Callable[[nn.Module, Any], object]
_HALVES = (torch.float16, torch.bfloat16)


def the_two(
    model: nn.Module, before: nn.Module | None, trains: bool
) -> tuple[nn.Module | None, nn.Module, list[str]]:
    """Copies in evaluation mode, before (None where it is not known) and after; and warnings.

    With `trains` the model is the start, and both are its copies.

    Raises:
        ValueError: two architectures, parts on several devices, nothing trainable.
    """
    warnings = []
    if any(_mixes(child) and child.training for child in inside(model).modules()):
        warnings.append(
            "The network was in training mode, in which samples of a batch interact or are dropped "
            "at random; it was measured in evaluation mode."
        )
    devices = {str(p.device) for p in model.parameters()}
    if len(devices) > 1:
        raise ValueError(
            f"the network is spread over {' and '.join(sorted(devices))}; move it to one device "
            "with model.to(device)"
        )
    if not any(p.requires_grad for p in model.parameters()):
        raise ValueError(
            "no parameter of the network requires a gradient, so it has no tangent kernel; leave "
            "those that were trained unfrozen (requires_grad_(True))"
        )
    if any(p.dtype in _HALVES for p in model.parameters()):
        warnings.append(
            "The network computes in half precision; copies in single precision were measured."
        )
    if before is None:
        return (_still(model) if trains else None), _still(model), warnings
    instance("before", before, nn.Module, "a torch.nn.Module")
    _alike(before, model)
    device = next((p.device for p in model.parameters()), torch.device("cpu"))
    return _still(before).to(device), _still(model), warnings


def trained(model: nn.Module, train: Any, fit: Fit, watch: Watch) -> tuple[nn.Module, list[str]]:
    """A copy that `fit` has trained, in evaluation mode; what an interruption leaves is kept."""
    if not callable(fit):
        raise ValueError(
            f"fit must be a function that trains a network in place, fit(network, train); "
            f"got {shown(fit)}"
        )
    warnings = []
    watch.say("training")
    with watch.part("training"):
        try:
            fit(model, train)
        except KeyboardInterrupt:
            warnings.append("Training was interrupted: the network is as it was by then.")
        except (MemoryError, torch.OutOfMemoryError):
            raise  # says enough
        except Exception as error:  # of the user's function, whatever it is
            raise ValueError(
                f"fit(network, train) failed with {type(error).__name__}: {error}. Its train is "
                f"what was given to diagnose, here {_in_a_line(train)}; batches of a data set come "
                "from torch.utils.data.DataLoader(train, batch_size=32)"
            ) from error
    return _still(model), warnings


def _in_a_line(train: Any) -> str:
    return repr(train).splitlines()[0] if isinstance(train, Dataset) else shown(train)


def in_its_mode(model: nn.Module) -> nn.Module:
    """A copy to be trained, in the modes that the model is in."""
    return copied(inside(model))[0].train(model.training)


def calibrated(first: nn.Module, run: Callable[[nn.Module], object]) -> list[str]:
    """Give batch norms that saw no data the statistics of the probes; and a warning.

    As long as they hold their defaults, the network in evaluation mode is another function than
    the one that training began with.

    Args:
        first: the network before training.
        run: passes the probes through it.
    """
    unseen = [
        child
        for child in first.modules()
        if isinstance(child, _BatchNorm)
        and child.num_batches_tracked is not None
        and int(child.num_batches_tracked) == 0
    ]
    if not unseen:
        return []
    momenta = [child.momentum for child in unseen]
    for child in unseen:
        child.momentum = None  # a plain mean over what passes
        child.train()
    run(first)
    for child, momentum in zip(unseen, momenta, strict=True):
        child.momentum = momentum
        child.eval()
    return [
        "Batch norm had seen no data before training, so its statistics there were taken from the "
        "probes."
    ]


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
    if any(p.dtype in _HALVES for p in made.parameters()):
        made.float()
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
