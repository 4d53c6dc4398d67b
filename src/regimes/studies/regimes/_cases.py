"""Scans that do not fill a grid: every trial is a case, a text that names all its settings.

A study of several scans, each over its own widths, scales and training sets, has one axis of cases
such as "widths L=2 P=50 h=32 at=0.1". Its summary is a table with a row a case and the settings as
coordinates.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from regimes.studies._images import image_task
from regimes.studies.regimes import _setting

if TYPE_CHECKING:
    import xarray as xr

    from regimes.data import Dataset
    from regimes.lab import Results

Value: TypeAlias = int | float | str

FINISHED = 2  # in `trial_state` of `lab.collect`
COUNTS, SCALES = ("L", "P", "h", "pca"), ("at", "alpha")


def cases(scan: str, **settings: Value | Sequence[Value]) -> tuple[str, ...]:
    """Every combination of the settings, the last one running fastest.

    >>> cases("widths", L=2, h=(32, 64), at=0.1)
    ('widths L=2 h=32 at=0.1', 'widths L=2 h=64 at=0.1')
    """
    lists = [
        [value] if isinstance(value, int | float | str) else list(value)
        for value in settings.values()
    ]
    texts = [
        [f"{name}={value}" if isinstance(value, str) else f"{name}={value:g}" for value in values]
        for name, values in zip(settings, lists, strict=True)
    ]
    return tuple(" ".join((scan, *chosen)) for chosen in itertools.product(*texts))


def settings_of(case: str) -> dict[str, Value]:
    """The settings a case names, its scan among them.

    >>> settings_of("widths L=2 h=32 at=0.1 net=fc")
    {'scan': 'widths', 'L': 2, 'h': 32, 'at': 0.1, 'net': 'fc'}
    """
    scan, *pairs = case.split()
    found: dict[str, Value] = {"scan": scan}
    for pair in pairs:
        name, mark, text = pair.partition("=")
        if not (mark and text) or name in found:
            raise ValueError(f"a case is a scan and settings name=value, each once, got {case!r}")
        try:
            found[name] = (
                int(text) if name in COUNTS else float(text) if name in SCALES else str(text)
            )
        except ValueError:
            raise ValueError(f"{name} of the case {case!r} must be a number") from None
    return found


def tabled(results: Results) -> xr.Dataset:
    """The trials with the settings of their cases as coordinates."""
    from regimes.lab import collect

    dataset = collect(results)
    rows = [settings_of(case) for case in dataset.case.values.tolist()]
    coords: dict[str, tuple[str, list[Value]]] = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        blank: Value = 0 if name in COUNTS else float("nan") if name in SCALES else ""
        coords[name] = ("case", [row.get(name, blank) for row in rows])
    return dataset.assign_coords(coords)


def scan_of(dataset: xr.Dataset, scan: str, **settings: Value) -> xr.Dataset:
    """The finished cases of one scan that have these settings."""
    chosen = (dataset.scan == scan).values & (dataset.trial_state == FINISHED).values
    for name, value in settings.items():
        own = dataset[name].values
        chosen &= np.isclose(own, value) if isinstance(value, float) else own == value
    return dataset.isel(case=np.flatnonzero(chosen))


def unfinished(dataset: xr.Dataset, scan: str) -> int:
    """How many cases of a scan failed or have not run yet."""
    own = (dataset.scan == scan).values
    return int((own & (dataset.trial_state < FINISHED).values).sum())


def along(table: xr.Dataset, name: str) -> xr.Dataset:
    """Rows in the order of one setting."""
    return table.isel(case=np.argsort(table[name].values, kind="stable"))


@dataclass(frozen=True)
class Measured:
    """A number and its standard error."""

    value: float
    error: float


def mean_of(values: np.ndarray) -> Measured:
    """Mean over seeds.

    >>> mean_of(np.array([1.0, 3.0]))
    Measured(value=2.0, error=1.0)
    """
    count = len(values)
    error = float(np.std(values, ddof=1) / count**0.5) if count > 1 else float("nan")
    return Measured(float(np.mean(values)), error)


def percent(values: Sequence[float] | np.ndarray) -> str:
    """Fractions in percent, for a claim's reasons.

    >>> percent([0.19, 0.168])
    '19.0, 16.8 %'
    """
    return ", ".join(f"{100 * value:.1f}" for value in values) + " %"


def points(
    images: str,
    n_train: int,
    n_test: int,
    *,
    components: int | None,
    dtype: str,
    device: str,
) -> Dataset:
    """`_setting.task`, or more points of the same kind than its pool has, of all files.

    Those are 70,000 of MNIST and its relatives, 60,000 of CIFAR-10.
    """
    if images == "digits" or max(n_train, n_test) <= min(_setting.POOL):
        return _setting.task(
            images, n_train, n_test, components=components, dtype=dtype, device=device
        )
    return image_task(
        images,
        n_train,
        n_test,
        files="all",
        components=components,
        dtype=dtype,
        device=device,
        keep=False,
    )
