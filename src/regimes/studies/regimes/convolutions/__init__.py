"""Convolutional networks trained by Adam, where feature learning wins [Geiger 2020, fig. 7b]."""

from dataclasses import dataclass, replace

import regimes as rg
from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies._images import image_task
from regimes.studies.regimes import _runs
from regimes.studies.regimes._adam import adam, nearly_fitted, unfitted


@dataclass(frozen=True)
class Params:
    """Scanned: images, scale, and the seeds trained side by side. Fixed: the rest."""

    images: tuple[str, ...] = ("digits",)
    scale: tuple[float, ...] = (10.0, 1e3)
    seed: tuple[int, ...] = (0, 1, 2)
    p: int = 30
    n_test: int = 200
    shrink: int = 1  # pixels are averaged in squares of this side
    width: int = 8
    kernel_size: int = 3
    rate: float = 1e-2
    max_steps: int = 300
    look: int = 5  # steps between looks at the whole training set
    single_to: float = 1e4  # largest scale that float32 resolves


CPU = Params(
    images=("mnist", "fashion_mnist"),
    scale=(0.1, 1.0, 10.0, 1e2, 1e3, 1e4),
    seed=(0, 1, 2, 3),
    p=300,
    n_test=5000,
    shrink=2,
    width=16,
    rate=1e-3,
    max_steps=20_000,
    look=50,
)
PAPER = replace(
    CPU,
    images=("cifar10", "fashion_mnist"),
    scale=tuple(float(f"1e{k}") for k in range(-3, 8)),
    seed=tuple(range(16)),
    p=10_000,
    n_test=50_000,
    shrink=1,
    width=50,
    kernel_size=5,
    max_steps=200_000,
    single_to=10.0,
)


@study(
    "regimes/convolutions",
    version=1,
    sizes={"smoke": Params(), "cpu": CPU, "paper": PAPER},
    axes=["images", "scale", Axis("seed", stacked=True)],
    units={"error": "fraction", "ensemble_error": "fraction", "variance": "1"},
    watch={"mean_error": "min"},
    stored={"scale": "at"},
)
class Convolutions:
    """A network of four convolutions at scales from feature learning to lazy training.

    Unlike fully connected networks (regimes/variants), convolutional ones gain from learning
    features: their error is lower at a small scale of the output.

    The paper: [Geiger 2020, sec. 7, fig. 7b and table 1].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train the networks of all seeds at one scale."""
        import torch

        dtype = "float32" if point.scale <= params.single_to else "float64"
        data = image_task(
            point.images,
            params.p,
            params.n_test,
            shrink=params.shrink,
            dtype=dtype,
            device=point.device,
        )

        def network(seed: int) -> rg.nets.ConvNet4:
            return rg.nets.ConvNet4(
                data.in_shape,
                width=params.width,
                kernel_size=params.kernel_size,
                seed=seed,
                dtype=getattr(torch, dtype),
                device=point.device,
            )

        run = adam(
            rg.nets.stack(network, list(point.seed)),
            data,
            point.scale / params.width**0.5,
            rate=params.rate,
            max_steps=params.max_steps,
            look=params.look,
        )
        kept = nearly_fitted(run)
        whole, each = _runs.outcomes(run, data, kept)
        each |= {"kept": kept, "unfitted": unfitted(run), "steps": run.steps.double()}
        whole |= {"mean_error": float(each["error"].mean()), "p": params.p}
        return TrialResult({**whole, "pixels": data.x_train[0].numel()}, _runs.by_seed(each))

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """The smaller the scale, the farther the weights have to go, in steps of one length."""
        return float(min(params.max_steps, 300.0 + 3000.0 * point.scale**-0.5))
