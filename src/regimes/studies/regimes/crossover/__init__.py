"""Where lazy and feature training meet, at several widths [Geiger 2021, sec. 4]."""

from regimes.lab import study
from regimes.studies.regimes import _plane
from regimes.studies.regimes._crossover import claim
from regimes.studies.regimes._plane import Params


@study(
    "regimes/crossover",
    version=1,
    sizes={
        "smoke": Params(width=(6, 12), scale=(1.0, 10.0, 100.0)),
        # 100 points and eps 1e-3, for which h = 12 is close to jamming
        "cpu": Params(
            width=(12, 24, 48, 96, 192),
            scale=(1.0, 3.0, 6.0, 10.0, 18.0, 30.0, 60.0, 100.0),
            seed=tuple(range(10)),
            images="mnist",
            n_train=100,
            n_test=1000,
            n_kernel=400,
            eps=1e-3,
            max_steps=20_000,
        ),
    },
    axes=_plane.AXES,
    units=_plane.UNITS,
)
class Crossover:
    """Networks of several widths, trained at scales between feature learning and lazy training.

    The tangent kernel changes by its own norm at one value of `sqrt(h) alpha` whatever the width,
    as long as the network has parameters to spare. The whole plane is in regimes/phase-diagram.

    The papers: [Geiger 2020, secs. 5 and 6], [Geiger 2021, sec. 4].
    """

    claims = claim
    trial = staticmethod(_plane.trial)
    cost = staticmethod(_plane.cost)
