"""Verdicts on a dataset, and a digest of the code they come from."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from regimes.lab import _claims, judge
from regimes.lab._claims import Claim, Verdict
from regimes.lab._config import digest
from regimes.lab._study import Study
from regimes.lab.judge import Claims

if TYPE_CHECKING:
    import xarray as xr

_LENGTH = 16  # hexadecimal digits of a digest that are kept


def judged(study: Study, dataset: xr.Dataset, *, finished: int, trials: int) -> tuple[Claim, ...]:
    """The study's claims on a dataset in its present form.

    Of an unfinished run no claim is called reproduced or not: the verdicts are inconclusive and say
    what they would be.

    Raises:
        ValueError: the study judges what it did not declare.
    """
    claims = tuple(study.claims(dataset))
    undeclared = sorted({claim.id for claim in claims} - set(study.judges))
    if undeclared:
        raise ValueError(
            f"{study.name} gives verdicts on {', '.join(undeclared)}: "
            "add them to judges=... in its decorator"
        )
    if finished == trials:
        return claims
    note = f"{finished} of {trials} trials finished"
    return tuple(
        dataclasses.replace(
            claim,
            verdict=Verdict.INCONCLUSIVE,
            why=f"{note}; so far {claim.verdict.value}" + (f"; {claim.why}" if claim.why else ""),
        )
        for claim in claims
    )


def judging_digest(study: Study) -> str:
    """A digest of the files that decide on the study's claims.

    They are the modules in which its judges are declared, `lab/judge` and `lab/_claims.py`. How
    lines end and what the modules are called does not matter.
    """
    judges = getattr(study.claims, "__self__", None)
    names = judges.modules if isinstance(judges, Claims) else {study.claims.__module__}
    vocabulary = Path(str(judge.__file__)).parent.glob("*.py")
    paths = {Path(str(_claims.__file__)), *vocabulary, *(_file_of(name) for name in names)}
    texts = sorted(path.read_text(encoding="utf-8") for path in paths if path is not None)
    return digest("\0".join(texts))[:_LENGTH]


def _file_of(module: str) -> Path | None:
    """Where a module was read from; None for one that was typed in."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return Path(file) if file and Path(file).exists() else None
