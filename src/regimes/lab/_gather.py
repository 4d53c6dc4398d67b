"""The finished trials of one scan, read from the store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from regimes.lab._config import TrialConfig
from regimes.lab._former import former_record
from regimes.lab._record import FAILED, CorruptRecordError, Record
from regimes.lab._store import Store
from regimes.lab._study import Study


@dataclass(frozen=True)
class Results:
    """The trials of one scan: those finished, with their values; the others by name.

    Iterating gives the finished records; `record.config.point` is the place in the scan and
    `record.result` what the trial returned.
    """

    study: Study
    params: Any
    configs: tuple[TrialConfig, ...]
    records: tuple[Record, ...]
    failed: tuple[str, ...]  # keys
    missing: tuple[str, ...]  # keys

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)


def gather(
    study: Study, params: Any, *, store: Store | None = None, dtype: str | None = None
) -> Results:
    """Read every finished trial of a scan, each verified; a damaged one counts as missing."""
    store = store or Store()
    configs = tuple(study.configs(params, dtype=dtype))
    present = store.keys(study.name)
    records, failed, missing = [], [], []
    for config in configs:
        record = None
        if config.key in present:
            try:
                record = store.read(study.name, config.key, config=config)
            except FileNotFoundError:
                pass
            except CorruptRecordError:
                store.set_aside(study.name, config.key)
        if record is None and present and study.has_former_forms:
            record = former_record(study, params, config, store)
        if record is None:
            missing.append(config.key)
        elif record.status == FAILED:
            failed.append(config.key)
        else:
            records.append(record)
    return Results(study, params, configs, tuple(records), tuple(failed), tuple(missing))
