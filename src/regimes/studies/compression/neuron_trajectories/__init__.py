"""Neurons of real networks against the theory of one neuron [Paccolat 2021, fig. 3]."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies.compression.neuron_trajectories._trial import equation, growth, places

PARTS = {"places": places, "growth": growth, "equation": equation}


@dataclass(frozen=True)
class Params:
    """Scanned: part and seed. Fixed: the rest.

    Parts are "places" and "equation" in d = 2, and "growth" in d = 5.
    """

    part: tuple[str, ...] = ("places", "growth", "equation")
    seed: tuple[int, ...] = (0, 1)
    n_train: int = 200  # of "places" and "equation"
    width: int = 30
    equation_width: int = 20
    alpha: float = 1e-6
    step: float = 0.05  # relative change of the weights in a step
    growth_n_train: int = 300
    growth_width: int = 50
    growth_alpha: float = 1e-10
    growth_step: float = 0.05


@study(
    "compression/neuron-trajectories",
    version=4,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=tuple(range(24)),
            n_train=4000,
            width=400,
            equation_width=100,
            step=0.01,
            growth_n_train=4000,
            growth_width=200,
            growth_step=0.01,
        ),
        "paper": Params(
            seed=tuple(range(8)),
            n_train=10_000,
            width=10_000,
            equation_width=10_000,
            step=0.01,
            growth_n_train=100_000,
            growth_width=1000,
            growth_step=0.005,
        ),
    },
    axes=[Axis("part"), Axis("seed", stacked=True)],
    units={"t_star": "tau", "growth": "1/tau", "times": "tau"},
    dtype="float32",
)
class NeuronTrajectories:
    """Before t* the neurons of a network move each on its own, to one of three places.

    As long as no training point is fitted, a neuron feels the data and nothing of the other
    neurons. On infinitely many points its motion is a small differential equation whose kinks end
    at three points of the informative axis. Here that theory meets trained networks.

    The paper: [Paccolat 2021, sec. 3.2.1 and fig. 3].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train to t* and compare with the theory."""
        return PARTS[point.part](params, point)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Neurons times points times steps."""
        if point.part == "growth":
            return params.growth_n_train * params.growth_width / params.growth_step * 1.6
        width = params.width if point.part == "places" else params.equation_width
        return params.n_train * width / params.step
