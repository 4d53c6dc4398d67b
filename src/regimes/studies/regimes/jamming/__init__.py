"""How many parameters fit how many points, and what the landscape is like there (PR27).

The rows REG-58, REG-59 and REG-60 point to spec `landscape`: its network (S1, A6), its square hinge
(S2), its data (S3), its trainers (S4) and its way to tell runs apart (S5) are used here, not those
of the other studies of this theme.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Array, Axis, Claim, Point, TrialResult, study

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import torch
    import xarray as xr

    from regimes.data import Dataset
    from regimes.flow import Run
    from regimes.nets import Ensemble, FullyConnected, Initialiser

COMPONENTS = 10  # d
DEPTH = 2  # L
LABELS = ("parity", "random")
TRAINERS = ("fast", "constant")
MARGIN = {"fast": 0.5, "constant": 1.0}  # LAND-10 and LAND-39; harmless by scaling (A1)
RATE = 1e-3
GUESS = {"parity": (170.0, 0.75), "random": (440.0, 0.85)}  # N* ~ a (P/1000)^c, to aim at
ACTIVATIONS = ("relu", "tanh")
CHECK_EVERY = 100  # steps between looks at the margins; a run ends at the first that finds all
NEGLIGIBLE = 0.01  # a Delta below this share of the margin is negligible (S5)
ZERO = 1e-10  # eigenvalues of H0 below this share of the largest are zero (LAND-20)


@dataclass(frozen=True)
class Params:
    """Scanned: labels, trainer, n_train, width and seed. Fixed: the rest."""

    labels: tuple[str, ...] = LABELS
    trainer: tuple[str, ...] = TRAINERS
    n_train: tuple[int, ...] = (30, 60)
    width: tuple[int, ...] = (2, 3, 5)
    seed: tuple[int, ...] = (0, 1)
    around: float = 100.0  # widths whose N is within this factor of the expected N* are run
    images: str = "digits"
    n_test: int = 200
    steps: int = 100  # of the fast trainer
    constant_steps: int = 100
    norm_points: int = 30  # P of the runs at a constant rate, whose output is looked at
    norm_widths: tuple[int, ...] = (2, 5)
    hessian_width: int = 4  # of the networks whose Hessian is taken
    hessian_seeds: int = 1


@study(
    "regimes/jamming",
    version=2,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            n_train=(250, 500, 1000, 2000),
            width=(*range(3, 17), 18, 20, 22, 24, 26, 28, 34, 40),
            seed=tuple(range(6)),
            around=1.5,
            images="mnist",
            n_test=5000,
            steps=60_000,
            constant_steps=40_000,
            norm_points=1000,
            norm_widths=(7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 20, 28, 34, 40),
            hessian_width=12,
            hessian_seeds=8,
        ),
        "paper": Params(
            n_train=(500, 1000, 2000, 5000, 10_000),
            width=tuple(sorted({round(5 * 1.08**k) for k in range(50)})),
            seed=tuple(range(10)),
            around=1.8,
            images="mnist",
            n_test=50_000,
            steps=2_000_000,
            constant_steps=2_000_000,
            norm_points=10_000,
            norm_widths=tuple(sorted({round(5 * 1.08**k) for k in range(10, 50)})),
            hessian_width=20,
            hessian_seeds=20,
        ),
    },
    axes=[
        "labels",
        "trainer",
        Axis("n_train", unit="points"),
        Axis("width", unit="neurons"),
        Axis("seed", stacked=True),
    ],
    units={"error": "fraction", "parameters": "weights", "unfitted": "points"},
    judges=("REG-58", "REG-59", "REG-60"),
    dtype="float64",
)
class Jamming:
    """The narrowest network that fits P points, for digits and for random labels.

    Random labels need a number of parameters N* in proportion to P, structured ones fewer, and ever
    fewer for each further point. Just below N* the points that are not fitted are fewer than the
    parameters, but not many fewer: most parameters are held by a constraint. Just above N* the
    points are fitted at the price of an output that diverges as N* is approached.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Networks of one width, some seeds, to their end."""
        from regimes import nets

        data = _data(params, point)
        start = nets.stack(
            lambda seed: _network(COMPONENTS, point.width, seed, point.dtype, point.device),
            point.seed,
        )
        run = _train(params, point, start, data)
        arrays = _ends(start, run, data, MARGIN[point.trainer])
        negative = _negative_shares(params, data, point.dtype)
        return TrialResult(
            {"parameters": weights_of(point.width), "margin": MARGIN[point.trainer]},
            {name: Array("seed", values) for name, values in arrays.items()}
            | {"negative": Array(("activation", "draw"), negative)},
        )

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """Widths around the expected N*; at a constant rate those whose output is looked at."""
        if point.trainer == "constant":
            asked = point.width in params.norm_widths and point.n_train == params.norm_points
            return bool(asked and point.labels == "parity")
        scale, power = GUESS[point.labels]
        expected = scale * (point.n_train / 1000) ** power
        return bool(1 / params.around <= weights_of(point.width) / expected <= params.around)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Arithmetic of a step and its overhead; networks of more than 2 N* fit early."""
        steps = params.steps if point.trainer == "fast" else params.constant_steps
        scale, power = GUESS[point.labels]
        early = weights_of(point.width) > 2 * scale * (point.n_train / 1000) ** power
        entries = point.n_train * point.width * (point.width + 40)
        return steps * (0.2 if early else 1.0) * (1e6 + len(point.seed) * entries) / 1e9

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """N* against P, unfitted points a parameter against N/N*, and |f| against N - N*."""
        from regimes.studies.regimes.jamming import _figures as figures

        return {
            "Parameters needed to fit": figures.needed(dataset),
            "Unfitted points at jamming": figures.unfitted(dataset),
            "Output near jamming": figures.norms(dataset),
        }

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """REG-58, REG-59 and REG-60."""
        from regimes.studies.regimes.jamming._claims import jamming_claims

        return jamming_claims(dataset)


def weights_of(width: int) -> int:
    """N = d h + (L - 1) h^2 + h: weights only, as on every axis of the documents (S1, A2)."""
    return COMPONENTS * width + (DEPTH - 1) * width**2 + width


@lru_cache(maxsize=2)
def _images(images: str) -> Dataset:
    """All images as S3 has them: ten whitened components on the sphere of radius sqrt(d), parity.

    Components are those of the whole set, training and test files together.
    """
    import torch

    from regimes import data

    if images == "digits":
        made = data.digits(n_train=1000)
    elif images == "mnist":
        made = data.mnist(n_train=10_000, n_test=60_000, pool="all")
    else:
        raise ValueError(f"images must be digits or mnist, got {images!r}")
    made = made.pipe(data.pca(COMPONENTS, fit="all", scale="whiten"), data.parity())
    return made.to(torch.float64).pipe(data.sphere())


def _data(params: Params, point: Point) -> Dataset:
    """The digits with their parity, or Gaussian points of as many components, labels at random."""
    import torch

    from regimes import data

    if point.labels == "parity":
        whole = _images(params.images)
        made = whole.pipe(data.subset(point.n_train, params.n_test, balanced=False))
    else:
        made = data.random_labels(
            point.n_train, params.n_test, COMPONENTS, dtype=torch.float64
        ).pipe(data.sphere())
    return made.to(getattr(torch, point.dtype), point.device)


def orthogonal() -> Initialiser:
    """Every weight matrix out of orthogonal blocks, biases 0 (S1).

    A layer of i inputs stacks as many i x i orthogonal matrices as its outputs need, so that every
    neuron's weights have norm 1 also where outputs and inputs differ in number (A6, its default).
    """
    import torch

    from regimes.nets import Initialiser

    def weight(shape: torch.Size, fans: object, draws: torch.Generator) -> torch.Tensor:
        outputs, inputs = shape
        blocks = []
        for _ in range(-(-outputs // inputs)):
            gaussian = torch.randn(inputs, inputs, generator=draws, dtype=torch.float64)
            q, r = torch.linalg.qr(gaussian)
            blocks.append(q * r.diagonal().sign())  # without the signs the law is not uniform
        return torch.cat(blocks)[:outputs]

    def bias(shape: torch.Size, fans: object, draws: torch.Generator) -> torch.Tensor:
        return torch.zeros(shape, dtype=torch.float64)

    return Initialiser("orthogonal", weight, bias)


def _network(
    d: int, width: int, seed: int, dtype: str, device: str = "cpu", activation: str = "relu"
) -> FullyConnected:
    """The network of S1: standard parametrisation, two hidden layers, biases."""
    import torch

    from regimes.nets import FullyConnected

    return FullyConnected(
        d,
        width,
        DEPTH,
        parametrization="standard",
        activation=activation,
        bias=True,
        init=orthogonal(),
        seed=seed,
        dtype=getattr(torch, dtype),
        device=device,
    )


def fast_factor(step: int, steps: int) -> float:
    """Factor of the rate of `adam_fast`: 1 for the first half, then two decades down (S4).

    >>> [round(fast_factor(k, 100), 3) for k in (0, 50, 75, 100)]
    [1.0, 1.0, 0.1, 0.01]
    """
    return float(10 ** (-2 * max(0.0, 2 * step / steps - 1)))


def _train(params: Params, point: Point, start: Ensemble, data: Dataset) -> Run:
    """Adam on the square hinge until N_Delta = 0, at the rates of LAND-10 or of LAND-39."""
    from regimes import flow

    fast = point.trainer == "fast"
    steps = params.steps if fast else params.constant_steps
    return flow.descend(
        start,
        data,
        rate=RATE,
        optimiser="adam",
        schedule=(lambda step: fast_factor(step, steps)) if fast else None,
        loss=flow.quadratic_hinge(MARGIN[point.trainer]),
        until="fitted",
        events=("fitted",),
        max_steps=steps,
        check_every=CHECK_EVERY,
        checkpoint=point.checkpoint(),
    )


def _ends(start: Ensemble, run: Run, data: Dataset, margin: float) -> dict[str, np.ndarray]:
    """What S5 tells runs apart by, the zero modes of H0, and the size of the output, a member.

    `far` counts the points whose Delta is not negligible, `reached` those of them that have an
    active unit in every hidden layer: where there are some of the first and none of the second, no
    gradient of the weights pulls on what is wrong. `unreached` counts all points short of the
    margin that have no such path.
    """
    import torch

    from regimes import measure
    from regimes.nets import FullyConnected

    short = margin - run.outputs_train[..., 0] * data.y_train  # Delta of S2, (R, P)
    far = short > NEGLIGIBLE * margin
    net = start.template
    assert isinstance(net, FullyConnected)
    _, outputs = net.layers_stacked(run.parameters, data.x_train)
    active = torch.stack([(z > 0).any(-1) for z in outputs[:-1]]).all(0)
    losses = run.losses
    before = losses[:, int(0.9 * (losses.shape[1] - 1))]
    falling = torch.where(losses[:, -1] > 0, 1 - losses[:, -1] / before, torch.ones_like(before))
    assert run.outputs_test is not None
    found = {
        "unfitted": (short > 0).sum(1),
        "far": far.sum(1),
        "reached": (far & active).sum(1),
        "unreached": ((short > 0) & ~active).sum(1),
        "loss": losses[:, -1],
        "falling": falling,
        "error": run.test_errors,
        "output_norm": measure.output_norm(run.outputs_test[..., 0]),
        "steps": run.steps,
    }
    arrays = {name: values.double().cpu().numpy() for name, values in found.items()}
    spectra = [_zero_modes(start, run, data, i, short[i] > 0) for i in range(start.size)]
    arrays["rank"], arrays["gap"] = np.array(spectra).T
    return arrays


def _zero_modes(
    start: Ensemble, run: Run, data: Dataset, member: int, short: torch.Tensor
) -> tuple[float, float]:
    """Rank of H0 = (1/P) sum over unfitted points of grad f grad f^T, and the gap above its zeros.

    S7 and LAND-20. The gap is the smallest eigenvalue that is not zero over the largest that is; 0
    without unfitted points.
    """
    import torch

    from regimes.nets import Ensemble
    from regimes.tangent import TangentKernel

    if not bool(short.any()):
        return 0.0, 0.0
    net = Ensemble(start.template, run.parameters, start.buffers).member(member).double()
    gradients = TangentKernel(net).features(data.x_train[short].double())[:, 0]
    values = torch.linalg.eigvalsh(gradients.mT @ gradients / data.n_train).flip(0)
    largest = float(values[0])
    rank = int((values > ZERO * largest).sum())
    rounding = torch.finfo(torch.float64).eps * largest
    zero = max([rounding, *values[rank:].abs().tolist()])
    return float(rank), float(values[rank - 1]) / zero


def _negative_shares(params: Params, data: Dataset, dtype: str) -> np.ndarray:
    """Share of negative eigenvalues of -sum_mu y_mu Hessian f(x_mu) at initialisation.

    C0 of spec `landscape` (LAND-17), (activation, draw), with the Delta of S7 left out: all points
    are unfitted there and weigh alike. Exact zeros are not counted.
    """
    import torch
    from torch.func import functional_call, hessian

    x, y = data.x_train[:100].cpu(), data.y_train[:100].cpu()
    shares = np.empty((len(ACTIVATIONS), params.hessian_seeds))
    for i, activation in enumerate(ACTIVATIONS):
        for seed in range(params.hessian_seeds):
            net = _network(x.shape[1], params.hessian_width, seed, dtype, activation=activation)
            names = [name for name, _ in net.named_parameters()]
            shapes = [value.shape for value in net.parameters()]
            flat = torch.cat([value.detach().flatten() for value in net.parameters()])

            def pulled(
                w: torch.Tensor,
                net: torch.nn.Module = net,
                names: list[str] = names,
                shapes: list[torch.Size] = shapes,
            ) -> torch.Tensor:
                parts = w.split([shape.numel() for shape in shapes])
                named = {n: p.view(s) for n, p, s in zip(names, parts, shapes, strict=True)}
                return -(functional_call(net, named, (x,))[:, 0] * y).mean()

            values = torch.linalg.eigvalsh(hessian(pulled)(flat))
            cut = 1e-10 * float(values.abs().max())
            negative, positive = int((values < -cut).sum()), int((values > cut).sum())
            shares[i, seed] = negative / (negative + positive)
    return shares
