"""What an observer recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

import torch
from torch import Tensor

from regimes.lab import Series
from regimes.lab._dataset_io import dataset_files, dataset_from

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr


@final
@dataclass(frozen=True, eq=False)
class Record:
    """Numbers of a training run at the steps that were observed.

    Attributes:
        steps: (k,), whole numbers.
        numbers: name -> (k,), or (k, layers) or (k, eigenvalues), float64. Names of a probe's
            numbers begin with the probe, as in "train/alignment"; NaN where a number was not wanted
            yet or is undefined.
        layers: names of the layers, in their order.
        told: what observing cost, in words.
    """

    steps: Tensor
    numbers: Mapping[str, Tensor]
    layers: tuple[str, ...]
    told: str

    def __getitem__(self, name: str) -> Tensor:
        """The numbers of this name."""
        if name not in self.numbers:
            known = ", ".join(sorted(self.numbers))
            raise ValueError(f"nothing was recorded as {name!r}; there are {known}")
        return self.numbers[name]

    def series(self) -> dict[str, Series]:
        """The numbers as a study's trial returns them, so that the lab's store keeps them.

        A "/" in a name becomes "_", and layers and eigenvalues are dimensions before time.
        """
        made = {}
        for name, values in self.numbers.items():
            dims = ("time",) if values.ndim == 1 else (_across(name), "time")
            made[name.replace("/", "_")] = Series(self.steps, values.movedim(0, -1), dims=dims)
        return made

    def dataset(self) -> xr.Dataset:
        """The numbers as a table over steps."""
        import xarray as xr

        variables = {
            name.replace("/", "_"): (
                ("step",) if values.ndim == 1 else ("step", _across(name)),
                values.numpy(),
            )
            for name, values in self.numbers.items()
        }
        coordinates = {"step": self.steps.numpy(), "layer": list(self.layers)}
        return xr.Dataset(variables, coordinates, {"told": self.told})

    def save(self, folder: str | Path) -> Path:
        """Write the table into a folder, in the format of the lab's records; returns the folder."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in dataset_files(self.dataset()).items():
            (folder / name).write_bytes(content)
        return folder

    def figure(self, *, probe: str | None = None) -> go.Figure:
        """Effective rank, label alignment of the whole and of every layer, against steps.

        Args:
            probe: whose layers are shown; None: the first.
        """
        from regimes.observe._figure import figure_of

        return figure_of(self, probe)


def load_record(folder: str | Path) -> xr.Dataset:
    """The table that `Record.save` wrote.

    >>> import tempfile
    >>> made = Record(torch.tensor([0, 5]), {"train/trace": torch.tensor([1.0, 2.0])}, (), "")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_record(made.save(folder)).train_trace.values.tolist()
    [1.0, 2.0]
    """
    folder = Path(folder)
    files = {path.name: path.read_bytes() for path in folder.glob("dataset.*")}
    if len(files) != 2:
        raise ValueError(f"{folder} holds no record; give the folder that Record.save wrote")
    return dataset_from(files)


def stacked(
    steps: list[int], rows: list[dict[str, Tensor]], layers: tuple[str, ...], told: str
) -> Record:
    """The record of rows of numbers, NaN where a row lacks one."""
    names = dict.fromkeys(name for row in rows for name in row)
    numbers = {}
    for name in names:
        like = next(row[name] for row in rows if name in row)
        missing = torch.full_like(like, torch.nan)
        numbers[name] = torch.stack([row.get(name, missing) for row in rows])
    return Record(torch.tensor(steps), numbers, layers, told)


def _across(name: str) -> str:
    return "layer" if "layer_" in name else "eigenvalue"
