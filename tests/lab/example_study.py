"""How far a random walk gets: a complete study in one file."""

from dataclasses import dataclass

import numpy as np

from regimes.lab import Array, Axis, Claim, TrialResult, mean_over, study


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
    judges=["EXAMPLE-1"],
)
class Walk:
    """The mean distance of a random walk grows as the square root of its length."""

    @staticmethod
    def trial(params, point):
        streams = [np.random.default_rng([seed, point.steps]) for seed in point.seed]
        ends = [rng.choice([-1, 1], (params.walkers, point.steps)).sum(1) for rng in streams]
        return TrialResult(arrays={"distance": Array("seed", np.abs(ends).mean(1))})

    @staticmethod
    def cost(params, point):
        return float(point.steps)  # relative: the longest trials start first

    @staticmethod
    def figures(dataset):
        import plotly.graph_objects as go

        mean = mean_over(dataset, "distance", "seed")["mean"]
        figure = go.Figure(go.Scatter(x=mean.steps.values, y=mean.values))
        figure.update_xaxes(type="log", title="steps").update_yaxes(type="log", title="distance")
        return {"Distance": figure.update_layout(meta={"caption": "A slope of one half."})}

    @staticmethod
    def claims(dataset):
        mean = mean_over(dataset, "distance", "seed")["mean"]
        slope = np.polyfit(np.log(mean.steps), np.log(mean), 1)[0]
        return [Claim.near("EXAMPLE-1", slope, 0.5, 0.05, statement="The exponent is one half")]
