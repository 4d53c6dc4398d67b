"""The tangent kernel of the stripe before and after training [Paccolat 2021, sec. 5]."""

from __future__ import annotations

from dataclasses import dataclass

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies._stripe import neuron_states, train_at
from regimes.studies._types import Tensor
from regimes.studies.compression._modes import MODES, mode_arrays
from regimes.studies.compression.stripe_kernel._claims import STAGES


@dataclass(frozen=True)
class Params:
    """Scanned: d, p and seed. Fixed: the rest.

    A hinge flow ends in a long slide along the margins of the last points, in steps as long as
    `output` allows, and the kernels hardly move there: at d=5, p=300 and similar times `output` of
    0.1, 0.5 and 1 give the same residual of the split within 0.03 and the same information of the
    first mode within 0.05 bits. Hence `output` is 0.5 and not the usual 0.1.
    """

    d: tuple[int, ...] = (5, 10)
    p: tuple[int, ...] = (100,)
    seed: tuple[int, ...] = (0, 1)
    width: int = 50
    alpha: float = 1e-6
    points: int = 150  # of the independent set on which the kernels are taken
    n_test: int = 500
    output: float = 1.0
    max_steps: int = 500
    ridges: tuple[float, ...] = (0.01,)


@study(
    "compression/stripe-kernel",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            p=(300,),
            seed=tuple(range(48)),
            width=200,
            points=800,
            n_test=5000,
            output=0.5,
            max_steps=60_000,
            ridges=(0.01, 1e-3, 1e-4),
        ),
        "paper": Params(
            p=(300, 1000, 3000),
            seed=tuple(range(5)),
            width=10_000,
            points=2000,
            n_test=20_000,
            output=0.5,
            max_steps=100_000,
            ridges=(0.01, 1e-3, 1e-4),
        ),
    },
    axes=[Axis("d"), Axis("p", unit="points"), Axis("seed", stacked=True)],
    units={
        "information": "bits",
        "information_centered": "bits",
        "test_error": "fraction",
        "plane_error": "fraction",
        "satisfied": "fraction",
    },
    watch={"test_error": "min"},
    dtype="float32",
)
class StripeKernel:
    """What training does to the tangent kernel of a network that learns the stripe.

    A one-hidden-layer network is trained in the feature regime. Its tangent kernel and the kernel
    of its last layer are taken on independent points at the start, at t* and at the end: how much
    their leading eigenvectors tell about the label, how much of the label lies on them, and how
    near the kernel comes to one that ignores the uninformative directions.

    The paper: [Paccolat 2021, sec. 5, figs. 9 and 10].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train all seeds side by side and examine their kernels at the three stages."""
        sets = [
            rg.data.stripe(
                n_train=point.p, n_test=params.n_test, d=point.d, seed=s, n_kernel=params.points
            )
            for s in point.seed
        ]
        seen = {"neurons": rg.flow.Observer(neuron_states, rg.flow.OnEvent("t_star"))}
        run = train_at(point, params, sets, observe=seen)
        tau = rg.theory.stripe_tau(params.width, point.d)
        found, residual, amplification = [], [], []
        for number, each in enumerate(sets):
            x, y = each.probes["kernel"]
            stages = _stages(run.recordings["neurons"].values[number])
            grams, distances = _kernels(stages, x.to(point.device))
            found.append(
                [rg.measure.label_modes(gram, y, MODES, ridges=params.ridges) for gram in grams]
            )
            residual.append(distances)
            amplification.append([float(rg.measure.amplification(w)) for w, _, _ in stages])
        arrays = {
            "residual": Array(("seed", "stage"), residual),
            "amplification": Array(("seed", "stage"), amplification),
            "label": Array("sample", sets[0].probes["kernel"].y),
            "ridge": Array("ridge", params.ridges),
            "test_error": Array("seed", run.test_errors),
            "satisfied": Array("seed", run.history["satisfied"][:, -1]),
            "fitted": Array("seed", run.fitted),
            "t_star": Array("seed", run.event_times["t_star"] / tau),
            "t_end": Array("seed", run.times[:, -1] / tau),
            "steps": Array("seed", run.steps),
        }
        return TrialResult(arrays=mode_arrays(found) | arrays)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Multiplications of the training, and of the eigenvectors."""
        return len(point.seed) * (
            params.max_steps * float(params.width * point.p * point.d) + 1e2 * params.points**3
        )


def _stages(seen: Tensor) -> list[tuple[Tensor, Tensor, Tensor]]:
    """(w, b, beta) at the start, at t* and at the end."""
    if len(seen) != len(STAGES):
        raise ValueError("a run ended before t*: increase max_steps")
    return [(s[:, :-2].double(), s[:, -2].double(), s[:, -1].double()) for s in seen]


def _kernels(
    stages: list[tuple[Tensor, Tensor, Tensor]], x: Tensor
) -> tuple[list[Tensor], list[float]]:
    """Grams in the order of KERNELS, and the distance of each NTK from its split (COMP-36)."""
    full, last, distances = [], [], []
    for w, b, beta in stages:
        weights = (beta.to(x.device), w.to(x.device), b.to(x.device))
        gram = rg.measure.shallow_kernel(*weights, x)
        split = rg.measure.split_kernel(*weights, x).gram
        full.append(gram)
        last.append(rg.measure.shallow_kernel(*weights, x, part="last"))
        distances.append(float((gram - split).norm() / gram.norm()))
    return [*full, *last], distances
