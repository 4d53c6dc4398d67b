"""What lasts of a run: its dataset, claims, parameters, environment and command."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regimes.lab._claims import Claim, Verdict
from regimes.lab._config import canonical_json, digest
from regimes.lab._dataset_io import NUMBERS, STRUCTURE, dataset_files, dataset_from
from regimes.lab._durable import replace_folder
from regimes.lab._environment import environment
from regimes.lab._gather import Results, gather
from regimes.lab._parameters import as_plain, each_coerced, from_plain
from regimes.lab._record import CorruptRecordError
from regimes.lab._store import Store
from regimes.lab._study import Study

if TYPE_CHECKING:
    import xarray as xr

DEFAULT = "results"
VARIABLE = "REGIMES_RESULTS"
_ABOUT = "summary.json"
_CHECKSUMS = "checksums"  # of the files beside it


@dataclass(frozen=True)
class Summary:
    """A run of a study in the form that is kept, shown and committed."""

    study: str
    version: int
    size: str
    label: str  # the size, and a hash when parameters were set by hand
    dtype: str
    params: dict[str, Any]
    command: str
    created: str
    trials: int
    finished: int
    failed: int
    flagged: int  # finished with a NaN or an infinity
    trial_seconds: float  # summed over the trials
    environment: dict[str, Any]  # where the summary was made
    machines: tuple[str, ...]  # where the trials ran
    claims: tuple[Claim, ...]
    dataset: xr.Dataset | None  # None when no trial has finished
    problem: str = ""  # why the summary is not up to date
    wall_seconds: float = 0.0  # in which at least one trial ran; pauses between runs left out

    @property
    def complete(self) -> bool:
        """Every trial is finished."""
        return self.finished == self.trials

    @property
    def damaged(self) -> bool:
        """Nothing but the name could be read; `problem` says why."""
        return self.trials == 0

    def files(self) -> dict[str, bytes]:
        """The summary as files, by name."""
        about = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name not in ("claims", "dataset")
        }
        about["claims"] = [claim.as_dict() for claim in self.claims]
        data = dataset_files(self.dataset) if self.dataset is not None else {}
        about[_CHECKSUMS] = {name: digest(content) for name, content in data.items()}
        text = json.dumps(about, indent=1, allow_nan=False).encode() + b"\n"
        return {_ABOUT: text, **data}

    @classmethod
    def load(cls, folder: Path) -> Summary:
        """Read the files again.

        Raises:
            CorruptRecordError: a file of the dataset does not match its checksum. Records older
                than the checksums have none.
        """
        about = json.loads((folder / _ABOUT).read_bytes())
        names = [name for name in (STRUCTURE, NUMBERS) if (folder / name).exists()]
        files = {name: (folder / name).read_bytes() for name in names}
        for name, checksum in about.pop(_CHECKSUMS, {}).items():
            if name not in files or digest(files[name]) != checksum:
                raise CorruptRecordError(f"{name} does not match its checksum")
        about["claims"] = tuple(Claim.from_dict(claim) for claim in about["claims"])
        about["machines"] = tuple(about["machines"])
        about["params"] = _tuples(about["params"])
        return cls(dataset=dataset_from(files) if files else None, **about)


def summarise(
    study: Study,
    size: str,
    params: Any = None,
    *,
    store: Store | None = None,
    dtype: str | None = None,
    command: str = "",
) -> Summary:
    """Collect what has finished of a run, judge its claims, and note where it was made.

    Of an unfinished run no claim is called reproduced or not: the verdicts are inconclusive and
    say what they would be.
    """
    params = study.parameters(size) if params is None else params
    results = gather(study, params, store=store, dtype=dtype)
    dataset = study.summarise(results) if len(results) else None
    places = {_place(record.provenance) for record in results if record.provenance}
    devices = {record.provenance.get("device") for record in results if record.provenance}
    if devices == {"cuda"} and command.startswith("regimes run") and "--device" not in command:
        command += " --device cuda"
    return dataclasses.replace(
        announce_run(
            study, size, params, trials=len(results.configs), dtype=dtype, command=command
        ),
        finished=len(results),
        failed=len(results.failed),
        flagged=sum(bool(record.result.nonfinite) for record in results),
        trial_seconds=sum(record.seconds for record in results),
        wall_seconds=_wall_seconds((r.started, r.ended) for r in results if r.started and r.ended),
        machines=tuple(sorted(places)),
        claims=_judged(study, results, dataset),
        dataset=dataset,
    )


def _wall_seconds(spans: Iterable[tuple[str, str]]) -> float:
    """Length of the union of intervals given by their ends as ISO times.

    >>> _wall_seconds([("2026-01-01T00:00:00+00:00", "2026-01-01T00:00:09+00:00"),
    ...                ("2026-01-01T00:00:05+00:00", "2026-01-01T00:00:10+00:00"),
    ...                ("2026-01-01T01:00:00+00:00", "2026-01-01T01:00:01+00:00")])
    11.0
    """
    total, reached = 0.0, float("-inf")
    for span in sorted(spans):
        start, end = (datetime.datetime.fromisoformat(each).timestamp() for each in span)
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


def _place(provenance: Mapping[str, Any]) -> str:
    """Where a trial ran, in words: host, processor or accelerator, versions, commit.

    >>> _place({"machine": {"host": "a", "processor": "x86", "cores": 2}, "device": "cpu",
    ...         "versions": {"torch": "2.13"}, "commit": "abc", "threads": 1})
    'a: x86, 2 cores, device cpu, 1 threads, torch 2.13, commit abc'
    """
    machine = provenance["machine"]
    device = provenance.get("device", "cpu")
    if provenance.get("accelerator"):
        device = f"{device} ({provenance['accelerator']})"
    return (
        f"{machine['host']}: {machine['processor']}, {machine['cores']} cores, device {device}, "
        f"{provenance.get('threads')} threads, torch {provenance['versions'].get('torch')}, "
        f"commit {provenance.get('commit') or 'unknown'}"
    )


def announce_run(
    study: Study, size: str, params: Any, *, trials: int, dtype: str | None, command: str
) -> Summary:
    """The summary of a run that is about to begin, so that it can be watched from elsewhere."""
    return Summary(
        study=study.name,
        version=study.version,
        size=size,
        label=label_of(study, size, params, dtype),
        dtype=dtype or study.dtype,
        params=as_plain(params),
        command=command,
        created=_now(),
        trials=trials,
        finished=0,
        failed=0,
        flagged=0,
        trial_seconds=0.0,
        environment=environment(),
        machines=(),
        claims=(),
        dataset=None,
    )


def label_of(study: Study, size: str, params: Any, dtype: str | None = None) -> str:
    """A short name for a run of a study: its size, with a hash when it is not the size's own."""
    dtype = dtype or study.dtype
    if each_coerced(params) == study.parameters(size) and dtype == study.dtype:
        return size
    return f"{size}-{digest(canonical_json([as_plain(params), dtype]))[:8]}"


def keep_summary(summary: Summary, store: Store) -> Path:
    """Write a summary into the store, in the place of an older one of the same run."""
    folder = store.root / "summaries" / summary.study / summary.label
    store.replace(folder, summary.files())
    return folder


def save_results(summary: Summary, root: str | os.PathLike[str] | None = None) -> Path:
    """Write a summary into the results folder, which is committed; returns where."""
    folder = results_root(root) / summary.study / summary.label
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = folder.with_name(f".{folder.name}-{os.urandom(4).hex()}")
    replace_folder(folder, summary.files(), scratch)
    return folder


def results_root(root: str | os.PathLike[str] | None = None) -> Path:
    """The folder of committed results: given, or REGIMES_RESULTS, or results/."""
    return Path(root or os.environ.get(VARIABLE) or DEFAULT).absolute()


def stored_summaries(root: Path) -> Iterator[Summary]:
    """Every summary below a folder laid out as theme/what/label; of a damaged one the name."""
    for folder in sorted(about.parent for about in root.glob(f"*/*/*/{_ABOUT}")):
        if folder.name.startswith("."):
            continue
        try:
            yield Summary.load(folder)
        except Exception as error:  # whatever is wrong with one must not hide the others
            yield _damaged(folder, error)


def _damaged(folder: Path, error: Exception) -> Summary:
    """What can be told of a summary that cannot be read: its name and the problem."""
    why = (
        str(error) if isinstance(error, CorruptRecordError) else f"{type(error).__name__}: {error}"
    )
    return Summary(
        study="/".join(folder.parts[-3:-1]),
        version=0,
        size=folder.name.partition("-")[0],
        label=folder.name,
        dtype="",
        params={},
        command="",
        created="",
        trials=0,
        finished=0,
        failed=0,
        flagged=0,
        trial_seconds=0.0,
        environment={},
        machines=(),
        claims=(),
        dataset=None,
        problem=f"the summary in {folder} is damaged and not used: {why}. Restore it, or give the "
        "command of the run again: it is made anew from the trials in the store",
    )


def refreshed(summary: Summary, study: Study, store: Store, *, force: bool = False) -> Summary:
    """The summary brought up to date with the store; a complete one is final unless forced."""
    if summary.complete and summary.version == study.version and not force:
        return summary
    try:
        params = from_plain(study.parameters("smoke"), summary.params)
    except ValueError:  # an older form of the study made it
        return summary
    return summarise(
        study,
        summary.size,
        params,
        store=store,
        dtype=summary.dtype,
        command=summary.command,
    )


def _judged(study: Study, results: Results, dataset: xr.Dataset | None) -> tuple[Claim, ...]:
    if dataset is None:
        return ()
    claims = tuple(study.claims(dataset))
    undeclared = sorted({claim.id for claim in claims} - set(study.judges))
    if undeclared:
        raise ValueError(
            f"{study.name} gives verdicts on {', '.join(undeclared)}: "
            "add them to judges=... in its decorator"
        )
    open_trials = len(results.failed) + len(results.missing)
    if not open_trials:
        return claims
    note = f"{len(results)} of {len(results.configs)} trials finished"
    return tuple(
        dataclasses.replace(
            claim,
            verdict=Verdict.INCONCLUSIVE,
            why=f"{note}; so far {claim.verdict.value}" + (f"; {claim.why}" if claim.why else ""),
        )
        for claim in claims
    )


def _tuples(value: Any) -> Any:
    """JSON's lists as tuples, in blocks too."""
    if isinstance(value, dict):
        return {name: _tuples(each) for name, each in value.items()}
    return tuple(value) if isinstance(value, list) else value


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
