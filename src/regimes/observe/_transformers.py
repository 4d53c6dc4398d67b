"""The observer as a callback of a Hugging Face trainer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from regimes.observe._observer import KernelObserver
from regimes.observe._record import Record


def transformers_callback(
    probes: Mapping[str, tuple[Any, Any]] | tuple[Any, Any], **options: Any
) -> Any:
    """A callback for `transformers.Trainer(callbacks=[...])` that observes while it trains.

    After training `callback.record` is the `Record`. Inputs by name are a dict, as the model takes
    them: `{"train": ({"input_ids": ids, "attention_mask": mask}, labels)}`, and `output=lambda o:
    o.logits` says what the model's outputs are. Needs the package `transformers`.

    Args:
        probes: as for `KernelObserver`.
        **options: more of `KernelObserver`.
    """
    try:
        from transformers import TrainerCallback
    except ImportError as error:
        raise ValueError(
            "transformers_callback needs the package transformers: pip install transformers"
        ) from error

    class TransformersObserver(TrainerCallback):
        """Calls a `KernelObserver` after every step of the optimiser."""

        record: Record | None = None

        def __init__(self) -> None:
            self._watch: KernelObserver | None = None

        def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
            """The start, with weights on their device."""
            self._watch = KernelObserver(given["model"], probes, **options)

        def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
            """After a step of the optimiser, gradients accumulated or not."""
            if self._watch is not None:
                self._watch.step()

        def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
            """The last step."""
            if self._watch is not None:
                self.record = self._watch.finish()

    return TransformersObserver()
