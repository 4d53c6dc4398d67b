"""The lab: studies as data, a store that survives, executors, claims and reports.

A study says what is scanned and what one trial does; the lab runs the trials, wherever there is
room, keeps every result, goes on where it was stopped, and makes tables and pages of them. It knows
nothing of networks or kernels.

    regimes.lab.study           registers a study
    regimes.lab.run             runs one and returns its summary
    regimes.lab.load            the data of a recorded or finished one
    regimes.lab.Store           the trials on disk
"""

from __future__ import annotations

from regimes.lab._axes import Axis
from regimes.lab._check_results import Checked, check_results
from regimes.lab._checkpoint import Begun, begun
from regimes.lab._claims import Claim, Verdict
from regimes.lab._collect import collect, collect_blocks, mean_over
from regimes.lab._config import Point, TrialConfig
from regimes.lab._environment import environment
from regimes.lab._executor_local import LocalExecutor
from regimes.lab._executor_ray import RayExecutor
from regimes.lab._executors import Executor, ExecutorError, InlineExecutor
from regimes.lab._gather import Results, gather
from regimes.lab._known import check_source, known_summaries
from regimes.lab._ledger import LedgerEntry, ledger
from regimes.lab._load import load
from regimes.lab._overrides import override
from regimes.lab._progress import LiveBar, PlainLines, Progress, Silent, Tally
from regimes.lab._record import CorruptRecordError, Record
from regimes.lab._registry import Catalogue, check_study, check_theme, discover, find, themes
from regimes.lab._replicate import (
    Comparison,
    Mark,
    compared,
    fresh_label,
    fresh_parameters,
    marks,
    record_replication,
    seeds_seen,
)
from regimes.lab._results import (
    Summary,
    announce_run,
    keep_summary,
    kept_summary,
    label_of,
    results_root,
    results_roots,
    save_results,
    stored_summaries,
    summarise,
)
from regimes.lab._run import Request, SummaryError, conduct, run
from regimes.lab._stale import marked
from regimes.lab._states import finished, ran, rows, unfinished
from regimes.lab._stop import Stop
from regimes.lab._store import Store, StoreError
from regimes.lab._study import SIZES, Study, study
from regimes.lab._summary_text import measured_text
from regimes.lab._sweep import Agenda, Failure, SweepReport, agenda, execute
from regimes.lab._tables import along, first_of, split, those_run
from regimes.lab._trial import Array, Series, TrialResult
from regimes.lab._types import Data, Figure, Values
from regimes.lab._verdicts import LedgerLine, count_replicated, count_verdicts, verdicts
from regimes.lab.report import (
    Section,
    report_folder,
    report_html,
    report_section,
)

__all__ = [
    "SIZES",
    "Agenda",
    "Array",
    "Axis",
    "Begun",
    "Catalogue",
    "Checked",
    "Claim",
    "Comparison",
    "CorruptRecordError",
    "Data",
    "Executor",
    "ExecutorError",
    "Failure",
    "Figure",
    "InlineExecutor",
    "LedgerEntry",
    "LedgerLine",
    "LiveBar",
    "LocalExecutor",
    "Mark",
    "PlainLines",
    "Point",
    "Progress",
    "RayExecutor",
    "Record",
    "Request",
    "Results",
    "Section",
    "Series",
    "Silent",
    "Stop",
    "Store",
    "StoreError",
    "Study",
    "Summary",
    "SummaryError",
    "SweepReport",
    "Tally",
    "TrialConfig",
    "TrialResult",
    "Values",
    "Verdict",
    "agenda",
    "along",
    "announce_run",
    "begun",
    "check_results",
    "check_source",
    "check_study",
    "check_theme",
    "collect",
    "collect_blocks",
    "compared",
    "conduct",
    "count_replicated",
    "count_verdicts",
    "discover",
    "environment",
    "execute",
    "find",
    "finished",
    "first_of",
    "fresh_label",
    "fresh_parameters",
    "gather",
    "keep_summary",
    "kept_summary",
    "known_summaries",
    "label_of",
    "ledger",
    "load",
    "marked",
    "marks",
    "mean_over",
    "measured_text",
    "override",
    "ran",
    "record_replication",
    "report_folder",
    "report_html",
    "report_section",
    "results_root",
    "results_roots",
    "rows",
    "run",
    "save_results",
    "seeds_seen",
    "split",
    "stored_summaries",
    "study",
    "summarise",
    "themes",
    "those_run",
    "unfinished",
    "verdicts",
]
