"""Groups of parameters that get a Gram of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

GroupOf = Callable[[str], str]  # parameter -> name of its group

LEFT_OUT = "\0left out"


def whole(name: str) -> str:
    """One group for everything."""
    return ""


def owner(name: str) -> str:
    """The module that owns a parameter, by the name `get_submodule` knows; "" is the network.

    >>> owner("layers.0.weight"), owner("scale")
    ('layers.0', '')
    """
    return name.rpartition(".")[0]


def by_prefix(groups: Mapping[str, Sequence[str]], names: Sequence[str]) -> GroupOf:
    """Groups by prefixes of the parameters' names; what matches none is left out.

    Raises:
        ValueError: a group without parameters, or a parameter in two groups.
    """
    found = dict.fromkeys(names, LEFT_OUT)
    for group, prefixes in groups.items():
        members = [
            name for name in names if any(name == p or name.startswith(p + ".") for p in prefixes)
        ]
        if not members:
            raise ValueError(
                f"group {group!r} matches no trainable parameter; prefixes given: "
                f"{list(prefixes)}, parameters: {list(names)}"
            )
        for name in members:
            if found[name] != LEFT_OUT:
                raise ValueError(f"parameter {name!r} is in groups {found[name]!r} and {group!r}")
            found[name] = group
    return found.__getitem__
