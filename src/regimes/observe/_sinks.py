"""Where numbers go while a run is on its way: TensorBoard, Weights & Biases without a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, final

from torch import Tensor


@final
class TensorBoard:
    """Writes every number as a scalar, and those of layers under the layer's name.

    Needs the extra `loggers`.

    Args:
        folder: of the event files; `tensorboard --logdir FOLDER` shows them.
    """

    def __init__(self, folder: str | Path) -> None:
        try:
            from torch.utils.tensorboard.writer import SummaryWriter
        except ImportError as error:
            raise ValueError(_missing("TensorBoard", "tensorboard")) from error
        self._writer: Any = SummaryWriter(str(folder))

    def write(self, step: int, numbers: Mapping[str, Tensor], layers: Sequence[str]) -> None:
        """The numbers of one step."""
        for name, value in scalars(numbers, layers).items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()


@final
class WandB:
    """Logs to Weights & Biases, offline unless asked otherwise: nothing leaves the machine.

    Needs the extra `loggers`. A run that is open already is used, and left open.

    Args:
        project: name of the project.
        folder: where `wandb/` is made.
        mode: as `wandb.init` takes it; `wandb sync` sends an offline run later.
        **options: more of `wandb.init`.
    """

    def __init__(
        self, project: str, folder: str | Path = ".", *, mode: str = "offline", **options: Any
    ) -> None:
        try:
            import wandb
        except ImportError as error:
            raise ValueError(_missing("WandB", "wandb")) from error
        self._own = wandb.run is None
        self._run: Any = wandb.run or wandb.init(
            project=project, dir=str(folder), mode=mode, **options
        )
        # the observer's steps are its own axis: a run's step may count something else
        self._run.define_metric("observed/step")
        self._run.define_metric("observed/*", step_metric="observed/step")

    def write(self, step: int, numbers: Mapping[str, Tensor], layers: Sequence[str]) -> None:
        """The numbers of one step."""
        found = {f"observed/{name}": value for name, value in scalars(numbers, layers).items()}
        self._run.log({"observed/step": step, **found})

    def close(self) -> None:
        """Finish the run, if it was opened here."""
        if self._own:
            self._run.finish()


def scalars(numbers: Mapping[str, Tensor], layers: Sequence[str]) -> dict[str, float]:
    """One number a name; those of layers and eigenvalues have the layer's or its number after it.

    >>> import torch
    >>> scalars({"train/layer_trace": torch.tensor([1.0, 2.0])}, ["first", "last"])
    {'train/layer_trace/first': 1.0, 'train/layer_trace/last': 2.0}
    """
    found: dict[str, float] = {}
    for name, value in numbers.items():
        if value.ndim == 0:
            found[name] = float(value)
            continue
        parts = layers if "layer_" in name else [str(k) for k in range(len(value))]
        found.update({f"{name}/{part}": float(v) for part, v in zip(parts, value, strict=True)})
    return found


def _missing(sink: str, package: str) -> str:
    return f"{sink} needs the package {package}: pip install 'regimes[loggers]'"
