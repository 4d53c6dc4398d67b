"""How far a random walk gets: a complete study in one file."""

from dataclasses import dataclass

import numpy as np

from regimes.lab import Array, Axis, TrialResult, draw, judge, study

claim = judge.Claims()


@claim("EXAMPLE-1", "the distance grows as the square root of the steps")
def _root(dataset):
    distance = judge.need(dataset, "distance").distance
    yield judge.near("exponent", judge.power_law(distance, "steps"), 0.5, 0.05)
    return f"{distance.sizes['seed']} seeds"


def _distances(dataset):
    distance = judge.need(dataset, "distance").distance
    figure = draw.axes("steps", "distance", log="xy", caption="A slope of one half.")
    heights = draw.curve(figure, distance, "steps", "mean over seeds")
    draw.guide(figure, distance.steps, 0.5, (float(distance.steps[0]), heights[0]))
    return figure


@dataclass(frozen=True)
class Params:
    steps: tuple[int, ...] = (10, 100, 1000)  # scanned: one trial each
    seed: tuple[int, ...] = (0, 1, 2, 3)  # scanned: stacked into the trial
    walkers: int = 100


@study(
    "example/walk",
    version=1,  # raise it when the meaning of a trial changes
    sizes={"smoke": Params(), "cpu": Params(seed=tuple(range(20)), walkers=2000)},
    axes=["steps", Axis("seed", stacked=True)],
    units={"distance": "steps"},
)
class Walk:
    """The mean distance of a random walk grows as the square root of its length."""

    figures = {"Distance": _distances}
    claims = claim

    @staticmethod
    def trial(params, point):
        streams = [np.random.default_rng([seed, point.steps]) for seed in point.seed]
        ends = [rng.choice([-1, 1], (params.walkers, point.steps)).sum(1) for rng in streams]
        return TrialResult(arrays={"distance": Array("seed", np.abs(ends).mean(1))})

    @staticmethod
    def cost(params, point):
        return float(point.steps)  # relative: the longest trials start first
