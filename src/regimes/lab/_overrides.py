"""`--set key=value`: change parameters by name, with errors that tell what can be set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from regimes.lab._parameters import changed, described, settable, unknown_parameter


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
        ValueError: for an unknown key (the nearest ones are told with types and present values) or
            a value of the wrong type; for a word alone, such as "help", every one is listed.
    """
    known = settable(params)
    changes: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        key = key.strip()
        if not equals:
            every = described(params, known)
            raise ValueError(f"--set takes key=value, got {setting!r}; the parameters are\n{every}")
        if key not in known:
            raise ValueError(f"{unknown_parameter(params, key)}\n`--set help` lists all")
        changes[key] = known[key][0].parse(key, text)
    return changed(params, changes)
