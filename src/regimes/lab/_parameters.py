"""The parameters of one size of a study: a frozen dataclass, or one per block.

A study of one grid has one frozen dataclass. A study that is a union of grids has a mapping from
the names of its blocks to theirs, so that a parameter belongs to the trials of its own block alone.
Everything that handles parameters without knowing which of the two they are goes through here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from regimes._check import nearest_first
from regimes.lab._fields import FieldType, coerced, field_types

_NEAREST = 3  # names that are offered for one that is not known
BLOCK = "block"  # names the block in a trial's point, in summaries and for `--set`


def blocks_of(params: Any) -> dict[str, Any]:
    """Block -> its dataclass; a study without blocks has one without a name."""
    return dict(params) if isinstance(params, Mapping) else {"": params}


def same_form(params: Any, blocks: Mapping[str, Any]) -> Any:
    """Blocks in the form that `params` has."""
    return dict(blocks) if isinstance(params, Mapping) else blocks[""]


def each_coerced(params: Any) -> Any:
    """The same parameters with every value in its one spelling."""
    return same_form(params, {name: coerced(own) for name, own in blocks_of(params).items()})


def as_plain(params: Any) -> dict[str, Any]:
    """Parameters as values that JSON knows."""
    plain = {name: dataclasses.asdict(own) for name, own in blocks_of(params).items()}
    return plain if isinstance(params, Mapping) else plain[""]


def from_plain(like: Any, plain: Mapping[str, Any]) -> Any:
    """The inverse of `as_plain`, for parameters of the form and classes of `like`.

    Raises:
        ValueError: the values belong to an older form of the study.
    """
    known = blocks_of(like)
    given = plain if isinstance(like, Mapping) else {"": plain}
    made = {}
    for name, values in given.items():
        kind = type(known[name]) if name in known else None
        if kind is None or not isinstance(values, Mapping) or set(values) != set(field_types(kind)):
            raise ValueError("these parameters belong to an older form of the study")
        made[name] = kind(**values)
    return same_form(like, {name: coerced(own) for name, own in made.items()})


def settable(params: Any) -> dict[str, tuple[FieldType, Any]]:
    """Every name that can be set, with its type and present value.

    In a study of blocks a field is called `block.field`; the bare name stands for it in every block
    that has one, and `block` chooses which blocks are run.
    """
    found: dict[str, tuple[FieldType, Any]] = {}
    for block, name, kind, value in _fields(params):
        if block:
            found[f"{block}.{name}"] = (kind, value)
            found.setdefault(name, (kind, value))
        else:
            found[name] = (kind, value)
    if isinstance(params, Mapping):
        found[BLOCK] = (FieldType(str, many=True), tuple(params))
    return found


def changed(params: Any, changes: Mapping[str, Any]) -> Any:
    """Parameters with fields set to other values, by the names of `settable`.

    Raises:
        ValueError: an unknown block or field; the nearest ones are named.
    """
    blocks = blocks_of(params)
    wanted = changes.get(BLOCK, tuple(blocks)) if isinstance(params, Mapping) else tuple(blocks)
    if unknown := [name for name in wanted if name not in blocks]:
        raise ValueError(f"unknown block {unknown[0]!r}; the blocks are {', '.join(blocks)}")
    if not wanted:
        raise ValueError(f"one block or more must be run; the blocks are {', '.join(blocks)}")
    made = {}
    used: set[str] = {BLOCK} if isinstance(params, Mapping) else set()
    for block, own in blocks.items():
        mine = {}
        for name in field_types(type(own)):
            for spelled in (name, f"{block}.{name}"):  # the more special one counts
                if spelled in changes:
                    mine[name] = changes[spelled]
                    used.add(spelled)
        if block in wanted:
            made[block] = dataclasses.replace(own, **mine)
    if left := sorted(set(changes) - used):
        raise ValueError(unknown_parameter(params, left[0]))
    return same_form(params, made)


def unknown_parameter(params: Any, name: str) -> str:
    """What is said of a parameter that does not exist: those spelled most like it."""
    known = settable(params)
    near = nearest_first(name, known)[:_NEAREST]
    return f"unknown parameter {name!r}; nearest of {len(known)}:\n{described(params, near)}"


def described(params: Any, names: Iterable[str]) -> str:
    """One line a parameter: its name, type and present value."""
    known = settable(params)
    return "\n".join(f"  {name}: {known[name][0]} (now {shown(known[name][1])})" for name in names)


def shown(value: Any) -> str:
    """A parameter value as one would type it after `--set key=`.

    >>> shown((1, 2.5)), shown(None)
    ('1,2.5', 'none')
    """
    if isinstance(value, tuple):
        return ",".join(shown(item) for item in value)
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def every_value(params: Any, name: str) -> tuple[Any, ...]:
    """The values of an axis in all blocks that have it, each once, in order of appearance."""
    found: dict[Any, None] = {}
    for own in blocks_of(params).values():
        found.update(dict.fromkeys(getattr(own, name, ())))
    return tuple(found)


def _fields(params: Any) -> Iterator[tuple[str, str, FieldType, Any]]:
    for block, own in blocks_of(params).items():
        for name, kind in field_types(type(own)).items():
            yield block, name, kind, getattr(own, name)


def check_forms(where: str, sizes: Iterable[Any]) -> None:
    """Refuse sizes whose parameters are not of one form and class."""
    forms = [{name: type(own) for name, own in blocks_of(params).items()} for params in sizes]
    known: dict[str, type] = {}
    for form in forms:
        for name, kind in form.items():
            if known.setdefault(name, kind) is not kind:
                raise ValueError(f"{where}: the parameters of all sizes must be of one class")
    if "" in known and len(known) > 1:
        raise ValueError(f"{where}: all sizes must have blocks, or none")
