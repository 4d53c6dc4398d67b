"""Learning curves of the stripe: features, and the kernels before and after learning them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from regimes.lab import Array, Axis, Claim, Point, TrialResult, draw, study
from regimes.lab.judge import Measured, median_ratio, power_law
from regimes.studies._parts import Part, claim_of_parts
from regimes.studies._summaries import merge_batches
from regimes.studies.compression import _frozen, _medians, _stripe

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr
    from torch import Tensor

    from regimes.data import Dataset
    from regimes.lab import Results
    from regimes.measure import PowerLaw

    Neurons: TypeAlias = tuple[Tensor, Tensor, Tensor]

DECIDE_FROM = 128  # smaller training sets are not judged
FULL_FROM = 4096  # a scan that reaches so far is judged by the tolerances of the full size
EXPONENTS = {5: (0.69, 0.07), 10: (0.68, 0.07)}  # of the full size, by d
CURVES = {
    "initial_error": ("frozen initial kernel", "#d95f02", "solid"),
    "own_error": ("frozen initial kernel, finite width", "#d95f02", "dot"),
    "final_error": ("frozen final kernel, fresh data", "#e6ab02", "solid"),
    "compressed_error": ("frozen initial kernel, compressed data", "#7570b3", "dash"),
    "feature_error": ("feature-learning network", "#1b9e77", "solid"),
}

# The row of spec `regimes` that names five of this theme.
ELSEWHERE = "the lazy exponent is COMP-22, the root of p COMP-12, the alignment COMP-38 and COMP-39"


@dataclass(frozen=True)
class Params:
    """Scanned: d, n_train and batches of seeds, trained side by side. Fixed: the rest."""

    d: tuple[int, ...] = (5,)
    n_train: tuple[int, ...] = (8, 12)
    batch: tuple[int, ...] = (0,)  # one trial each: cores share them
    seeds: int = 2  # in a batch
    width: int = 20
    alpha: float = 1e-6
    n_test: int = 1000
    max_steps: int = 20_000


@study(
    "compression/learning-curves",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            n_train=(128, 256, 512),
            batch=tuple(range(10)),
            seeds=1,
            width=300,
            n_test=10_000,
            max_steps=300_000,
        ),
        "paper": Params(
            d=(5, 10),
            n_train=(128, 256, 512, 1024, 2048, 4096, 8192),
            seeds=20,
            width=10_000,
            n_test=20_000,
            max_steps=1_000_000,
        ),
    },
    axes=["d", Axis("n_train", unit="points"), "batch"],
    units={**dict.fromkeys(CURVES, "fraction"), "t_star": "tau", "peak_time": "t*"},
    watch={"feature_error": "min"},
    judges=("COMP-14", "COMP-21", "COMP-24", "COMP-25", "COMP-26", "REG-64"),
    dtype="float32",
)
class LearningCurves:
    """Learning a stripe, with features or with a kernel that does not move.

    Networks with one hidden layer are trained by gradient flow from a small initial scale until
    they fit. Beside each stand kernel machines: with the kernel at initialisation, with the same
    kernel on data whose irrelevant directions are shrunk by what the network reached at t*, and
    with the kernel after training, on points that network never saw. The kernel at initialisation
    is that of infinite width; the one of the network's own width is shown too.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train the networks of a batch together, then one machine a kernel and seed."""
        import torch

        from regimes import data
        from regimes.theory import stripe_tau

        p, seeds = point.n_train, _stripe.batch_seeds(point.batch, params.seeds)
        sets = [
            data.stripe(p, params.n_test, point.d, seed, n_kernel=p, dtype=torch.float64)
            for seed in seeds
        ]
        run = _stripe.train(
            sets,
            width=params.width,
            seeds=seeds,
            alpha=params.alpha,
            dtype=point.dtype,
            device=point.device,
            observe={"amplification": _stripe.amplification_observer(per_decade=100)},
            max_steps=params.max_steps,
        )
        t_star, seen = run.event_times["t_star"], run.records["amplification"]
        at_t_star = seen.at(t_star)
        peaks = [int(values.argmax()) for values in seen.values]
        machines = [
            _machines(made.to(device=point.device), net, neurons, float(factor))
            for made, net, neurons, factor in zip(
                sets,
                [_start(params, point, seed) for seed in seeds],
                zip(*_stripe.neurons(run.parameters), strict=True),
                at_t_star,
                strict=True,
            )
        ]
        arrays = {
            "feature_error": run.test_errors,
            "amplification_star": at_t_star,
            "amplification_max": torch.stack([v.max() for v in seen.values]),
            "peak_time": torch.stack([t[i] for t, i in zip(seen.times, peaks, strict=True)])
            / t_star.cpu(),
            "t_star": t_star / stripe_tau(params.width, point.d),
            "fitted": np.array([status == "fitted" for status in run.status]),
            "steps": run.steps,
            "final_unfitted": [kernels["final_error"].unfitted for kernels in machines],
            **{name: [kernels[name].error for kernels in machines] for name in machines[0]},
        }
        return TrialResult(arrays={name: Array("member", value) for name, value in arrays.items()})

    @staticmethod
    def summarise(results: Results) -> xr.Dataset:
        """All seeds on one axis."""
        return merge_batches(results)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Entries of the masks of a step, and what a step costs whatever its size."""
        return 5e5 + float(params.seeds * params.width * point.n_train)

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """Fig. 2, one panel a dimension, and the amplification of the same runs."""
        made = {f"Learning curves, d = {int(d)}": _curves(dataset.sel(d=d)) for d in dataset.d}
        made["Amplification at t* and at its largest"] = _amplification(dataset)
        return made

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """COMP-14, 21, 24, 25, 26, and what `regimes` repeats of them."""
        judged = dataset.sel(n_train=dataset.n_train >= DECIDE_FROM)
        missing = _medians.unfinished(dataset)
        if missing or judged.sizes["n_train"] < 2 or dataset.sizes["seed"] < 3:
            why = f"needs two sizes from p = {DECIDE_FROM} on and three seeds, {missing} missing"
            ids = ("COMP-14", "COMP-21", "COMP-24", "COMP-25", "COMP-26", "REG-64")
            return [Claim.unclear(id, "see the ledger", why=why) for id in ids]
        unfitted = int((judged.fitted < 1).sum())
        note = f"{unfitted} of {judged.fitted.size} runs ended unfitted" if unfitted else ""
        exponent = _exponent_claim(judged, note)
        return [
            _peak_claim(judged, note),
            _lazy_claim(judged, note),
            _compressed_claim(judged, note),
            exponent,
            _final_claim(judged, note),
            replace(exponent, id="REG-64", why=f"{exponent.why}; {ELSEWHERE}"),
        ]


def _start(params: Params, point: Point, seed: int) -> Neurons:
    """Weights, biases and readouts of one network before training."""
    net = _stripe.network(point.d, params.width, seed, dtype=point.dtype, device=point.device)
    w, b, beta = _stripe.neurons({k: v[None] for k, v in net.state_dict().items()})
    return w[0], b[0], beta[0]


def _machines(
    made: Dataset, start: Neurons, end: Neurons, amplification: float
) -> dict[str, _frozen.Learned]:
    """One machine a frozen kernel, on one data set."""
    from regimes.data import Points, compress

    small = made.pipe(compress(amplification))
    train, test = Points(made.x_train, made.y_train), Points(made.x_test, made.y_test)
    kernel, learn = _frozen.initial_kernel, _frozen.hard_margin
    return {
        "initial_error": learn(kernel, train, test),
        "own_error": learn(_frozen.network_kernel(*start), train, test),
        "compressed_error": learn(
            kernel, Points(small.x_train, small.y_train), Points(small.x_test, small.y_test)
        ),
        "final_error": learn(_frozen.network_kernel(*end), made.probes["kernel"], test),
    }


def _ratios(dataset: xr.Dataset, above: str, below: str) -> dict[tuple[int, int], Measured]:
    """Ratios of medians over seeds at every (d, p)."""
    return {
        (int(d), int(p)): median_ratio(
            dataset[above].sel(d=d, n_train=p).values, dataset[below].sel(d=d, n_train=p).values
        )
        for d in dataset.d.values
        for p in dataset.n_train.values
    }


def _parts(
    name: str, ratios: dict[tuple[int, int], Measured], low: float, high: float
) -> list[Part]:
    several = len({d for d, _ in ratios}) > 1
    return [
        Part(
            f"{name} at {f'd = {d}, ' if several else ''}p = {p}",
            ratio.value,
            low,
            high,
            ratio.error,
        )
        for (d, p), ratio in ratios.items()
    ]


def _full(dataset: xr.Dataset) -> bool:
    return bool(dataset.n_train.max() >= FULL_FROM)


def _fit(curve: xr.DataArray) -> PowerLaw:
    return power_law(curve, "n_train")


def _told(*reasons: str) -> str:
    return "; ".join(filter(None, reasons))


def _peak_claim(dataset: xr.Dataset, note: str) -> Claim:
    fits = {int(d): _fit(dataset.amplification_max.sel(d=d)) for d in dataset.d.values}
    slopes = [f"{fit.exponent:.2f} ± {fit.error:.2f} (d = {d})" for d, fit in fits.items()]
    later = Part("share with the largest after t*", float((dataset.peak_time > 1).mean()), 0.8)
    ratios = _ratios(dataset, "amplification_max", "amplification_star")
    return claim_of_parts(
        "COMP-14",
        [*_parts("Lambda_max/Lambda*", ratios, 1.5, 6.0), later],
        why=_told(f"Lambda_max grows with p to the {', '.join(slopes)}", note),
    )


def _lazy_claim(dataset: xr.Dataset, note: str) -> Claim:
    ratios = _ratios(dataset, "initial_error", "feature_error")
    return claim_of_parts("COMP-21", _parts("lazy/feature", ratios, 1.8, math.inf), why=note)


def _compressed_claim(dataset: xr.Dataset, note: str) -> Claim:
    low, high, least = (0.5, 1.5, 1000) if _full(dataset) else (0.3, 1.2, DECIDE_FROM)
    judged = dataset.sel(n_train=dataset.n_train >= least)
    ratios = _ratios(judged, "compressed_error", "feature_error")
    return claim_of_parts("COMP-24", _parts("compressed/feature", ratios, low, high), why=note)


def _exponent_claim(dataset: xr.Dataset, note: str) -> Claim:
    from regimes.theory import beta_feature

    parts, limits = [], []
    for d in map(int, dataset.d.values):
        fit = _fit(dataset.feature_error.sel(d=d))
        middle, tolerance = EXPONENTS[d] if _full(dataset) else (0.75, 0.2)
        low, high = middle - tolerance, middle + tolerance
        parts.append(Part(f"exponent at d = {d}", -fit.exponent, low, high, fit.error))
        limits.append(f"{beta_feature(d, d - 1):.3f} at d = {d}")
    span = f"p = {int(dataset.n_train.min())} to {int(dataset.n_train.max())}"
    why = f"{span}; (2d-1)/(3d-2) = {', '.join(limits)}"
    return claim_of_parts("COMP-25", parts, why=_told(why, note))


def _final_claim(dataset: xr.Dataset, note: str) -> Claim:
    level = _ratios(dataset, "final_error", "feature_error")
    first, last = int(dataset.n_train.min()), int(dataset.n_train.max())
    parts = []
    for d in map(int, dataset.d.values):
        end = level[d, last]
        parts.append(
            Part(f"final/net at d = {d}, p = {last}", end.value, high=1.2, error=end.error)
        )
        drop = end.value / level[d, first].value
        relative = [(level[d, p].error or 0.0) / level[d, p].value for p in (first, last)]
        name = f"final/net at d = {d}, p = {last} over that at {first}"
        parts.append(Part(name, drop, high=1.0, error=drop * math.hypot(*relative)))
    better = _ratios(dataset, "final_error", "initial_error")
    parts += _parts("final/initial", better, -math.inf, 0.75)
    left = float(dataset.final_unfitted.max())
    between = ", ".join(f"{ratio.value:.2f} at p = {p}" for (_, p), ratio in level.items())
    why = f"final/net {between}; at most {left:.1%} of fresh points lack their margin"
    return claim_of_parts("COMP-26", parts, why=_told(why, note))


def _curves(dataset: xr.Dataset) -> go.Figure:
    from regimes.theory import beta_feature, beta_lazy

    d = int(dataset.d)
    lazy, feature = beta_lazy(d), beta_feature(d, d - 1)
    slopes = {
        "initial_error": (-lazy, f"slope -d/(3d-2) = -{lazy:.3f}"),
        "feature_error": (-feature, f"slope -(2d-1)/(3d-2) = -{feature:.3f}"),
    }
    caption = (
        f"Test error against the number p of training points for the stripe in {d} dimensions; "
        "medians over seeds, bars hold the middle half. The network that learns features makes far "
        "fewer errors than the kernel it starts from. That kernel catches up once the irrelevant "
        "directions of the data are shrunk by the factor the network reached at t* (dashed), and "
        "the kernel after training comes close to the network on points it never saw: what was "
        "learned is mostly the compression. Grey: the exponents predicted for large p."
    )
    figure = _medians.axes("test error (fraction)", ticks=dataset.n_train, caption=caption)
    for name, (label, color, dash) in CURVES.items():
        slope, told = slopes.get(name, (None, ""))
        curve = dataset[name]
        _medians.curve(figure, curve, label, slope=slope, told=told, color=color, dash=dash)
    return figure


def _amplification(dataset: xr.Dataset) -> go.Figure:
    caption = (
        "How much more weight the informative direction carries than the others, when a tenth of "
        "the points is fitted (t*) and at its largest in the run; medians over seeds, bars hold "
        "the middle half. Most runs amplify further while they fit the points near the interfaces. "
        "Grey: the predicted growth as the root of p."
    )
    figure = _medians.axes("amplification Lambda", ticks=dataset.n_train, caption=caption)
    root = {"slope": 0.5, "told": "slope 1/2"}
    for d, color, here in draw.each(dataset, "d"):
        for name, label, options in (
            ("amplification_star", "at t*", root),
            ("amplification_max", "largest", {"dash": "dash"}),
        ):
            _medians.curve(figure, here[name], f"{label}, d = {d}", color=color, **options)
    return figure
