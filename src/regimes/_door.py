"""The door of a room: what fails inside it leaves as one sentence about the arguments.

Functions check what they can name. What slips through ends in torch, numpy or scipy, whose
message speaks of none of the caller's words. At the door such an error is raised again, with the
name of the function and its arguments; the first one is kept as the cause. Errors raised by us, by
the user's own functions, or for want of memory pass as they are.
"""

from __future__ import annotations

import collections.abc
import dis
import functools
import inspect
import numbers
import sys
import sysconfig
import types
import typing
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

_HERE = Path(__file__).parent
_PYTHON = (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"))
_RAISE = dis.opmap["RAISE_VARARGS"]


def keep(room: dict[str, Any], *, finite: Collection[str] = ()) -> None:
    """Put the public functions of a room behind its door: `keep(globals())`, last in `__init__`.

    Args:
        room: the names of the room with its `__all__`.
        finite: functions whose results are finite wherever their arguments are; where they would
            not be, by overflow or division by zero, a ValueError says so.
    """
    for name in room["__all__"]:
        function = room[name]
        if inspect.isfunction(function):
            called = _behind(function, room["__name__"], finite=name in finite)
            room[name] = called
            home = vars(sys.modules[function.__module__])
            if home.get(name) is function:  # where pickle and the doctests look for it
                home[name] = called


def _behind(function: Callable, room: str, *, finite: bool) -> Callable:
    """The function, with errors that speak of its arguments."""
    name = f"{room.removeprefix('regimes.')}.{function.__name__}"

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            if _passes(error):
                raise
            _explain(name, function, args, kwargs, error)
        if finite and not _is_finite(result) and _is_finite([*args, *kwargs.values()]):
            given = _described(function, args, kwargs)
            raise ValueError(
                f"{name} is no finite number for {given}; scale the arguments so that nothing "
                "overflows or is divided by zero"
            )
        return result

    return called


def _passes(error: Exception) -> bool:
    """Whether an error already speaks to the user, or is not about the arguments."""
    if (
        isinstance(error, OSError | MemoryError | ImportError)
        or "OutOfMemory" in type(error).__name__
    ):
        return True
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
        file = Path(trace.tb_frame.f_code.co_filename)
        library = "site-packages" in file.parts or any(map(file.is_relative_to, _PYTHON))
        if not (file.is_relative_to(_HERE) or library) and file.is_file():
            return True  # a function that the user has passed
    if trace is None:
        return True
    code = trace.tb_frame.f_code
    ours = Path(code.co_filename).is_relative_to(_HERE)
    return ours and code.co_code[trace.tb_lasti] == _RAISE


def _explain(
    name: str, function: Callable, args: tuple, kwargs: dict[str, Any], error: Exception
) -> NoReturn:
    """Raise what is wrong with the arguments, as far as their types or shapes tell."""
    try:
        given = inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError as unbound:
        raise TypeError(f"{name}: {unbound}; see help({name})") from None
    hints = _hints(function)
    for key, value in given.items():
        if key in hints and _unlike(value, hints[key]):
            expected = inspect.formatannotation(function.__annotations__[key]).strip("'")
            raise TypeError(
                f"{name}: {key} must be of type {expected}, got {_words(value)}"
            ) from error
    reason = next(iter(str(error).splitlines()), "") or type(error).__name__
    raise ValueError(
        f"{name} cannot be computed from {_described(function, args, kwargs)}: {reason}"
    ) from error


@functools.cache
def _hints(function: Callable) -> Mapping[str, Any]:
    """Types of the arguments, without those that are known to type checkers alone."""
    try:
        return typing.get_type_hints(function)
    except NameError:
        return {}


def _unlike(value: object, hint: Any) -> bool:
    """Whether a value is certainly not of a type; what cannot be told passes."""
    origin = typing.get_origin(hint)
    if hint is Any:
        return False
    if origin in (typing.Union, types.UnionType):
        return all(_unlike(value, each) for each in typing.get_args(hint))
    if origin is typing.Literal:
        return value not in typing.get_args(hint)
    kind = origin or hint
    if not isinstance(kind, type) or getattr(kind, "_is_protocol", False):
        return False
    if kind is float:
        return not isinstance(value, numbers.Real)
    if kind is int:
        return isinstance(value, bool) or not isinstance(value, numbers.Integral)
    if isinstance(value, str) and kind in (collections.abc.Sequence, collections.abc.Iterable):
        return True
    return not isinstance(value, kind)


def _described(function: Callable, args: tuple, kwargs: dict[str, Any]) -> str:
    """The arguments of a call in words."""
    given = inspect.signature(function).bind(*args, **kwargs).arguments
    return ", ".join(f"{key} = {_words(value)}" for key, value in given.items())


def _words(value: object) -> str:
    """A value in few words: the shape of a tensor, never its entries."""
    shape = getattr(value, "shape", None)
    if shape is not None and not isinstance(value, type):
        dtype = str(getattr(value, "dtype", "")).removeprefix("torch.")
        return f"{type(value).__name__} {tuple(shape)} {dtype}".strip()
    if value is None or isinstance(value, bool | int | float | str):
        text = repr(value)
        return text if len(text) <= 40 else text[:37] + "..."
    if isinstance(value, list | tuple | dict | set):
        return f"{type(value).__name__} of {len(value)}"
    return type(value).__name__


def _is_finite(value: object) -> bool:
    """Whether all tensors and numbers in a value are finite."""
    return all(_all_finite(each) for each in _leaves(value))


def _leaves(value: object) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    elif hasattr(value, "__dataclass_fields__"):
        yield from _leaves(list(vars(value).values()))
    elif isinstance(value, float | complex) or hasattr(value, "dtype"):
        yield value


def _all_finite(value: Any) -> bool:
    """Of a tensor, an array or a number: `x - x` is zero for finite numbers alone."""
    if "float" not in str(getattr(value, "dtype", "float")):
        return True
    return bool((value - value == 0).all()) if hasattr(value, "dtype") else value - value == 0
