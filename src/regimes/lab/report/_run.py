"""One run: figures first, then its claims, then parameters and environment."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from html import escape
from typing import Any

from regimes.lab._claims import Verdict
from regimes.lab._parameters import shown
from regimes.lab._progress import duration
from regimes.lab._results import Summary
from regimes.lab.report._claims import run_claims
from regimes.lab.report._figure import figure_html
from regimes.lab.report._places import Places, run_anchor
from regimes.lab.report._section import Section


def run_html(part: Section, places: Places, *, described: bool = True) -> str:
    """A run as a card; the study's description only where it does not stand above."""
    run = part.summary
    about = paragraphs(part.description) if described else ""
    name = f"{escape(run.study)} <span class='size'>{escape(size_text(run))}</span>"
    head = f"<section class='card run' id='{run_anchor(run)}'><h2>{name}</h2>{about}"
    if run.damaged:
        return f"{head}{_alarm(run.problem)}</section>"
    figures = "".join(
        figure_html(f"{run_anchor(run)}-{number}", title, figure)
        for number, (title, figure) in enumerate(part.figures.items(), start=1)
    )
    stale = [f"This record is stale: {reason}." for reason in run.stale]
    problem = "".join(_alarm(text) for text in (run.problem, *stale, part.problem) if text)
    return (
        f"{head}{_chips(run)}{problem}{figures}{run_claims(run, places)}{_small_print(run)}"
        "</section>"
    )


def size_text(run: Summary) -> str:
    """Which of a study's runs it is."""
    own = "" if run.label == run.size else f", own parameters ({run.label.rpartition('-')[2]})"
    return f"size {run.size}{own}"


def trials_text(run: Summary) -> str:
    """How far a run is."""
    if run.damaged:
        return "damaged"
    trials = "1 trial" if run.trials == 1 else f"{run.trials} trials"
    return trials if run.complete else f"{run.finished} of {trials}"


def tally_text(run: Summary) -> str:
    """How many of its claims have which verdict."""
    tally = Counter(claim.verdict for claim in run.claims)
    return ", ".join(f"{tally[verdict]} {verdict.value}" for verdict in Verdict if tally[verdict])


def paragraphs(text: str) -> str:
    """Paragraphs of a docstring, what stands in backticks as code."""
    made = "".join(f"<p>{escape(' '.join(part.split()))}</p>" for part in text.split("\n\n"))
    return re.sub(r"`([^`<]+)`", r"<code>\1</code>", made) if text else ""


def _chips(run: Summary) -> str:
    within = f" within {duration(run.wall_seconds)}" if run.wall_seconds else ""
    chips = [
        (trials_text(run), not run.complete),
        (run.dtype, False),
        (f"{duration(run.trial_seconds)} of computing{within}", False),
        (tally_text(run), False),
        (f"{run.failed} failed" if run.failed else "", True),
        ("stale" if run.stale else "", True),
        (f"{run.flagged} with NaN or infinity" if run.flagged else "", True),
    ]
    items = "".join(
        f"<li{' class=warn' if warn else ''}>{escape(text)}</li>" for text, warn in chips if text
    )
    return f"<ul class='chips'>{items}</ul>"


def _alarm(text: str) -> str:
    return f"<p class='alarm'>{escape(text)}</p>"


def _small_print(run: Summary) -> str:
    params = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(shown(value))}</dd>"
        for name, value in _flat(run.params).items()
    )
    machine, software = run.environment["machine"], run.environment["versions"]
    facts = {
        "summary made on": f"{machine['processor']}, {machine['cores']} cores, {machine['system']}",
        "trials ran on": "; ".join(run.machines),
        "versions": ", ".join(f"{name} {version}" for name, version in software.items()),
        "commit": run.environment["commit"] or "unknown",
        "made": run.created,
    }
    if run.replication is not None:
        again = run.replication
        facts["on fresh seeds"] = f"{again.command} ({again.created}; {'; '.join(again.machines)})"
    environment = "".join(f"<dt>{k}</dt><dd>{escape(v)}</dd>" for k, v in facts.items())
    command = f"<pre>{escape(run.command)}</pre>" if run.command else ""
    return (
        f"<details><summary>Parameters and environment</summary>{command}"
        f"<dl>{params}</dl><dl>{environment}</dl></details>"
    )


def _flat(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters by name, those of blocks as `block.name`."""
    found: dict[str, Any] = {}
    for name, value in params.items():
        own = (
            {f"{name}.{part}": each for part, each in value.items()}
            if isinstance(value, Mapping)
            else {name: value}
        )
        found |= own
    return found
