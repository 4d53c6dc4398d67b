"""The model in which invariance can be followed: the stripe, whose label is one coordinate's."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies import _stripe
from regimes.studies._types import Tensor

RADIUS = 0.1  # of both noises, in units of sqrt(d)


@dataclass(frozen=True)
class Params:
    """Scanned: d, p, and the seeds trained side by side. Fixed: the rest."""

    d: tuple[int, ...] = (5, 10)
    p: tuple[int, ...] = (32, 64)
    seed: tuple[int, ...] = (0, 1)
    width: int = 40
    alpha: float = 1e-6
    until: float = 0.1  # mean hinge loss at which training ends
    max_steps: int = 300
    n_test: int = 200
    draws: int = 5  # noises of each test point
    wide: int = 100  # neurons of the networks that are not trained


@study(
    "deformations/stripe",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            p=(128, 512, 2048),
            seed=tuple(range(10)),
            width=300,
            max_steps=20_000,
            n_test=2000,
            wide=1000,
        ),
        "paper": Params(
            p=(100, 300, 1000, 3000, 10_000),
            seed=tuple(range(20)),
            width=10_000,
            max_steps=60_000,
            n_test=10_000,
            wide=10_000,
        ),
    },
    axes=["d", Axis("p", unit="points"), Axis("seed", stacked=True)],
    units={"error": "fraction"},
    dtype="float32",
)
class Stripe:
    """A network that learns to ignore all inputs but one becomes relatively stable, as 1/P.

    The label of a Gaussian point depends on its first coordinate alone. A wide network of one
    hidden layer shrinks its weights along all others, until the noise of the sample stops it. R_f
    compares how its output answers to noise in the other coordinates alone and to noise in all.

    The paper: [Petrini 2021, sec. 6, eq. 6 and fig. 7]; the model: [Paccolat 2021].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """All seeds at one d and P."""
        import regimes as rg

        sets = [
            rg.data.stripe(n_train=point.p, n_test=params.n_test, d=point.d, seed=seed)
            for seed in point.seed
        ]
        run = _stripe.train_at(point, params, sets, until=rg.flow.loss_below(params.until))
        weights = run.parameters[_stripe.WEIGHT].double()
        place = {"dtype": point.dtype, "device": point.device}
        before = _stripe.start(point.d, params.width, point.seed, **place)
        wide = _stripe.start(point.d, params.wide, point.seed, **place)
        x = [each.x_test.to(weights) for each in sets]
        members = range(len(sets))

        def ratio(after: dict[str, Tensor], first: dict[str, Tensor] | None) -> list[float]:
            return [
                _relative(
                    _member(after, k),
                    None if first is None else _member(first, k),
                    x[k],
                    params.draws,
                    seed,
                )
                for k, seed in zip(members, point.seed, strict=True)
            ]

        return TrialResult(
            arrays={
                "R": Array("seed", ratio(dict(run.parameters), before)),
                "R_start": Array("seed", ratio(wide, None)),
                "amplification": Array("seed", rg.measure.amplification(weights).numpy()),
                "error": Array("seed", run.test_errors.numpy()),
                "loss": Array("seed", [float(losses[-1]) for losses in run.losses]),
                "reached": Array("seed", [float(s is rg.flow.Status.REACHED) for s in run.status]),
            }
        )

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Points, and the steps it takes to fit them."""
        return float(point.p)


def _member(parameters: dict[str, Tensor], k: int) -> tuple[Tensor, ...]:
    return tuple(each[k].double() for each in _stripe.neurons(parameters))


def _relative(
    after: tuple[Tensor, ...],
    first: tuple[Tensor, ...] | None,
    x: Tensor,
    draws: int,
    seed: int,
) -> float:
    """R_f of f - f_0, or of f where nothing is taken off, by means over test points and noises."""
    import torch

    from regimes import measure
    from regimes._random import generator

    n, d = x.shape
    drawn = torch.randn(2, draws, n, d, generator=generator(seed, "noises"), dtype=torch.float64)
    drawn = drawn.to(x.device)
    drawn[0, :, :, 0] = 0.0  # along the uninformative directions alone
    eta = RADIUS * d**0.5 * drawn / drawn.norm(dim=-1, keepdim=True)

    def answer(z: Tensor) -> Tensor:
        flat = z.reshape(-1, d)
        found = _output(after, flat) - (0.0 if first is None else _output(first, flat))
        return found.view(*z.shape[:-1], 1)

    found = measure.relative_stability(
        answer(x), answer(x + eta[0]), answer(x + eta[1]), statistic="mean", seed=seed
    )
    return float(found.relative)


def _output(neurons: tuple[Tensor, ...], x: Tensor) -> Tensor:
    """`(1/h) sum beta sqrt(2) relu(w.x/sqrt(d) + b)` [Petrini 2021, sec. 6]."""
    w, b, beta = neurons
    hidden = (x @ w.T / x.shape[1] ** 0.5 + b).clamp_min(0.0)
    return float(2.0**0.5) * hidden @ beta / len(beta)
