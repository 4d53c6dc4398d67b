"""The types a study's parameter may have, and how to read each from Python, JSON and text."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from dataclasses import dataclass
from typing import Any

_NAMES: dict[type, str] = {int: "integer", float: "number", bool: "true or false", str: "text"}
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True)
class FieldType:
    """One parameter's type: int, float, bool or str; perhaps a tuple of it; perhaps None."""

    base: type
    many: bool = False
    optional: bool = False

    @classmethod
    def of(cls, hint: Any, where: str) -> FieldType:
        """Understand a type hint, or say which hints are understood."""
        optional = False
        if typing.get_origin(hint) in (typing.Union, types.UnionType):
            inner = [part for part in typing.get_args(hint) if part is not types.NoneType]
            optional = len(inner) < len(typing.get_args(hint))
            hint = inner[0] if len(inner) == 1 else hint
        many = typing.get_origin(hint) is tuple
        if many:
            parts = typing.get_args(hint)
            hint = parts[0] if len(parts) == 2 and parts[1] is Ellipsis else None
        if hint not in _NAMES:
            raise ValueError(
                f"{where} has a type the lab cannot store; "
                "use int, float, bool, str, tuple[one of these, ...] or one of these | None"
            )
        return cls(hint, many, optional)

    def __str__(self) -> str:
        name = _NAMES[self.base]
        text = f"list of {name}" if self.many else name
        return f"{text} or none" if self.optional else text

    def coerce(self, name: str, value: Any) -> Any:
        """`value` as this type, exactly: 1 becomes 1.0 for a float, 1.5 is refused for an int.

        One value has one spelling, so that equal configurations have equal hashes.

        >>> FieldType(float, many=True).coerce("alpha", [1, 0.5])
        (1.0, 0.5)
        """
        if value is None and self.optional:
            return None
        if self.many:
            if isinstance(value, str) or not hasattr(value, "__iter__"):
                raise ValueError(f"{name} must be {_article(self)}, got {value!r}")
            return tuple(self._one(name, item) for item in value)
        return self._one(name, value)

    def _one(self, name: str, value: Any) -> Any:
        if hasattr(value, "item"):  # numpy scalars
            value = value.item()
        if self.base is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        matches = type(value) is self.base
        if not matches or (self.base is float and not math.isfinite(value)):
            raise ValueError(f"{name} must be {_article(self)}, got {value!r}")
        return value

    def parse(self, name: str, text: str) -> Any:
        """Read the type from the command line; lists are separated by commas.

        >>> FieldType(int, many=True).parse("seed", "0,1,2")
        (0, 1, 2)
        """
        if self.optional and text.lower() == "none":
            return None
        if self.many:
            parts = [part.strip() for part in text.split(",") if part.strip()]
            return tuple(self._read(name, part) for part in parts)
        return self._read(name, text.strip())

    def _read(self, name: str, text: str) -> Any:
        try:
            value = _WORDS[text.lower()] if self.base is bool else self.base(text)
        except (ValueError, KeyError):
            raise ValueError(f"{name} must be {_article(self)}, got {text!r}") from None
        return self._one(name, value)


def _article(kind: FieldType) -> str:
    name = str(kind)
    return f"an {name}" if name.startswith("integer") else f"a {name}"


def field_types(cls: type) -> dict[str, FieldType]:
    """The types of a frozen dataclass's fields, in order; refuses what could not be stored."""
    if cls not in _understood:
        _understood[cls] = _understand(cls)
    return _understood[cls]


_understood: dict[type, dict[str, FieldType]] = {}  # resolving type hints is slow


def _understand(cls: type) -> dict[str, FieldType]:
    if not dataclasses.is_dataclass(cls) or not cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise ValueError(f"parameters must be a frozen dataclass, got {cls!r}")
    hints = typing.get_type_hints(cls)
    return {
        field.name: FieldType.of(hints[field.name], f"{cls.__name__}.{field.name}")
        for field in dataclasses.fields(cls)
    }


def coerced(params: Any) -> Any:
    """The same parameters with every value in its one spelling."""
    values = {
        name: kind.coerce(name, getattr(params, name))
        for name, kind in field_types(type(params)).items()
    }
    return dataclasses.replace(params, **values)
