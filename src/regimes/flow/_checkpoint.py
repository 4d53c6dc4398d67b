"""Checkpoints: a run leaves its whole state behind now and then, and goes on from it bit for bit.

What is left are tensors and plain JSON values; where they are kept is not known here. The same
machine, threads and versions are taken for granted, as for any two runs that shall agree to the
last bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np
import torch
from torch import Tensor

from regimes._check import shown
from regimes._memory import parse_bytes
from regimes.flow._bookkeeping import Batch, Bookkeeper, below, within
from regimes.flow._layout import pack, unpack
from regimes.flow._readings import Readings

_FORMAT = 2  # raised when what is saved changes its names or meaning


class Checkpoint(Protocol):
    """Where one run leaves its state, given as `checkpoint=` to a flow or a descent.

    `regimes.lab` has one that keeps files: a trial asks `point.checkpoint()`.
    """

    def due(self, *, ended: bool) -> bool:
        """Whether to save now; asked after every step, the last one with `ended`."""
        ...

    def save(self, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
        """Keep these in the place of those before; the run changes the tensors afterwards.

        Args:
            tensors: contiguous, on the CPU.
            about: plain JSON values.
        """
        ...

    def load(self) -> tuple[Mapping[str, Tensor], Mapping[str, Any]] | None:
        """What was saved last, or None."""
        ...


@final
@dataclass(frozen=True, eq=False)
class Moment:
    """A run between two steps: the members on their way, where they stand, and what else moves."""

    batch: Batch
    readings: Readings
    more: Mapping[str, Tensor]


@final
class Shelf:
    """The place of one run in a checkpoint: it finds what that run left, never another's.

    Args:
        checkpoint: where the state is left, or None: then nothing is kept or found.
        run: says what tells this run from others. A checkpoint that says otherwise is not used.
        device: where the members are.
    """

    def __init__(
        self,
        checkpoint: Checkpoint | None,
        run: Callable[[], Mapping[str, object]],
        device: torch.device,
    ) -> None:
        self._checkpoint, self._device = checkpoint, device
        self._found: tuple[Mapping[str, Tensor], Mapping[str, Any]] | None = None
        if checkpoint is None:
            return
        if not all(callable(getattr(checkpoint, name, None)) for name in ("due", "save", "load")):
            raise ValueError(
                "checkpoint must have due, save and load, as point.checkpoint() of a trial does, "
                f"got {shown(checkpoint)}"
            )
        own = {"format": _FORMAT, "torch": torch.__version__, "device": device.type, **run()}
        self._run = {name: repr(value) for name, value in own.items()}
        self._found = checkpoint.load()
        if self._found is not None:
            self._compare(self._found[1]["run"])

    @property
    def about(self) -> Mapping[str, Any] | None:
        """What was said of the state that was found, or None."""
        return None if self._found is None else self._found[1]

    def tensors(self) -> dict[str, Tensor] | None:
        """The state that was found, laid as it was, or None."""
        if self._found is None:
            return None
        return unpack(self._found[0], self._found[1]["layouts"], self._device)

    def forget(self) -> None:
        """Free the memory that what was found takes."""
        self._found = None

    def due(self, *, ended: bool) -> bool:
        """Whether to save now."""
        return self._checkpoint is not None and self._checkpoint.due(ended=ended)

    def save(self, tensors: Mapping[str, Tensor], **about: object) -> None:
        """Keep these in the place of those before."""
        if self._checkpoint is None:
            return
        packed, layouts = pack(tensors)
        self._checkpoint.save(packed, {"run": self._run, "layouts": layouts, **about})

    def _compare(self, saved: Mapping[str, str]) -> None:
        for name in {**self._run, **saved}:
            before, now = saved.get(name), self._run.get(name)
            if before != now:
                self.refuse(f"its {name} was {_short(before)}, here it is {_short(now)}")
                return

    def refuse(self, reason: str) -> None:
        """Say why what was found is another run's, and forget it."""
        self.forget()
        warnings.warn(
            f"the checkpoint belongs to another run and this one starts anew: {reason}",
            RuntimeWarning,
            stacklevel=2,
        )


@final
class Keeper:
    """Saves one run of networks and finds it again; without a checkpoint it does nothing.

    Args:
        checkpoint: where the state is left, or None.
        run: as in `Shelf`.
        device: where the members are.
    """

    def __init__(
        self,
        checkpoint: Checkpoint | None,
        run: Callable[[], Mapping[str, object]],
        device: torch.device,
    ) -> None:
        self._keeps, self._device = checkpoint is not None, device
        self._memory: int | None = None
        self._shelf = Shelf(checkpoint, run, device)

    def budget(self, memory: int | str | None) -> int | str | None:
        """The memory to plan with: that of the saved run, so that its members are split alike."""
        if not self._keeps:
            return memory
        saved = None if self._shelf.about is None else self._shelf.about["memory"]
        self._memory = parse_bytes(memory, self._device) if saved is None else int(saved)
        return self._memory

    def resume(self, start: Batch, books: Bookkeeper) -> Moment | None:
        """The moment of the last checkpoint, all that was written down being in the books again.

        Args:
            start: all members as they begin. Its first numbers must be those of the saved run.
            books: as they are at the start.
        """
        tensors = self._shelf.tensors()
        if tensors is None:
            return None
        written = below("books", tensors)
        for name, now in books.first.items():
            if not np.array_equal(below("first", written)[name].numpy(), now, equal_nan=True):
                self._shelf.refuse(f"its members started with another {name}")
                return None
        batch = Batch.restored(below("batch", tensors), start)
        books.restore(written, batch.ids)
        self._shelf.forget()
        standing = {name: value.numpy() for name, value in below("readings", tensors).items()}
        return Moment(batch, Readings(**standing), below("more", tensors))

    def after_step(
        self,
        batch: Batch,
        readings: Readings,
        books: Bookkeeper,
        more: Callable[[], Mapping[str, Tensor]] = dict,
    ) -> None:
        """Save where the run stands, when it is time."""
        if not self._shelf.due(ended=len(batch.ids) == 0):
            return
        tensors = (
            within("batch", batch.kept())
            | within("readings", {k: torch.from_numpy(v) for k, v in readings.named.items()})
            | within("books", books.kept(batch.ids))
            | within("more", more())
        )
        self._shelf.save(tensors, memory=self._memory)


def _short(text: str | None) -> str:
    return "not given" if text is None else text if len(text) < 100 else f"{text[:96]} ..."
