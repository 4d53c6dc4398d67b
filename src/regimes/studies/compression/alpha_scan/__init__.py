"""From feature learning to lazy training: the scale alpha [Paccolat 2021, fig. 11]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies import _stripe as shared
from regimes.studies._former_keys import numbered_batch
from regimes.studies._types import Dataset, Run
from regimes.studies.compression._frozen import frozen_flow, stacked_kernels
from regimes.studies.compression.alpha_scan._figures import TIMES


@dataclass(frozen=True)
class Params:
    """Scanned: alpha and seed, trained side by side. Fixed: the rest."""

    alpha: tuple[float, ...] = (1e-6, 1e-2, 1e2)
    seed: tuple[int, ...] = (0,)
    seeds_per_trial: int = 0  # all: a GPU takes one large trial; cores share small ones
    d: int = 5
    p: int = 100
    width: int = 50
    n_test: int = 500
    n_kernel: int = 50  # points on which the kernel's change is measured
    n_shown: int = 50  # neurons kept for the picture
    single_below: float = 0.5  # float32 is enough for smaller alpha
    max_steps: int = 300  # late, single points are fitted one by one


@study(
    "compression/alpha-scan",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            alpha=(1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 1e2, 1e4),
            seed=(0, 1),
            seeds_per_trial=1,
            d=10,
            p=300,
            width=300,
            n_test=10_000,
            n_kernel=200,
            n_shown=200,
            max_steps=40_000,
        ),
        "paper": Params(
            alpha=tuple(float(f"1e{k}") for k in range(-16, 9)),
            seed=tuple(range(5)),
            d=10,
            p=1000,
            width=10_000,
            n_test=10_000,
            n_kernel=1000,
            n_shown=500,
            max_steps=16_000,
        ),
    },
    axes=[Axis("seed", stacked=True, batch="seeds_per_trial"), Axis("alpha", stacked=True)],
    units={"test_error": "fraction", "t_star": "tau", "kernel_change": "1"},
    watch={"best_error": "min"},
    renamed={"member": "seed"},
)
class AlphaScan:
    """One network and one data set, trained at scales from the feature to the lazy end.

    `F = alpha (f - f0)`: with a small alpha the weights have to grow a long way before the data are
    fitted, and on that way they turn into the informative direction; with a large alpha they hardly
    move and the network is its tangent kernel.

    The paper's scan is [Paccolat 2021, app. B and fig. 11].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train the networks of some seeds at every alpha, and their frozen initial kernels."""
        sets = {
            seed: rg.data.stripe(
                n_train=params.p,
                n_test=params.n_test,
                d=params.d,
                seed=seed,
                n_kernel=params.n_kernel,
            )
            for seed in point.seed
        }
        found: dict[str, list[Any]] = {}
        for dtype, alphas in shared.by_precision(point.alpha, params.single_below):
            run = _train(params, point, sets, alphas, dtype)
            for name, values in _observed(params, point, sets, run, dtype).items():
                shape = (len(point.seed), len(alphas), *values.shape[1:])
                found.setdefault(name, []).append(values.reshape(shape))
        joined = {name: np.concatenate(parts, axis=1) for name, parts in found.items()}
        extra = dict.fromkeys(("share", "amplification"), "moment")
        extra |= dict.fromkeys(("informative", "uninformative"), "neuron")
        arrays = {
            name: Array(("seed", "alpha", *([extra[name]] if name in extra else [])), values)
            for name, values in joined.items()
        }
        kernels = [
            frozen_flow(point, made, seed, params.width, test=True, max_steps=params.max_steps)
            for seed, made in sets.items()
        ]
        tau = rg.theory.stripe_tau(params.width, params.d)
        stars = [float(run.event_times["t_star"][0]) / tau for run in kernels]
        arrays["frozen_error"] = Array("seed", [float(run.test_errors[0]) for run in kernels])
        arrays["frozen_t_star"] = Array("seed", stars)
        return TrialResult({"best_error": float(joined["test_error"].min())}, arrays)

    formerly = staticmethod(numbered_batch)


def _train(
    params: Params, point: Point, sets: Mapping[int, Dataset], alphas: list[float], dtype: str
) -> Run:
    """Members are ordered by seed, then alpha."""

    def share(snapshot: Any) -> Any:
        weights, _, beta = shared.neurons(snapshot.parameters)
        return rg.measure.informative_share(weights, beta)

    return shared.train_at(
        point,
        params,
        [made for made in sets.values() for _ in alphas],
        name=dtype,
        seeds=[seed for seed in sets for _ in alphas],
        alpha=alphas * len(sets),
        dtype=dtype,
        observe={
            "amplification": shared.amplification_observer(),
            "share": rg.flow.Observer(share, rg.flow.LogTimes(20)),
        },
    )


def _observed(
    params: Params, point: Point, sets: Mapping[int, Dataset], run: Run, dtype: str
) -> dict[str, np.ndarray]:
    """What is kept of every member."""
    tau = rg.theory.stripe_tau(params.width, params.d)
    t_star = run.event_times["t_star"]
    amplification = run.recordings["amplification"]
    weights, _, _ = shared.neurons(run.parameters)
    shown = weights[:, : params.n_shown].double().cpu()
    length = shown.square().sum(-1).mean(1, keepdim=True).sqrt()
    return {
        "test_error": run.test_errors.cpu().numpy(),
        "t_star": (t_star / tau).numpy(),
        "amplification_star": amplification.at(t_star).numpy(),
        "amplification_max": shared.peaks(run)[0],
        "kernel_change": _kernel_changes(params, point, sets, run, dtype),
        "unfitted": 1.0 - run.history["satisfied"][:, -1].numpy(),
        "steps": run.steps.numpy().astype(float),
        "share": shared.course(run.recordings["share"], t_star, TIMES),
        "amplification": shared.course(amplification, t_star, TIMES),
        "informative": (shown[..., 0] / length).numpy(),
        "uninformative": (shown[..., 1:].norm(dim=-1) / length).numpy(),
    }


def _kernel_changes(
    params: Params, point: Point, sets: Mapping[int, Dataset], run: Run, dtype: str
) -> np.ndarray:
    """Relative change of the kernel of every member, on points of its own."""
    import torch

    each = len(run.status) // len(sets)
    found = []
    for i, (seed, made) in enumerate(sets.items()):
        x = made.probes["kernel"].x.to(device=point.device, dtype=getattr(torch, dtype))
        first = shared.start(params.d, params.width, [seed], dtype=dtype, device=point.device)
        before = stacked_kernels(first, x)[0]
        own = {name: v[i * each : (i + 1) * each] for name, v in run.parameters.items()}
        found += [
            float(rg.measure.kernel_change(after, before)) for after in stacked_kernels(own, x)
        ]
    return np.array(found)
