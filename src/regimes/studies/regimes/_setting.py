"""What the studies of this theme share: digits of ten components, the network, its training.

The default of spec `regimes` 3: MNIST on its first ten principal components, labels odd and even,
softplus_5, soft hinge of sharpness 20, gradient flow of S6, float64. The scale of a network is
`sqrt(h) alpha`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

from regimes.lab import Array, Axis
from regimes.studies._images import image_task

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from regimes.data import Dataset
    from regimes.flow import Run
    from regimes.lab import Point, TrialConfig
    from regimes.nets import Ensemble, FullyConnected


COMPONENTS = 10
POOL = (5000, 5000)  # images to train and to test that `task` takes the first of
POOLS: dict[str, tuple[int, int | None]] = {"digits": (1000, None)}
WHOLE = (10_000, 50_000)
MEMBERS = (Axis("scale", stacked=True), Axis("seed", stacked=True))  # trained side by side


def task(
    images: str,
    n_train: int,
    n_test: int | None = None,
    *,
    components: int | None = COMPONENTS,
    seed: int = 0,
    dtype: str = "float64",
    device: str = "cpu",
) -> Dataset:
    """The first points of a pool: larger training sets hold smaller ones, test points stay.

    The pool has 10,000 images of a set (of MNIST those of the test files), half to train and half
    to test; of the built-in digits 1000 and 797; with "-whole", as in "mnist-whole", 10,000 to
    train and 50,000 to test of all files. `components` None keeps the pixels.
    """
    name = images.removesuffix("-whole")
    pool = POOLS.get(images, POOL if name == images else WHOLE)
    return image_task(
        name,
        n_train,
        n_test,
        together=pool,
        components=components,
        seed=seed,
        dtype=dtype,
        device=device,
    )


def task_at(point: Point, images: str, n_train: int, n_test: int, **options: Any) -> Dataset:
    """`task` in the precision and on the device of a trial."""
    return task(images, n_train, n_test, dtype=point.dtype, device=point.device, **options)


def network(
    d: int,
    width: int,
    depth: int,
    seed: int,
    *,
    dtype: str = "float64",
    device: str = "cpu",
    activation: str = "softplus_5",
    **options: Any,
) -> FullyConnected:
    """The fully connected network of S1 in the NTK parametrisation, without biases."""
    import torch

    from regimes.nets import FullyConnected

    return FullyConnected(
        d,
        width,
        depth,
        activation=activation,
        seed=seed,
        dtype=getattr(torch, dtype),
        device=device,
        **options,
    )


def members(
    d: int, width: int, depth: int, scales: Sequence[float], seeds: Sequence[int], **options: Any
) -> tuple[Ensemble, list[float]]:
    """Networks for every (scale, seed), scales outermost, and their alpha = scale/sqrt(h).

    The networks of a seed are the same at every scale: comparisons are paired (A7).
    """
    from regimes.nets import stack

    once = stack(lambda seed: network(d, width, depth, seed, **options), seeds)
    start = once.select(list(range(len(seeds))) * len(scales))
    return start, [scale / width**0.5 for scale in scales for _ in seeds]


def members_at(
    point: Point,
    data: Dataset,
    width: int,
    depth: int,
    scales: Sequence[float],
    seeds: Sequence[int],
    **options: Any,
) -> tuple[Ensemble, list[float]]:
    """`members` for this data, in the precision and on the device of a trial."""
    place = {"dtype": point.dtype, "device": point.device}
    return members(prod(data.in_shape), width, depth, scales, seeds, **place, **options)


def networks_at(point: Point, params: Any) -> tuple[Dataset, Ensemble, list[float]]:
    """The data of a trial, and a network per seed at its depth, width and scale with its alpha."""
    data = task_at(
        point, params.images, params.n_train, params.n_test, components=params.components
    )
    start, alpha = members_at(point, data, point.width, point.depth, [point.scale], point.seed)
    return data, start, alpha


def members_of(
    point: Point, data: Dataset, width: int, depth: int = 2, **options: Any
) -> tuple[Ensemble, list[float]]:
    """`members_at` all scales and seeds of a trial that stacks both."""
    return members_at(point, data, width, depth, point.scale, point.seed, **options)


def train(
    start: Ensemble,
    data: Dataset,
    alpha: Sequence[float],
    *,
    eps: float = 1e-4,
    loss: str = "softhinge_20",
    max_steps: int = 20_000,
    floor: float | None = None,
    **options: Any,
) -> Run:
    """Gradient flow of S4 with the steps of S6; `eps` is what a step may change the gradient by.

    `floor` as in S6 for relu: a step shorter than this share of the time passed is taken anyway.
    """
    from regimes import flow

    if floor is not None:
        options["rule"] = flow.StepRule(floor=floor)
    return flow.gradient_flow(
        start,
        data,
        loss=loss,
        alpha=list(alpha),
        tolerances=flow.Tolerances(output=0.1, gradient=eps),
        max_steps=max_steps,
        **options,
    )


def train_at(
    point: Point,
    params: Any,
    start: Ensemble,
    data: Dataset,
    alpha: Sequence[float],
    **options: Any,
) -> Run:
    """`train` with a trial's tolerance and cap, which leaves checkpoints."""
    how = {"eps": params.eps, "max_steps": params.max_steps, "checkpoint": point.checkpoint()}
    return train(start, data, alpha, **{**how, **options})


def descend(start: Ensemble, data: Dataset, alpha: Sequence[float], **options: Any) -> Run:
    """Discrete steps on the objective of `train` instead of its flow, until all points fit."""
    from regimes import flow

    return flow.descend(
        start,
        data,
        loss="softhinge_20",
        alpha=list(alpha),
        until="fitted",
        subtract_init=True,
        divide_by="alpha^2",
        **options,
    )


def kernel_changes(start: Ensemble, run: Run, x: Tensor, *, seeds: int | None = None) -> np.ndarray:
    """|Theta - Theta_0|/|Theta_0| of every member on these points (S14), (R,).

    With `seeds`, members i and i + seeds start alike, as those of `members`: their first kernels
    are made once, and so many kernels at a time are in memory.
    """
    import torch

    from regimes.nets import Ensemble
    from regimes.tangent import stacked_gram

    end = Ensemble(start.template, run.parameters, start.buffers)
    block = seeds or start.size
    before = stacked_gram(start.select(slice(block)), x)
    size = before.flatten(1).norm(dim=1)
    changes = []
    for i in range(0, start.size, block):
        after = stacked_gram(end.select(slice(i, i + block)), x)
        changes.append((after - before).flatten(1).norm(dim=1) / size)
    return torch.cat(changes).cpu().numpy()


def weight_changes(start: Ensemble, run: Run) -> np.ndarray:
    """|w - w0|/|w0| over all layers of every member (S14), (R,)."""
    import torch

    def vectors(parameters: Mapping[str, Tensor]) -> Tensor:
        return torch.cat([parameters[name].flatten(1) for name in start.parameters], dim=1)

    first = vectors(start.parameters)
    moved = (vectors(run.parameters) - first).norm(dim=1) / first.norm(dim=1)
    return moved.cpu().numpy()


def grid(values: Any, scales: Sequence[float], seeds: Sequence[int]) -> np.ndarray:
    """Values of the members of `members`, (R, ...), as (scale, seed, ...)."""
    import numpy as np

    found = np.asarray(values.cpu() if hasattr(values, "cpu") else values)
    return found.reshape(len(scales), len(seeds), *found.shape[1:])


def fitted(run: Run) -> np.ndarray:
    """Whether every margin was reached, 1 or 0 for each member."""
    import numpy as np

    from regimes.flow import Status

    return np.array([float(status is Status.FITTED) for status in run.status])


def points_at(
    point: Point, images: str, n_train: int, n_test: int, *, components: int | None
) -> Dataset:
    """`task_at`, or more points of the same kind than its pool has, of all files.

    Those are 70,000 of MNIST and its relatives, 60,000 of CIFAR-10.
    """
    if images == "digits" or max(n_train, n_test) <= min(POOL):
        return task_at(point, images, n_train, n_test, components=components)
    return image_task(
        images,
        n_train,
        n_test,
        files="all",
        components=components,
        dtype=point.dtype,
        device=point.device,
        keep=False,
    )


def by_member(point: Point, values: Mapping[str, Any]) -> dict[str, Array]:
    """Values of every member of a trial, one per name, as arrays over its scales and seeds."""
    return {
        name: Array(("scale", "seed"), grid(each, point.scale, point.seed))
        for name, each in values.items()
    }


def ensemble_errors(point: Point, run: Run, data: Dataset) -> Array:
    """Error of the mean prediction over the seeds of a trial (S14), one for each scale."""
    from regimes.measure import ensemble_error

    assert run.outputs_test is not None
    outputs = run.outputs_test[..., 0].view(len(point.scale), len(point.seed), -1)
    return Array("scale", ensemble_error(outputs.transpose(0, 1), data.y_test).cpu().numpy())


def ends(point: Point, run: Run, data: Dataset) -> dict[str, Array]:
    """How the members of a trial ended, and the error of their ensembles."""
    from regimes import measure

    assert run.outputs_test is not None
    each = {
        "error": run.test_errors,
        "fitted": fitted(run),
        "unfitted": measure.unfitted(run.outputs_train[..., 0], data.y_train).double(),
        "output_norm": measure.output_norm(run.outputs_test[..., 0]),
        "steps": (run.steps + run.refused).double(),
    }
    return by_member(point, each) | {"ensemble_error": ensemble_errors(point, run, data)}


def weights_per_member(start: Ensemble) -> int:
    """N: the number of parameters of one network."""
    return sum(stacked[0].numel() for stacked in start.parameters.values())


def cost_of_steps(
    point: Point, steps: float, n_train: int, width: int, *, calls: float = 1e5
) -> float:
    """Relative cost of so many steps of all members of a trial: arithmetic and overhead.

    `calls` is the arithmetic that would take as long as the calls of one step.
    """
    members = prod(len(stacked) for stacked in point.values() if isinstance(stacked, tuple))
    return steps * (calls + members * n_train * width * (width + 40)) / 1e9


def scales_as_parameter(params: Any, config: TrialConfig) -> TrialConfig:
    """`formerly` of studies in which the scales were a parameter `at`, no axis."""
    point = dict(config.point)
    at = point.pop("scale")
    return replace(config, params={**config.params, "at": at}, point=point)
