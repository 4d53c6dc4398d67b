"""A study as data: what is scanned, what one trial does, what is made of the results."""

from __future__ import annotations

import dataclasses
import itertools
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regimes._check import choose
from regimes.lab._claims import Claim
from regimes.lab._config import DTYPES, Point, TrialConfig
from regimes.lab._fields import coerced, field_types
from regimes.lab._ledger import check_id
from regimes.lab._registry import register
from regimes.lab._trial import TrialResult
from regimes.lab.judge import Claims, Missing

if TYPE_CHECKING:
    import xarray as xr

    from regimes.lab._collect import Results

SIZES = ("smoke", "cpu", "paper")
_NAME = re.compile(r"[a-z][a-z0-9]*/[a-z0-9][a-z0-9-]*")


@dataclass(frozen=True)
class Axis:
    """One scanned parameter: a field of the parameters that holds a tuple of values.

    The values of a stacked axis go into one trial together, as a batch (seeds that train side by
    side); those of other axes make separate trials.
    """

    name: str
    stacked: bool = False
    unit: str = "1"


@dataclass(frozen=True)
class Study:
    """One experiment, ready to run at several sizes. Made by the decorator `study`."""

    name: str  # theme/what
    description: str
    version: int  # raise it when `trial` changes meaning: old results are then not reused
    sizes: Mapping[str, Any]  # size -> frozen dataclass of parameters
    axes: tuple[Axis, ...]
    trial: Callable[[Any, Point], TrialResult]
    summarise: Callable[[Results], xr.Dataset]
    figures: Callable[[xr.Dataset], Mapping[str, Any]]
    claims: Callable[[xr.Dataset], Sequence[Claim]]
    cost: Callable[[Any, Point], float]  # relative; the longest trials start first
    wanted: Callable[[Any, Point], bool]  # False leaves a point of the grid out
    module: str  # where workers find the study
    units: Mapping[str, str]  # of the variables trials return
    watch: Mapping[str, str]  # variable -> "min" or "max": best value shown while it runs
    judges: tuple[str, ...]  # ids of the ledger this study gives verdicts on
    dtype: str  # precision when none is asked for

    @property
    def theme(self) -> str:
        """The part of the name before the slash."""
        return self.name.partition("/")[0]

    def parameters(self, size: str) -> Any:
        """The parameters of one size."""
        return choose(size, self.sizes, f"size of {self.name}")

    def configs(self, params: Any, *, dtype: str | None = None) -> list[TrialConfig]:
        """Every trial of the scan, as configurations whose keys name them in the store."""
        params = coerced(params)
        dtype = dtype or self.dtype
        choose(dtype, dict.fromkeys(DTYPES), "dtype")
        scanned = {axis.name for axis in self.axes}
        fixed = {k: v for k, v in dataclasses.asdict(params).items() if k not in scanned}
        return [
            TrialConfig(self.name, self.version, fixed, values, dtype)
            for values in self._grid(params)
            if self.wanted is _all_wanted
            or self.wanted(self._params_at(params, values), Point(values, dtype=dtype))
        ]

    def rebuild(self, config: TrialConfig, *, device: str = "cpu") -> tuple[Any, Point]:
        """The arguments of `trial` from a configuration."""
        if (config.study, config.version) != (self.name, self.version):
            raise ValueError(
                f"this is {self.name} version {self.version}, the trial belongs to "
                f"{config.study} version {config.version}"
            )
        params_class = type(next(iter(self.sizes.values())))
        seen = {k: v if isinstance(v, tuple) else (v,) for k, v in config.point.items()}
        params = coerced(params_class(**config.params, **seen))
        return params, Point(config.point, dtype=config.dtype, device=device)

    def cost_of(self, config: TrialConfig, *, device: str = "cpu") -> float:
        """Relative cost of one trial on this kind of device; always positive."""
        if self.cost is _same_cost:
            return 1.0
        cost = float(self.cost(*self.rebuild(config, device=device)))
        if not cost > 0:
            raise ValueError(f"{self.name}: cost must be positive, got {cost} at {config.point}")
        return cost

    def _grid(self, params: Any) -> Iterator[dict[str, Any]]:
        for axis in self.axes:
            values = getattr(params, axis.name)
            if not values or len(set(values)) < len(values):
                raise ValueError(
                    f"axis {axis.name} of {self.name} needs one value or more, each once, "
                    f"got {values}"
                )
        choices = [
            [getattr(params, axis.name)] if axis.stacked else getattr(params, axis.name)
            for axis in self.axes
        ]
        names = [axis.name for axis in self.axes]
        return (dict(zip(names, combo, strict=True)) for combo in itertools.product(*choices))

    def _params_at(self, params: Any, values: Mapping[str, Any]) -> Any:
        # A trial sees in its parameters only its own point of the scan: it cannot depend on the
        # rest, which is not in its hash.
        own = {k: v if isinstance(v, tuple) else (v,) for k, v in values.items()}
        return dataclasses.replace(params, **own)


def study(
    name: str,
    *,
    version: int,
    sizes: Mapping[str, Any],
    axes: Iterable[Axis | str],
    units: Mapping[str, str] | None = None,
    watch: Mapping[str, str] | None = None,
    judges: Iterable[str] = (),
    dtype: str = "float64",
) -> Callable[[type], Study]:
    """Register a class of static methods as a study.

    The class holds `trial(params, point) -> TrialResult` and, where the default does not do,
    `summarise(results) -> Dataset`, `cost(params, point) -> float`,
    `wanted(params, point) -> bool`; as `figures` a mapping from titles to functions of the
    dataset that draw, and as `claims` the `Claims` that were declared. Its docstring is the study's
    description. It must live in an importable module: workers import it by name.

    Args:
        name: `theme/what`, lower case.
        version: raised when the meaning of a trial changes, so that old results are not reused.
        sizes: parameters (a frozen dataclass) for "smoke" and any of "cpu" and "paper".
        axes: fields of the parameters that are scanned; a text is an `Axis` that is not stacked.
        units: unit of each variable the trials return.
        watch: variables whose best value is shown while the study runs, with "min" or "max".
        judges: the ledger's ids that `claims` gives verdicts on, when it is a function.
        dtype: precision of the trials when the user does not choose.
    """
    scanned = tuple(Axis(axis) if isinstance(axis, str) else axis for axis in axes)
    _check(name, version, sizes, scanned, watch or {}, dtype)
    declared = tuple(judges)
    for id in declared:
        check_id(id)

    def decorate(cls: type) -> Study:
        if not callable(getattr(cls, "trial", None)):
            raise ValueError(f"study {name}: the class needs a static method trial(params, point)")
        judged = getattr(cls, "claims", _no_claims)
        made = Study(
            name=name,
            description=(cls.__doc__ or "").strip(),
            version=version,
            sizes={size: coerced(params) for size, params in sizes.items()},
            axes=scanned,
            trial=cls.trial,  # type: ignore[attr-defined]
            summarise=getattr(cls, "summarise", _collect),
            figures=_drawing(getattr(cls, "figures", {})),
            claims=judged.judged if isinstance(judged, Claims) else judged,
            cost=getattr(cls, "cost", _same_cost),
            wanted=getattr(cls, "wanted", _all_wanted),
            module=_importable(cls.__module__),
            units=dict(units or {}),
            watch=dict(watch or {}),
            judges=judged.ids if isinstance(judged, Claims) else declared,
            dtype=dtype,
        )
        register(made)
        return made

    return decorate


def _check(
    name: str,
    version: int,
    sizes: Mapping[str, Any],
    axes: tuple[Axis, ...],
    watch: Mapping[str, str],
    dtype: str,
) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"a study's name is theme/what in lower case and hyphens, got {name!r}")
    if type(version) is not int or version < 1:
        raise ValueError(f"study {name}: version must be an integer >= 1, got {version!r}")
    if "smoke" not in sizes or not set(sizes) <= set(SIZES):
        raise ValueError(
            f"study {name}: sizes must hold 'smoke' and may hold 'cpu' and 'paper', "
            f"got {sorted(sizes)}"
        )
    if len({type(params) for params in sizes.values()}) > 1:
        raise ValueError(f"study {name}: the parameters of all sizes must be of one class")
    kinds = field_types(type(sizes["smoke"]))
    for axis in axes:
        if axis.name not in kinds or not kinds[axis.name].many:
            raise ValueError(
                f"study {name}: axis {axis.name!r} must be a field of the parameters that holds a "
                f"tuple, such as {axis.name}: tuple[int, ...]"
            )
    for variable, better in watch.items():
        choose(better, {"min": 0, "max": 0}, f"direction to watch {variable}")
    choose(dtype, dict.fromkeys(DTYPES), "dtype")


def _importable(module: str) -> str:
    """The name under which a worker can import a study; a script goes by its file's name."""
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    return Path(script).stem if module == "__main__" and script else module


def _collect(results: Results) -> xr.Dataset:
    from regimes.lab._collect import collect

    return collect(results)


def _drawing(figures: Any) -> Callable[[xr.Dataset], Mapping[str, Any]]:
    """One function that draws every figure; one without data says what it lacks."""
    if callable(figures):
        return figures

    def drawn(dataset: xr.Dataset) -> Mapping[str, Any]:
        return {title: _drawn(draw, dataset) for title, draw in figures.items()}

    return drawn


def _drawn(draw: Callable[[xr.Dataset], Any], dataset: xr.Dataset) -> Any:
    from regimes.lab.draw import blank

    try:
        return draw(dataset)
    except Missing as missing:
        return blank(str(missing))


def _no_claims(dataset: xr.Dataset) -> Sequence[Claim]:
    return []


def _same_cost(params: Any, point: Point) -> float:
    return 1.0


def _all_wanted(params: Any, point: Point) -> bool:
    return True
