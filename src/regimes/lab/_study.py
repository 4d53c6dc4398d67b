"""A study as data: what is scanned, what one trial does, what is made of the results."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from regimes._check import choose
from regimes.lab import _folder
from regimes.lab._axes import Axis, grid
from regimes.lab._claims import Claim
from regimes.lab._config import DTYPES, Point, TrialConfig
from regimes.lab._fields import coerced, field_types
from regimes.lab._folder import found_for
from regimes.lab._former import renamed_dataset
from regimes.lab._ledger import check_id
from regimes.lab._parameters import BLOCK, blocks_of, check_forms, each_coerced
from regimes.lab._registry import register
from regimes.lab._trial import TrialResult
from regimes.lab.judge import Claims, Missing

if TYPE_CHECKING:
    import xarray as xr

    from regimes.lab._gather import Results

SIZES = ("smoke", "cpu", "paper")
_NAME = re.compile(r"[a-z][a-z0-9]*/[a-z0-9][a-z0-9-]*")

Formerly: TypeAlias = Callable[[Any, TrialConfig], TrialConfig | None]


@dataclass(frozen=True)
class Study:
    """One experiment, ready to run at several sizes. Made by the decorator `study`."""

    name: str  # theme/what
    description: str
    version: int  # raise it when `trial` changes meaning: old results are then not reused
    sizes: Mapping[str, Any]  # size -> frozen dataclass of parameters, or one per block
    blocks: Mapping[str, tuple[Axis, ...]]  # one, without a name, for a study of one grid
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
    stored: Mapping[str, str]  # parameter -> its name in keys and files, where that is another
    renamed: Mapping[str, str]  # what older trials and summaries call things -> what they are now
    formerly: Formerly  # how the same trial was configured before the study was regrouped
    upgrade: Callable[[xr.Dataset], xr.Dataset]  # an older summary's dataset in the present form

    @property
    def theme(self) -> str:
        """The part of the name before the slash."""
        return self.name.partition("/")[0]

    @property
    def is_union(self) -> bool:
        """Whether the scan is a union of several grids."""
        return "" not in self.blocks

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of all blocks, each once."""
        return tuple({axis.name: axis for own in self.blocks.values() for axis in own}.values())

    @property
    def axis_names(self) -> tuple[str, ...]:
        """Names that values of a trial must not have."""
        return (*(axis.name for axis in self.axes), *([BLOCK] if self.is_union else []))

    @property
    def new_names(self) -> Mapping[str, str]:
        """Old name -> new name, of dimensions and values in older trials and summaries."""
        return {**{old: new for new, old in self.stored.items()}, **self.renamed}

    @property
    def has_former_forms(self) -> bool:
        """Whether trials may lie in a store under keys they no longer have."""
        return self.formerly is not _never_otherwise

    def parameters(self, size: str) -> Any:
        """The parameters of one size."""
        return choose(size, self.sizes, f"size of {self.name}")

    def configs(self, params: Any, *, dtype: str | None = None) -> list[TrialConfig]:
        """Every trial of the scan, as configurations whose keys name them in the store."""
        dtype = dtype or self.dtype
        choose(dtype, dict.fromkeys(DTYPES), "dtype")
        return [
            config
            for block, own in blocks_of(each_coerced(params)).items()
            for config in self._block_configs(block, own, dtype)
        ]

    def _block_configs(self, block: str, params: Any, dtype: str) -> list[TrialConfig]:
        axes = self.blocks[block]
        scanned = {axis.name for axis in axes} | {axis.batch for axis in axes if axis.batch}
        fixed = {k: v for k, v in dataclasses.asdict(params).items() if k not in scanned}
        place = {BLOCK: block} if block else {}
        try:
            points = [{**place, **values} for values in grid(axes, params)]
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None
        return [
            TrialConfig(self.name, self.version, self._as_stored(fixed), self._as_stored(at), dtype)
            for at in points
            if self.wanted is _all_wanted or self.wanted(params, Point(at, dtype=dtype))
        ]

    def _as_stored(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {self.stored.get(name, name): value for name, value in values.items()}

    def values_of(self, config: TrialConfig) -> dict[str, Any]:
        """Where a trial lies in the scan, under present names."""
        names = {old: new for new, old in self.stored.items()}
        return {names.get(name, name): value for name, value in config.point.items()}

    def knows(self, config: TrialConfig) -> bool:
        """Whether the configuration is one of the study's present form."""
        if (config.study, config.version) != (self.name, self.version):
            return False
        try:
            self.rebuild(config)
        except (KeyError, TypeError, ValueError):
            return False
        return True

    def rebuild(self, config: TrialConfig, *, device: str = "cpu") -> tuple[Any, Point]:
        """The arguments of `trial` from a configuration.

        A trial sees in its parameters only its own point of the scan: it cannot depend on the rest,
        which is not in its key.
        """
        if (config.study, config.version) != (self.name, self.version):
            raise ValueError(
                f"this is {self.name} version {self.version}, the trial belongs to "
                f"{config.study} version {config.version}"
            )
        values = self.values_of(config)
        block = values.get(BLOCK, "") if self.is_union else ""
        if block not in self.blocks:
            raise ValueError(f"{self.name} has no block {block!r}, only {', '.join(self.blocks)}")
        names = {old: new for new, old in self.stored.items()}
        fixed = {names.get(name, name): value for name, value in config.params.items()}
        seen = {k: v if isinstance(v, tuple) else (v,) for k, v in values.items() if k != BLOCK}
        together = {a.batch: len(values[a.name]) for a in self.blocks[block] if a.batch}
        params = coerced(self._class_of(block)(**fixed, **seen, **together))
        return params, Point(values, dtype=config.dtype, device=device)

    def cost_of(self, config: TrialConfig, *, device: str = "cpu") -> float:
        """Relative cost of one trial on this kind of device; always positive."""
        if self.cost is _same_cost:
            return 1.0
        cost = float(self.cost(*self.rebuild(config, device=device)))
        if not cost > 0:
            raise ValueError(f"{self.name}: cost must be positive, got {cost} at {config.point}")
        return cost

    def upgraded(self, dataset: xr.Dataset) -> xr.Dataset:
        """A dataset of an older summary in the form the study has now; a present one as it is."""
        return self.upgrade(renamed_dataset(dataset, self.new_names))

    def _class_of(self, block: str) -> type:
        return next(type(own[block]) for own in map(blocks_of, self.sizes.values()) if block in own)


def study(
    name: str,
    *,
    version: int,
    sizes: Mapping[str, Any],
    axes: Iterable[Axis | str] | Mapping[str, Iterable[Axis | str]],
    units: Mapping[str, str] | None = None,
    watch: Mapping[str, str] | None = None,
    judges: Iterable[str] = (),
    dtype: str = "float64",
    stored: Mapping[str, str] | None = None,
    renamed: Mapping[str, str] | None = None,
) -> Callable[[type], Study]:
    """Register a class of static methods as a study.

    The class holds `trial(params, point) -> TrialResult` and, where the default does not do,
    `summarise(results) -> Dataset`, `cost(params, point) -> float`,
    `wanted(params, point) -> bool`; as `figures` a mapping from titles to functions of the
    dataset that draw, and as `claims` the `Claims` that were declared. A study that is a folder
    has these two beside it: `FIGURES` in its `_figures.py`, `claim` in its `_claims.py`. Its
    docstring is the study's description. It must live in an importable module: workers import it
    by name.

    A study may be a union of grids: `axes` then maps the name of each block to its axes, each of
    `sizes` maps it to the block's own parameters, and `point.block` tells a trial where it is. A
    parameter of one block is in the keys of that block's trials alone.

    A study that was regrouped keeps what was computed: `formerly(params, config)` gives the
    configuration that the same trial had (None if it had none), `renamed` the names its values had,
    and `upgrade(dataset)` brings the dataset of an older summary into the present form where
    renaming does not.

    Args:
        name: `theme/what`, lower case.
        version: raised when the meaning of a trial changes, so that old results are not reused.
        sizes: parameters (a frozen dataclass, or one per block) for "smoke" and any of "cpu" and
            "paper".
        axes: fields of the parameters that are scanned; a text is an `Axis` that is not stacked.
        units: unit of each variable the trials return.
        watch: variables whose best value is shown while the study runs, with "min" or "max".
        judges: the ledger's ids that `claims` gives verdicts on, when it is a function.
        dtype: precision of the trials when the user does not choose.
        stored: parameters that stand under another, older name in keys and files.
        renamed: older names of dimensions and values -> their names now.
    """
    blocks = axes if isinstance(axes, Mapping) else {"": axes}
    scanned = {
        block: tuple(Axis(axis) if isinstance(axis, str) else axis for axis in own)
        for block, own in blocks.items()
    }
    _check(name, version, sizes, scanned, watch or {}, dtype)
    declared = tuple(judges)
    for id in declared:
        check_id(id)

    def decorate(cls: type) -> Study:
        if not callable(getattr(cls, "trial", None)):
            raise ValueError(f"study {name}: the class needs a static method trial(params, point)")
        judged = found_for(cls, *_folder.CLAIMS) or _no_claims
        made = Study(
            name=name,
            description=(cls.__doc__ or "").strip(),
            version=version,
            sizes={size: each_coerced(params) for size, params in sizes.items()},
            blocks=scanned,
            trial=cls.trial,  # type: ignore[attr-defined]
            summarise=getattr(cls, "summarise", _collect),
            figures=_drawing(found_for(cls, *_folder.FIGURES) or {}),
            claims=judged.judged if isinstance(judged, Claims) else judged,
            cost=getattr(cls, "cost", _same_cost),
            wanted=getattr(cls, "wanted", _all_wanted),
            module=_importable(cls.__module__),
            units=dict(units or {}),
            watch=dict(watch or {}),
            judges=judged.ids if isinstance(judged, Claims) else declared,
            dtype=dtype,
            stored=dict(stored or {}),
            renamed=dict(renamed or {}),
            formerly=getattr(cls, "formerly", _never_otherwise),
            upgrade=getattr(cls, "upgrade", _as_it_is),
        )
        register(made)
        return made

    return decorate


def _check(
    name: str,
    version: int,
    sizes: Mapping[str, Any],
    blocks: Mapping[str, tuple[Axis, ...]],
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
    check_forms(f"study {name}", sizes.values())
    for params in sizes.values():
        for block, own in blocks_of(params).items():
            if block not in blocks:
                raise ValueError(f"study {name}: axes of the block {block!r} are not declared")
            _check_axes(name, blocks[block], type(own))
    for variable, better in watch.items():
        choose(better, {"min": 0, "max": 0}, f"direction to watch {variable}")
    choose(dtype, dict.fromkeys(DTYPES), "dtype")


def _check_axes(name: str, axes: tuple[Axis, ...], params: type) -> None:
    kinds = field_types(params)
    for axis in axes:
        if axis.name not in kinds or not kinds[axis.name].many:
            raise ValueError(
                f"study {name}: axis {axis.name!r} must be a field of the parameters that holds a "
                f"tuple, such as {axis.name}: tuple[int, ...]"
            )
        if axis.batch is not None and axis.batch not in kinds:
            raise ValueError(
                f"study {name}: axis {axis.name!r} is cut by {axis.batch!r}, which must be a field "
                f"of the parameters, such as {axis.batch}: int = 0"
            )


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


def _never_otherwise(params: Any, config: TrialConfig) -> TrialConfig | None:
    return None


def _as_it_is(dataset: xr.Dataset) -> xr.Dataset:
    return dataset
