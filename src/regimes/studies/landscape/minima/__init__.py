"""What the landscape looks like at a jammed minimum: spectra, gaps, pre-activations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.landscape import _networks, _runs
from regimes.studies.landscape.minima._spectra import of_group


@dataclass(frozen=True)
class Params:
    """Scanned: network, and side by side P beside the network's own and seed. Fixed: the rest.

    Names of networks are activation or data, and number of hidden layers.
    """

    network: tuple[str, ...] = ("relu-2", "relu-3", "tanh-3", "parity-2")
    excess: tuple[float, ...] = (1.0, 1.3)  # P over the least P of this network
    seed: tuple[int, ...] = (0, 1)
    relu_2: int = 4  # widths, and d = h but for the digits
    relu_3: int = 4
    tanh_3: int = 4
    parity_2: int = 3
    images: str = "digits"
    steps: int = 150
    polished: int = 1  # smooth networks of seeds below it go on by Newton's method
    newton_steps: int = 3
    excesses_per_trial: int = 0  # all side by side


# least P/N: just above the transition of each, [Geiger 2019, figs. 6 and 9] scaled to small N
LEAST = {"relu-2": 2.6, "relu-3": 2.6, "tanh-3": 3.4, "parity-2": 6.8}
COMPONENTS = 10
RATES = {"tanh-3": 2e-3}


@study(
    "landscape/minima",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            excess=(1.0, 1.1, 1.2, 1.4),
            seed=tuple(range(6)),
            relu_2=14,
            relu_3=12,
            tanh_3=10,
            parity_2=9,
            images="mnist",
            steps=100_000,
            polished=2,
            newton_steps=120,
        ),
        "paper": Params(
            excess=(1.0, 1.04, 1.08, 1.12),
            seed=tuple(range(8)),
            relu_2=62,
            relu_3=51,
            tanh_3=27,
            parity_2=30,
            images="mnist",
            steps=10_000_000,
            polished=2,
            newton_steps=1000,
        ),
    },
    axes=[
        "network",
        Axis("excess", stacked=True, batch="excesses_per_trial"),
        Axis("seed", stacked=True),
    ],
    units={"loss": "1", "unfitted": "points", "unfit_share": "constraints per parameter"},
)
class Minima:
    """Minima that do not fit: how they curve, how far points are from their margin.

    Just past the transition a network leaves points short of their margin, fewer than it has
    parameters. The Hessian of the loss is H0 + Hp there. H0 has one positive eigenvalue for each
    such point, zeros, and a gap between them. Hp, from the curvature of the network itself, is
    symmetric about zero for relu: the minimum holds only because many neurons sit on their kinks at
    training points. The distances of points from their margin follow power laws.

    The paper: [Geiger 2019, secs. II, V, VI, VII, app. B, C].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One architecture at all P and seeds, then everything that is read off."""
        digits = point.network.startswith("parity")
        width = getattr(params, point.network.replace("-", "_"))
        d, depth = COMPONENTS if digits else width, int(point.network[-1])
        weights = _networks.weights_of(d, width, depth)
        points = [round(LEAST[point.network] * weights * excess) for excess in point.excess]
        own: dict[str, Any] = {"labels": "parity", "images": params.images} if digits else {}
        if point.network in RATES:
            own |= {"activation": "tanh", "rate": RATES[point.network]}
        trained = _runs.train(
            d,
            width,
            depth,
            points,
            point.seed,
            steps=params.steps,
            n_test=max(points) if digits else 0,
            dtype=point.dtype,
            device=point.device,
            checkpoint=point.checkpoint(),
            **own,
        )
        axes = ("excess", "seed")
        arrays = _runs.ends(trained, axes)
        arrays["unfit_share"] = arrays.pop("share")
        polish = (params.polished, params.newton_steps) if point.network in RATES else (0, 0)
        groups = [of_group(trained, i, *polish) for i in range(len(points))]
        for name, (dims, _) in groups[0].items():
            arrays[name] = Array((axes[0], *dims), [group[name][1] for group in groups])
        arrays["points"] = Array(axes[:1], points)
        values = {"weights": weights, "hidden": depth * width, "margin": trained.margin}
        return TrialResult(values, arrays)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """The slope of tanh costs most."""
        width = getattr(params, point.network.replace("-", "_"))
        return float(params.steps * width**3 * (5 if point.network in RATES else 1))
