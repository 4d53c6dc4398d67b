"""`--set key=value`: change parameters by name, with errors that list what can be set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from regimes._check import nearest_first
from regimes.lab._parameters import changed, settable


def override(params: Any, settings: Iterable[str]) -> Any:
    """Parameters with each "key=value" of `settings` applied.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Params:
    ...     d: int = 10
    ...     alpha: tuple[float, ...] = (1.0,)
    >>> override(Params(), ["d=5", "alpha=0.1,1"])
    Params(d=5, alpha=(0.1, 1.0))

    Raises:
        ValueError: for an unknown key (the valid ones are listed with types and present values)
            or a value of the wrong type.
    """
    known = settable(params)
    changes: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        key = key.strip()
        if not equals:
            raise ValueError(f"--set takes key=value, got {setting!r}; {_listing(params, key)}")
        if key not in known:
            raise ValueError(f"unknown parameter {key!r}; {_listing(params, key)}")
        changes[key] = known[key][0].parse(key, text)
    return changed(params, changes)


def _listing(params: Any, key: str) -> str:
    known = settable(params)
    entries = [
        f"  {name}: {known[name][0]} (now {shown(known[name][1])})"
        for name in nearest_first(key, known)
    ]
    return "the parameters are\n" + "\n".join(entries)


def shown(value: Any) -> str:
    """A parameter value as one would type it after `--set key=`."""
    if isinstance(value, tuple):
        return ",".join(shown(item) for item in value)
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)
