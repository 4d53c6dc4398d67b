"""The observer as a callback of a Lightning trainer."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from torch import nn

from regimes.observe._observer import KernelObserver
from regimes.observe._record import Record


def lightning_callback(
    probes: Mapping[str, tuple[Any, Any]] | tuple[Any, Any],
    *,
    network: str | None = None,
    **options: Any,
) -> Any:
    """A callback for `Trainer(callbacks=[...])` that observes while it trains.

    After training `callback.record` is the `Record`. The trainer's device is used: probes follow
    the network. Needs the extra `lightning`, or the package `pytorch_lightning`.

    Args:
        probes: as for `KernelObserver`.
        network: name of the module's attribute that is the network, such as "net"; None: the module
            itself, which then must map points to outputs.
        **options: more of `KernelObserver`.
    """
    base: Any = _callback_class()

    class LightningObserver(base):
        """Calls a `KernelObserver` after every batch that took a step of the optimiser."""

        record: Record | None = None

        def __init__(self) -> None:
            super().__init__()
            self._watch: KernelObserver | None = None
            self._steps = 0

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            """The start of the fit, with weights on their device."""
            watched = _network_of(pl_module, network)
            with _without_trainer(pl_module):
                self._watch = KernelObserver(watched, probes, **options)
            self._steps = trainer.global_step

        def on_train_batch_end(self, trainer: Any, *_: Any) -> None:
            """A batch may end without a step, where gradients are accumulated."""
            if self._watch is not None and trainer.global_step > self._steps:
                self._steps = trainer.global_step
                self._watch.step()

        def on_train_end(self, trainer: Any, pl_module: Any) -> None:
            """The last step."""
            if self._watch is not None:
                self.record = self._watch.finish()

    return LightningObserver()


class _without_trainer:  # noqa: N801 - reads as a statement
    """A module is copied without the trainer that holds it, and gets it back."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __enter__(self) -> None:
        self._held = {
            each: each._trainer for each in self._module.modules() if hasattr(each, "_trainer")
        }
        for each in self._held:
            each._trainer = None

    def __exit__(self, *_: object) -> None:
        for each, trainer in self._held.items():
            each._trainer = trainer


def _network_of(module: Any, name: str | None) -> nn.Module:
    if name is None:
        return module
    found = getattr(module, name, None)
    if not isinstance(found, nn.Module):
        modules = ", ".join(each for each, _ in module.named_children())
        raise ValueError(f"{type(module).__name__} has no module {name!r}; it has {modules}")
    return found


def _callback_class() -> type:
    for package in ("lightning.pytorch", "pytorch_lightning"):
        try:
            return importlib.import_module(package).Callback
        except ImportError:
            continue
    raise ValueError(
        "lightning_callback needs the package lightning: pip install 'regimes[lightning]'"
    )
