"""What lasts of a run: its dataset, claims, parameters, environment and command."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regimes.lab._claims import Claim
from regimes.lab._config import canonical_json, digest
from regimes.lab._dataset_io import NUMBERS, STRUCTURE, dataset_files, dataset_from
from regimes.lab._differences import changes_of
from regimes.lab._durable import replace_folder
from regimes.lab._environment import environment
from regimes.lab._gather import gather
from regimes.lab._judging import judged, judging_digest
from regimes.lab._parameters import as_plain, each_coerced, from_plain
from regimes.lab._record import CorruptRecordError
from regimes.lab._store import Store
from regimes.lab._study import Study
from regimes.lab._summary_text import summary_html, summary_text

if TYPE_CHECKING:
    import xarray as xr

DEFAULT = "results"
VARIABLE = "REGIMES_RESULTS"
_ABOUT = "summary.json"
_REPLICATION = "replication-"  # begins the names of the files of a replication
_SAME_RUN = ("study", "version", "label", "dtype", "params")
_NOT_IN_ABOUT = ("claims", "dataset", "replication", "stale")
_CHECKSUMS = "checksums"  # of the files beside it


@dataclass(frozen=True, repr=False)
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
    # in which at least one trial ran, pauses between runs left out; None in records older than this
    wall_seconds: float | None = None
    judging: str = ""  # digest of the code that judged the claims; none in older records
    changed: tuple[dict[str, Any], ...] = ()  # claims judged otherwise since the run, with the date
    replication: Summary | None = None  # the same scan on other seeds, kept with a record
    stale: tuple[str, ...] = ()  # why it no longer says what the study would; not kept in files

    def __repr__(self) -> str:
        return summary_text(self)

    def _repr_html_(self) -> str:
        return summary_html(self)

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
            if field.name not in _NOT_IN_ABOUT
        }
        about["claims"] = [claim.as_dict() for claim in self.claims]
        data = dataset_files(self.dataset) if self.dataset is not None else {}
        about[_CHECKSUMS] = {name: digest(content) for name, content in data.items()}
        text = _as_text(about)
        again = self.replication.files() if self.replication is not None else {}
        return {_ABOUT: text, **data} | {f"{_REPLICATION}{name}": c for name, c in again.items()}

    @classmethod
    def load(cls, folder: Path, *, data: bool = True, prefix: str = "") -> Summary:
        """Read the files again, those with the data only when asked for.

        Raises:
            CorruptRecordError: a file of the dataset does not match its checksum. Records older
                than the checksums have none.
        """
        about = json.loads((folder / f"{prefix}{_ABOUT}").read_bytes())
        places = {name: folder / f"{prefix}{name}" for name in (STRUCTURE, NUMBERS) if data}
        files = {name: path.read_bytes() for name, path in places.items() if path.exists()}
        checksums = about.pop(_CHECKSUMS, {})
        for name, checksum in checksums.items() if data else ():
            if name not in files or digest(files[name]) != checksum:
                raise CorruptRecordError(f"{name} does not match its checksum")
        about["claims"] = tuple(Claim.from_dict(claim) for claim in about["claims"])
        about["machines"] = tuple(about["machines"])
        about["changed"] = tuple(about.get("changed", ()))
        about["params"] = _tuples(about["params"])
        if not prefix and (folder / f"{_REPLICATION}{_ABOUT}").exists():
            about["replication"] = cls.load(folder, data=data, prefix=_REPLICATION)
        return cls(dataset=dataset_from(files) if files else None, **about)


def summarise(
    study: Study,
    size: str,
    params: Any = None,
    *,
    store: Store | None = None,
    dtype: str | None = None,
    command: str = "",
    label: str | None = None,
) -> Summary:
    """Collect what has finished of a run, judge its claims, and note where it was made.

    Of an unfinished run no claim is called reproduced or not: the verdicts are inconclusive and
    say what they would be. A run goes by its own label (see `label_of`) unless one is given.
    """
    params = study.parameters(size) if params is None else params
    results = gather(study, params, store=store, dtype=dtype)
    dataset = study.summarise(results) if len(results) else None
    trials, finished = len(results.configs), len(results)
    places = Counter(_place(record.provenance) for record in results if record.provenance)
    claims = judged(study, dataset, finished=finished, trials=trials) if dataset is not None else ()
    return dataclasses.replace(
        announce_run(study, size, params, trials=trials, dtype=dtype, command=command, label=label),
        finished=finished,
        failed=len(results.failed),
        flagged=sum(bool(record.result.nonfinite) for record in results),
        trial_seconds=sum(record.seconds for record in results),
        wall_seconds=_wall_seconds((r.started, r.ended) for r in results if r.started and r.ended),
        machines=tuple(f"{place} ({number} trials)" for place, number in sorted(places.items())),
        claims=claims,
        judging=judging_digest(study),
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
    """Where a trial ran, in words: host, processor or accelerator, threads, versions, commit.

    >>> _place({"machine": {"host": "a", "processor": "x86", "cores": 2}, "device": "cpu",
    ...         "versions": {"torch": "2.13", "numpy": "2.3"}, "commit": "abc", "threads": 1})
    'a: x86, 2 cores, device cpu, 1 threads, torch 2.13, numpy 2.3, commit abc'
    """
    machine = provenance["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in provenance["versions"].items())
    device = provenance.get("device", "cpu")
    if provenance.get("accelerator"):
        device = f"{device} ({provenance['accelerator']})"
    return (
        f"{machine['host']}: {machine['processor']}, {machine['cores']} cores, device {device}, "
        f"{provenance.get('threads')} threads, {versions}, "
        f"commit {provenance.get('commit') or 'unknown'}"
    )


def announce_run(
    study: Study,
    size: str,
    params: Any,
    *,
    trials: int,
    dtype: str | None,
    command: str,
    label: str | None = None,
) -> Summary:
    """The summary of a run that is about to begin, so that it can be watched from elsewhere."""
    return Summary(
        study=study.name,
        version=study.version,
        size=size,
        label=label or label_of(study, size, params, dtype),
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


def kept_summary(store: Store, study: str, label: str) -> Summary | None:
    """What the store keeps of a run; None too where it is damaged, and then it is made anew."""
    folder = store.root / "summaries" / study / label
    try:
        return Summary.load(folder, data=False) if (folder / _ABOUT).exists() else None
    except (ValueError, KeyError, TypeError, OSError):
        return None


def save_results(summary: Summary, root: str | os.PathLike[str] | None = None) -> Path:
    """Write a summary into the results folder, which is committed; returns where.

    Where a record of the same run is there already, its replication is kept, and claims that were
    judged otherwise are listed under `changed`: the criterion changed after the run.
    """
    folder = results_root(root) / summary.study / summary.label
    folder.parent.mkdir(parents=True, exist_ok=True)
    if (folder / _ABOUT).exists():
        summary = with_history(summary, Summary.load(folder))
    replace_folder(folder, summary.files(), _beside(folder))
    return folder


def replace_in_record(folder: Path, record: Summary, *, replication: bool = False) -> bool:
    """Rewrite what a committed record says; its data stay as they are, byte for byte.

    Args:
        folder: where the record is.
        record: what it shall say.
        replication: write the data of its replication too.

    Returns:
        Whether anything was to be written.
    """
    old = {path.name: path.read_bytes() for path in folder.iterdir()}
    kept = {n: b for n, b in old.items() if not (replication and n.startswith(_REPLICATION))}
    new = {n: b for n, b in record.files().items() if n not in kept or n.endswith(_ABOUT)}
    written = _with_checksums(kept | new)
    if written == old:
        return False
    replace_folder(folder, written, _beside(folder))
    return True


def _with_checksums(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a record, what it says of its data being true of the bytes that lie there."""
    found = dict(files)
    for name in [each for each in files if each.endswith(_ABOUT)]:
        prefix, about = name.removesuffix(_ABOUT), json.loads(files[name])
        beside = {part: files.get(f"{prefix}{part}") for part in (STRUCTURE, NUMBERS)}
        about[_CHECKSUMS] = {part: digest(b) for part, b in beside.items() if b is not None}
        found[name] = _as_text(about)
    return found


def _as_text(about: Mapping[str, Any]) -> bytes:
    return json.dumps(about, indent=1, allow_nan=False).encode() + b"\n"


def _beside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}-{os.urandom(4).hex()}")


def results_root(root: str | os.PathLike[str] | None = None) -> Path:
    """The folder results are written to: given, or REGIMES_RESULTS, or results/."""
    return Path(root or os.environ.get(VARIABLE) or DEFAULT).absolute()


def results_roots(root: str | os.PathLike[str] | None = None) -> tuple[Path, ...]:
    """The folders results are read from, those that count more last.

    The one given or named in REGIMES_RESULTS stands alone. Without either the records that come
    with the package are known everywhere, and those in results/ take their places.
    """
    own = results_root(root)
    if root or os.environ.get(VARIABLE):
        return (own,)
    return tuple(dict.fromkeys([*shipped_results(), own]))


def shipped_results() -> list[Path]:
    """Where the package's own records lie: in an installed package, or beside its sources."""
    package = Path(__file__).parents[1]
    checkout = package.parents[1]
    if (checkout / "pyproject.toml").exists():
        return [checkout / DEFAULT]
    return [package / "recorded"]  # where the wheel puts results/


def with_history(summary: Summary, earlier: Summary) -> Summary:
    """A summary with what an earlier record of it knows beside it.

    A criterion that moved after a run was seen stays listed when the study is run again with other
    parameters; a replication belongs to the one run.
    """
    if (summary.study, summary.label) != (earlier.study, earlier.label):
        return summary
    if any(getattr(summary, name) != getattr(earlier, name) for name in _SAME_RUN):
        return dataclasses.replace(summary, changed=earlier.changed)
    now = () if summary.judging == earlier.judging else changes_of(earlier.claims, summary.claims)
    return dataclasses.replace(
        summary,
        replication=summary.replication or earlier.replication,
        changed=(*earlier.changed, *now),
    )


def stored_folders(root: Path) -> Iterator[Path]:
    """Every folder with a summary below one laid out as theme/what/label."""
    for about in sorted(root.glob(f"*/*/*/{_ABOUT}")):
        if not about.parent.name.startswith("."):
            yield about.parent


def stored_summaries(*roots: Path, data: bool = True) -> Iterator[Summary]:
    """Every summary below folders laid out as theme/what/label; of a damaged one the name.

    Of two summaries of one run the one in the later folder is given.
    """
    found = {folder.parts[-3:]: folder for root in roots for folder in stored_folders(root)}
    for folder in found.values():
        try:
            yield Summary.load(folder, data=data)
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
        label=summary.label,
    )


def _tuples(value: Any) -> Any:
    """JSON's lists as tuples, in blocks too."""
    if isinstance(value, dict):
        return {name: _tuples(each) for name, each in value.items()}
    return tuple(value) if isinstance(value, list) else value


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
