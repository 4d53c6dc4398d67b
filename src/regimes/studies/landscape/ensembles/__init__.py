"""Ensembles of n networks against n [Geiger 2020b, sec. 4, fig. 4]."""

from __future__ import annotations

from dataclasses import dataclass, replace

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.landscape import _networks, _spread, _tasks, _training

MARGIN = 1.0
SLOPE_POINTS = 5000  # test points at which gradients by the input are taken


@dataclass(frozen=True)
class Params:
    """A seed is a pool of networks, trained side by side. Fixed: the rest."""

    seed: tuple[int, ...] = (0, 1, 2)
    pool: int = 8  # networks
    sizes: tuple[int, ...] = (1, 2, 4)  # n, networks of an ensemble
    groupings: int = 10  # how often a pool is cut into ensembles
    width: int = 12
    depth: int = 2
    components: int = 10
    n_train: int = 30
    images: str = "digits"
    n_test: int = 300
    steps: int = 500
    look: int = 10
    rate: float = 1e-2
    draw: int = 0  # of the training and test points, which all networks share


_CPU = Params(
    seed=tuple(range(6)),
    pool=32,
    sizes=(1, 2, 4, 8),
    groupings=40,
    width=30,
    n_train=500,
    images="mnist",
    n_test=10_000,
    steps=40_000,
    rate=1e-3,
)


@study(
    "landscape/ensembles",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": _CPU,
        "paper": replace(
            _CPU,
            seed=tuple(range(4)),
            sizes=(1, 2, 4, 8),
            width=60,
            depth=5,
            components=30,
            n_train=10_000,
            n_test=50_000,
            steps=100_000,
            look=50,
        ),
    },
    axes=[Axis("seed")],
    units={"error": "fraction"},
)
class Ensembles:
    """How fast the mean of n networks approaches that of infinitely many.

    Networks of one architecture, trained on the same points from different starts, form ensembles
    of n. Their boundary comes closer to the final one as n^(-1/2), their error as 1/n: the error is
    quadratic in the shift of the boundary.

    The paper: [Geiger 2020b, sec. 4].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One pool of networks, and its ensembles of every size."""
        import regimes as rg

        data = _tasks.parity_task(
            params.images,
            params.n_train,
            params.n_test,
            params.draw,
            components=params.components,
            dtype=point.dtype,
            device=point.device,
        )
        numbers = [point.seed * params.pool + k for k in range(params.pool)]
        start = _networks.networks(
            params.components,
            params.width,
            params.depth,
            numbers,
            dtype=point.dtype,
            device=point.device,
        )
        run = _training.adam(
            start,
            data,
            steps=params.steps,
            rate=params.rate,
            margin=MARGIN,
            check_every=params.look,
            checkpoint=point.checkpoint(),
        )
        functions = _spread.Functions(start.moved_to(run.parameters))
        test, y = functions(data.x_test), data.y_test
        some = slice(0, SLOPE_POINTS)
        cut = {"groupings": params.groupings, "seed": point.seed}
        found = rg.measure.disjoint_ensembles(test, y, params.sizes, **cut)
        apart = rg.measure.disjoint_ensembles(
            test[:, some],
            y[some],
            params.sizes,
            gradients=functions.gradients(data.x_test[some]),
            **cut,
        )
        excess = rg.measure.ensemble_excess(test, y)
        return TrialResult(
            {
                "fitted": float(run.fitted.double().mean()),
                "parameters": _networks.weights_of(params.components, params.width, params.depth),
                "pool_error": found.pool_error,
                "steps": float(run.steps.double().mean()),
                "alone": excess.alone,
                "identity_gap": abs(excess.alone - excess.together - excess.variance),
            },
            {
                "size": Array("size", [float(n) for n in params.sizes]),
                "error": Array("size", found.error),
                "distance": Array("size", apart.distance),
            },
        )

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """All pools cost the same."""
        return 1.0
