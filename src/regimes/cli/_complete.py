"""What a shell offers when a study, a theme or a parameter is half typed."""

from __future__ import annotations

from collections.abc import Iterable

import typer

from regimes import lab
from regimes.lab import SIZES, discover, find


def studies(incomplete: str) -> list[str]:
    """Names of studies."""
    return _beginning(discover().studies, incomplete)


def themes(incomplete: str) -> list[str]:
    """Names of themes."""
    return _beginning(lab.themes(discover()), incomplete)


def sizes(incomplete: str) -> list[str]:
    """Sizes of a study."""
    return _beginning(SIZES, incomplete)


def settings(ctx: typer.Context, incomplete: str) -> list[str]:
    """`--set`: the parameters of the study that is named already."""
    from regimes.lab._parameters import settable

    words = [ctx.params.get("study"), *ctx.args]  # not taken apart while an option has no value
    try:
        study = find(next(filter(None, words), ""))
    except ValueError:
        return []
    size = ctx.params.get("size") or "smoke"
    known = settable(study.sizes.get(size, study.sizes["smoke"]))
    return _beginning((f"{name}=" for name in known), incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
