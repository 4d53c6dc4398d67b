"""Learning curves of the kernel at initialisation, on data as they are and compressed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Array, Axis, Claim, Point, TrialResult, study
from regimes.studies._parts import Part, claim_of_parts
from regimes.studies.compression import _frozen, _medians

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

    from regimes.measure import PowerLaw

ROOT = "root p"  # the compression a feature-learning network reaches: some factor times sqrt(p)
FACTORS = ("1", "2", "4", "8")  # of the scan that measures the gain
FULL_FROM = 20_000  # a scan that reaches so far is judged by the tolerances of the full size


@dataclass(frozen=True)
class Task:
    """A model of the data."""

    d: int
    d_par: int
    reached: float  # Lambda*/sqrt(p) of networks that learn features
    title: str

    @property
    def d_perp(self) -> int:
        """Number of irrelevant directions."""
        return self.d - self.d_par


TASKS = {
    "stripe-5": Task(5, 1, 0.95, "Stripe, d = 5"),
    "stripe-10": Task(10, 1, 0.95, "Stripe, d = 10"),
    "cylinder-3": Task(3, 2, 0.4, "Cylinder, d = 3"),
}


COLORS = ("#1b9e77", "#7570b3", "#d95f02")


@dataclass(frozen=True)
class Params:
    """Scanned: task, compression, n_train and seed. Fixed: the rest."""

    task: tuple[str, ...] = tuple(TASKS)
    compression: tuple[str, ...] = (*FACTORS, ROOT)
    n_train: tuple[int, ...] = (50, 100)
    seed: tuple[int, ...] = (0, 1)
    n_test: int = 500
    gain_at: int = 100  # n_train at which fixed factors are scanned


@study(
    "compression/kernel-curves",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            n_train=(250, 500, 1000, 2000, 4000),
            seed=tuple(range(16)),
            n_test=40_000,
            gain_at=1000,
        ),
        "paper": Params(
            n_train=(250, 500, 1000, 2000, 4000, 8000, 16_000, 20_000, 32_000),
            seed=tuple(range(20)),
            n_test=100_000,
            gain_at=20_000,
        ),
    },
    axes=[
        Axis("task"),
        Axis("compression"),
        Axis("n_train", unit="points"),
        Axis("seed", stacked=True),
    ],
    units={"error": "fraction", "support": "fraction", "unfitted": "fraction"},
    watch={"error": "min"},
    judges=("COMP-22", "COMP-23", "COMP-27", "COMP-30"),
)
class KernelCurves:
    """Why compression helps: a kernel that does not move, on data with and without it.

    A machine with the tangent kernel of an infinitely wide network at initialisation learns the
    stripe and the cylinder. It learns slowly, because distances along irrelevant directions blur
    the kernel. Shrinking these by hand, by the factor that networks reach on their own, gives it
    the exponent of networks that learn features.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One machine a seed."""
        import torch

        from regimes import data

        task = TASKS[point.task]
        factor = _factor(task, point.compression, point.n_train)
        learned = []
        for seed in point.seed:
            draw = data.stripe if task.d_par == 1 else data.cylinder
            made = draw(point.n_train, params.n_test, task.d, seed, dtype=torch.float64)
            small = made.pipe(data.compress(factor, informative=task.d_par))
            small = small.to(getattr(torch, point.dtype), point.device)
            learned.append(
                _frozen.hard_margin(
                    _frozen.initial_kernel,
                    data.Points(small.x_train, small.y_train),
                    data.Points(small.x_test, small.y_test),
                )
            )
        names = ("error", "support", "unfitted")
        return TrialResult(
            arrays={n: Array("seed", [getattr(one, n) for one in learned]) for n in names}
        )

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """The gain is scanned at one size of the training set."""
        return bool(point.compression in ("1", ROOT) or point.n_train == params.gain_at)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Entries of the Gram matrices."""
        return float(point.n_train * (point.n_train + params.n_test / 4))

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """Learning curves of each task, and the gain."""
        made = {TASKS[name].title: _curves(dataset, name) for name in map(str, dataset.task.values)}
        return (
            {**made, "Gain by compression": _gains(dataset)} if len(_gain_sizes(dataset)) else made
        )

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """COMP-22, 23, 27 and 30."""
        judges = (_lazy_claim, _compressed_claim, _gain_claim, _cylinder_claim)
        ids = ("COMP-22", "COMP-23", "COMP-27", "COMP-30")
        missing = _medians.unfinished(dataset)
        whole = set(dataset.task.values) == set(TASKS) and len(_gain_sizes(dataset)) > 0
        if missing or not whole or dataset.n_train.max() < 4000:
            why = f"needs all tasks, p up to 4000 and the scan of factors; {missing} trials missing"
            return [Claim.unclear(id, "see the ledger", why=why) for id in ids]
        return [judge(dataset) for judge in judges]


def _factor(task: Task, compression: str, p: int) -> float:
    return task.reached * p**0.5 if compression == ROOT else float(compression)


def _curve(dataset: xr.Dataset, task: str, compression: str) -> xr.DataArray:
    return dataset.error.sel(task=task, compression=compression)


def _fit(dataset: xr.Dataset, task: str, compression: str, low: float) -> PowerLaw:
    high = float(dataset.n_train.max())
    return _medians.exponent(_curve(dataset, task, compression), low, high)


def _full(dataset: xr.Dataset) -> bool:
    return bool(dataset.n_train.max() >= FULL_FROM)


def _lazy_claim(dataset: xr.Dataset) -> Claim:
    from regimes.theory import beta_lazy

    parts, early = [], []
    for task, cpu in (("stripe-5", (0.43, 0.08)), ("stripe-10", (0.42, 0.1))):
        limit = beta_lazy(TASKS[task].d)
        middle, tolerance = (limit, 0.05) if _full(dataset) else cpu
        fit = _fit(dataset, task, "1", 1000)
        parts.append(Part(task, -fit.exponent, middle - tolerance, middle + tolerance, fit.error))
        before = _medians.exponent(_curve(dataset, task, "1"), 250, 1000)
        early.append(f"{task} {-before.exponent:.3f} at p = 250 to 1000, {limit:.3f} in the limit")
    why = f"p = 1000 to {int(dataset.n_train.max())}; slopes fall with p: {'; '.join(early)}"
    return claim_of_parts("COMP-22", parts, why=why)


def _compressed_claim(dataset: xr.Dataset) -> Claim:
    from regimes.theory import beta_feature

    parts, limits = [], []
    for task in ("stripe-5", "stripe-10"):
        limit = beta_feature(TASKS[task].d, TASKS[task].d_perp)
        middle, tolerance = (limit, 0.06) if _full(dataset) else (0.64, 0.1)
        fit = _fit(dataset, task, ROOT, 250)
        parts.append(Part(task, -fit.exponent, middle - tolerance, middle + tolerance, fit.error))
        limits.append(f"{limit:.3f}")
    why = (
        f"p = 250 to {int(dataset.n_train.max())}, {dataset.sizes['seed']} seeds; "
        f"{' and '.join(limits)} in the limit"
    )
    if not _full(dataset):
        why += "; the range was set around a trial of few seeds, 0.64, not around the limit"
    return claim_of_parts("COMP-23", parts, why=why)


def _gain_sizes(dataset: xr.Dataset) -> np.ndarray:
    """Where every factor was scanned; none in a scan without them."""
    if not set(FACTORS) <= set(dataset.compression.values):
        return np.array([])
    scan = dataset.error.sel(compression=list(FACTORS))
    whole = scan.notnull().all(["task", "compression", "seed"])
    return np.asarray(dataset.n_train.values[whole.values])


def _gain(dataset: xr.Dataset, task: str) -> xr.DataArray:
    """Errors (seed, factor) at the one p where the factors were scanned."""
    scan = dataset.error.sel(
        task=task, compression=list(FACTORS), n_train=_gain_sizes(dataset)[0]
    ).transpose("seed", "compression")
    return scan.assign_coords(compression=[float(factor) for factor in FACTORS])


def _gain_claim(dataset: xr.Dataset) -> Claim:
    from regimes.measure import power_law
    from regimes.theory import compression_exponent

    parts, limits = [], []
    for task, low, high in (("stripe-5", -0.85, -0.4), ("cylinder-3", -0.3, -0.05)):
        scan = _gain(dataset, task)
        fit = power_law(scan.compression.values, scan.values)
        parts.append(Part(f"{task} slope", fit.exponent, low, high, fit.error))
        limit = compression_exponent(TASKS[task].d, TASKS[task].d_perp)
        limits.append(f"-{limit:.3f} ({task}, r2 {fit.r2:.3f})")
    why = f"p = {int(scan.n_train)}, Lambda = 1 to 8; theory {', '.join(limits)}"
    return claim_of_parts("COMP-27", parts, why=why)


def _cylinder_claim(dataset: xr.Dataset) -> Claim:
    lazy, small = (_fit(dataset, "cylinder-3", c, 250) for c in ("1", ROOT))
    gap = lazy.exponent - small.exponent
    parts = [
        Part("lazy exponent", -lazy.exponent, 0.38, 0.58, lazy.error),
        Part("compressed - lazy exponent", gap, 0.02, 0.15, math.hypot(lazy.error, small.error)),
    ]
    why = f"compressed {-small.exponent:.3f}; 3/7 and 1/2 in the limit, 1/14 apart"
    return claim_of_parts("COMP-30", parts, why=why)


def _curves(dataset: xr.Dataset, name: str) -> go.Figure:
    import plotly.graph_objects as go

    from regimes.theory import beta_feature, beta_lazy

    figure, task = go.Figure(), TASKS[name]
    x = dataset.n_train.values
    for compression, label, color, beta in (
        ("1", "data as they are", "#d95f02", beta_lazy(task.d)),
        (
            ROOT,
            f"irrelevant directions / {task.reached:g} √p",
            "#7570b3",
            beta_feature(task.d, task.d_perp),
        ),
    ):
        values = _curve(dataset, name, compression).transpose("seed", "n_train").values
        _medians.add_medians(figure, x, values, label, color=color)
        end = 0.75 * float(np.median(values[:, -1]))
        _medians.add_slope(figure, x, end, -beta, f"slope -{beta:.3f}")
    caption = (
        f"Test error of a hard-margin machine with the initial tangent kernel of an infinitely "
        f"wide network; medians over seeds, bars hold the middle half. {task.title}: "
        f"{task.d_par} of {task.d} directions decide the label. Shrinking the others as networks "
        "do lowers the error and steepens the curve. Grey: the exponents predicted "
        "for the limit of large p."
    )
    _medians.logarithmic(figure, x, "training points p", "test error (fraction)")
    return figure.update_layout(meta={"caption": caption})


def _gains(dataset: xr.Dataset) -> go.Figure:
    import plotly.graph_objects as go

    from regimes.theory import compression_exponent

    figure, x, at = go.Figure(), np.array([float(factor) for factor in FACTORS]), 0
    for name, color in zip(map(str, dataset.task.values), COLORS, strict=False):
        task, scan = TASKS[name], _gain(dataset, name)
        at, values = int(scan.n_train), scan.values
        _medians.add_medians(
            figure, x, values, task.title, color=color, hover="factor %{x}<br>error %{y:.3g}"
        )
        gain = compression_exponent(task.d, task.d_perp)
        end = 0.9 * float(np.median(values[:, -1]))
        _medians.add_slope(figure, x, end, -gain, f"slope -{gain:.3f}")
    caption = (
        f"Test error at p = {at} when the irrelevant directions of the data are divided by a "
        "factor: a power law, whose exponent depends on how many directions matter. Grey: the "
        "predicted slopes."
    )
    _medians.logarithmic(figure, x, "compression factor Lambda", "test error (fraction)")
    return figure.update_layout(meta={"caption": caption})
