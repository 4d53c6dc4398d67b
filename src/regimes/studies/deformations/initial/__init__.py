"""Networks before they are trained: deformations, and two kinds of noise."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies._types import Module, Tensor
from regimes.studies.deformations import _networks, _tasks, _training


@dataclass(frozen=True)
class Params:
    """Scanned: images, network, seed. Fixed: the rest."""

    images: tuple[str, ...] = ("digits",)
    network: tuple[str, ...] = ("fc4", "lenet", "mini8")
    seed: tuple[int, ...] = (0, 1)
    cuts: tuple[float, ...] = (3.0,)  # c of the deformations
    probes: int = 30
    draws: int = 2  # noises of each image, where two kinds of them are compared
    enlarge: int = 2
    deep: tuple[str, ...] = ()  # these are asked for both statistics of batch norm,
    deep_images: str = "cifar10"  # on these images,
    deep_seeds: int = 3  # so many networks,
    deep_probes: int = 100  # on so many images


@study(
    "deformations/initial",
    version=1,
    dtype="float32",
    sizes={
        "smoke": Params(),
        "cpu": Params(
            images=("mnist", "cifar10"),
            network=("fc4", "lenet", "mini8", "resnet18"),
            seed=(0, 1, 2, 3, 4),
            cuts=(3.0, 5.0, 15.0),
            probes=400,
            draws=10,
            enlarge=1,
            deep=("resnet18",),
        ),
    },
    axes=["images", "network", Axis("seed")],
)
class Initial:
    """Before training a network answers to deformations as it does to noise: R_f is about one.

    Batch norm has to use the statistics of the batch for that: its running ones are those of no
    data at all. Noise of a given size, uniform on a sphere, does the same as Gaussian noise.

    The paper: [Petrini 2021, sec. 3, figs. 2 to 4 and app. E.1].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One network."""
        deep = point.network in params.deep
        count = params.deep_probes if deep else params.probes
        made = _tasks.task(
            point.images, 10, count, seed=point.seed, device=point.device, enlarge=params.enlarge
        )
        net, x = _networks.network(point.network, made, point.seed), made.x_test
        if deep:
            return TrialResult(arrays=_both_statistics(net, x, point.seed))
        found = [_training.three(net, x, point.seed, c=c) for c in params.cuts]
        arrays = {"R": Array("c", [each["R"] for each in found]), "c": Array("c", params.cuts)}
        if not _networks.kind(point.network).batch_norm:
            ratio = _gaussian_over_sphere(net, x, found[0]["radius"], params.draws, point.seed)
            arrays["gaussian"] = Array((), ratio)
        return TrialResult(arrays=arrays)

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """Deep networks take long."""
        few = point.images == params.deep_images and point.seed in params.seed[: params.deep_seeds]
        return point.network not in params.deep or few

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Deep networks take most of the time."""
        return 30.0 if point.network in params.deep else 1.0


def _both_statistics(net: Module, x: Tensor, seed: int) -> dict[str, Array]:
    """R_f and scale of the output with either statistics, and whether the probe left a trace."""
    before = {name: value.clone() for name, value in net.named_buffers()}
    three = _training.three
    found = {name: three(net, x, seed, batch_norm=name) for name in ("batch", "running")}
    touched = max(float((value - before[name]).abs().max()) for name, value in net.named_buffers())
    arrays = {
        f"{letter}_{name}": Array((), each[letter])
        for name, each in found.items()
        for letter in ("R", "V")
    }
    return arrays | {"touched": Array((), touched)}


def _gaussian_over_sphere(net: Module, x: Tensor, radius: float, draws: int, seed: int) -> float:
    """G_f with independent Gaussian pixels over G_f with noise on the sphere of that radius."""
    import torch

    from regimes import measure
    from regimes._random import generator

    source = generator(seed, "two noises")
    drawn = torch.randn(2, draws, *x.shape, generator=source).to(x)
    flat = drawn.flatten(3)
    flat[0] *= radius / flat.shape[-1] ** 0.5
    flat[1] *= radius / flat[1].norm(dim=-1, keepdim=True)
    with torch.no_grad():
        net.eval()
        outputs = net(x)
        noisy = [net((x + each).flatten(0, 1)).unflatten(0, (draws, len(x))) for each in drawn]
    return float(measure.relative_stability(outputs, *noisy, seed=seed).relative)
