"""How the function fits the stripe once neurons are aligned [Paccolat 2021, fig. 4]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Axis, Point, Series, TrialResult, study
from regimes.studies._stripe import neurons, train_at
from regimes.studies.compression._attractors import EDGES
from regimes.studies.compression.fitting_stages._claims import BIN, MASS, STAGES

D = 2
GRID = np.linspace(-3.0, 3.0, 601)  # x_1 at which F(x_1, 0) is looked at


@dataclass(frozen=True)
class Params:
    """Scanned: seed. Fixed: the rest."""

    seed: tuple[int, ...] = (0, 1)
    n_train: int = 200
    n_test: int = 1000
    width: int = 60
    alpha: float = 1e-6
    end_loss: float = 0.15  # a run ends when the mean loss is below
    max_steps: int = 20_000


@study(
    "compression/fitting-stages",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(seed=(0, 1, 2, 3), n_train=2000, n_test=10_000, width=200, end_loss=0.02),
        "paper": Params(
            seed=tuple(range(10)),
            n_train=10_000,
            n_test=100_000,
            width=10_000,
            end_loss=0.005,
            max_steps=100_000,
        ),
    },
    axes=[Axis("seed", stacked=True)],
    units={"test_error": "fraction", "t_star": "tau", "profile": "1"},
    dtype="float32",
)
class FittingStages:
    """After t* the network fits the stripe from far away inwards, with few kinds of neurons.

    Until t*, when a tenth of the training points has its margin, neurons gather at the three
    attractors. Then points are fitted, those far from the interfaces first, and the gathered
    neurons move along the informative axis until the function changes sign where the label does.

    The paper: [Paccolat 2021, sec. 3.2.1 and fig. 4].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train the networks of all seeds, looking at the function along the informative axis."""
        sets = [
            rg.data.stripe(n_train=params.n_train, n_test=params.n_test, d=D, seed=seed)
            for seed in point.seed
        ]
        half = rg.flow.fraction_fitted(0.5, "half fitted")
        moments = rg.flow.AnyOf((rg.flow.OnEvent("t_star"), rg.flow.OnEvent("half fitted")))
        run = train_at(
            point,
            params,
            sets,
            until=rg.flow.loss_below(params.end_loss),
            events=("t_star", half),
            observe={
                "neurons": rg.flow.Observer(_places, moments),
                "profile": rg.flow.Observer(_profile, moments),
                "margins": rg.flow.Observer(lambda s: s.predictions[..., 0], moments),
                "error": rg.flow.Observer(lambda s: s.test_errors, rg.flow.LogTimes(25)),
            },
        )
        tau = rg.theory.stripe_tau(params.width, D)
        ends = run.times[:, -1]
        moment = {"t*": run.event_times["t_star"], "half fitted": run.event_times[half.name]}
        moment["end"] = ends
        staged = {
            name: np.stack(
                [run.recordings[name].at(moment[stage]).cpu().numpy() for stage in STAGES]
            )
            for name in ("neurons", "profile", "margins")
        }
        distance = [
            _distances(each, margins)
            for each, margins in zip(sets, staged["margins"][0], strict=True)
        ]
        places = staged["neurons"].astype(np.float32)
        numbers = {
            "fitted_distance": [fitted for fitted, _ in distance],
            "unfitted_distance": [rest for _, rest in distance],
            "t_star": moment["t*"] / tau,
            "end_loss": run.losses[:, -1],
            "test_error": run.test_errors,
            "bins": [
                rg.measure.occupied_bins(zeta, size, width=BIN, share=MASS)
                for zeta, size in staged["neurons"][-1]
            ],
        }
        arrays = {name: Array("seed", values) for name, values in numbers.items()}
        arrays["stage_time"] = Array(
            ("stage", "seed"), np.stack([moment[stage].numpy() for stage in STAGES]) / tau
        )
        arrays["profile"] = Array(("stage", "seed", "x1"), staged["profile"].astype(np.float32))
        arrays["x1"] = Array("x1", GRID)
        arrays["zeta"] = Array(("stage", "seed", "neuron"), places[:, :, 0])
        arrays["amplitude"] = Array(("stage", "seed", "neuron"), places[:, :, 1])
        error = run.recordings["error"]
        return TrialResult(
            {"n_train": params.n_train, "width": params.width},
            arrays=arrays,
            series={
                "loss": Series((run.times / tau)[0], run.losses[0]),
                "error": Series(error.times[0] / tau, error.values[0]),
            },
        )


def _places(snapshot: Any) -> Any:
    """zeta_1 and the amplitude |beta| |w| of every neuron, (m, 2, h)."""
    import torch

    weights, bias, readout = neurons(snapshot.parameters)
    zeta = rg.measure.neuron_interfaces(weights.double(), bias.double())
    return torch.stack([zeta, (readout.abs() * weights.norm(dim=-1)).double()], 1)


def _profile(snapshot: Any) -> Any:
    """F(x_1, 0) on the grid, (m, 601)."""
    import torch

    like = next(iter(snapshot.parameters.values()))
    x = torch.zeros(len(GRID), D, dtype=like.dtype, device=like.device)
    x[:, 0] = torch.as_tensor(GRID)
    return snapshot.predict(x)[..., 0]


def _distances(data: Any, predictions: np.ndarray) -> tuple[float, float]:
    """Mean distance from the nearest interface of the fitted points and of the others."""
    x, y = data.x_train[:, 0].double().numpy(), data.y_train.double().numpy()
    away = np.abs(x[:, None] - np.array(EDGES)).min(1)
    fitted = y * predictions > 1
    return float(away[fitted].mean()), float(away[~fitted].mean())
