"""Digits and their parity, the network that learns it, and its frozen kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

import regimes as rg
from regimes.lab import Point
from regimes.studies._images import image_task
from regimes.studies._types import Dataset, Ensemble, MnasNetLike, Points, Run, Tensor

if TYPE_CHECKING:
    from regimes.studies.compression.digit_parity import Params


# Of the machines: the rank of a last layer is its width, too low to separate many images, and then
# the largest penalty that has a solution is taken.
PENALTIES = (1e8, 1e6, 1e4, 1e2)
CUBES = (2, 5)  # dimensions of the cubes that test the estimator of dimension
KERNELS = ("initial NTK", "final NTK", "initial last layer", "final last layer")


@dataclass(frozen=True, eq=False)
class Images:
    """Two training sets of p images and the test images.

    The network learns from `first`; a kernel of the trained network from `second`, which it has not
    seen. `unseen` are `second` and `test` together.
    """

    first: Points
    second: Points
    test: Points
    unseen: Points
    whole: Dataset


def digit_parity(kind: str, p: int, n_test: int | None, seed: int, dtype: str) -> Images:
    """Even digits +1, odd ones -1, from the 8 x 8 "digits" or from "mnist".

    The mean image of all images at hand is subtracted, then each is scaled to the norm
    sqrt(pixels).
    """
    import torch

    made = image_task(
        kind, 2 * p, n_test, files="split", seed=seed, precision=dtype, dtype=dtype, keep=False
    )
    second = rg.data.Points(made.x_train[p:], made.y_train[p:])
    return Images(
        first=rg.data.Points(made.x_train[:p], made.y_train[:p]),
        second=second,
        test=made.test,
        unseen=rg.data.Points(
            torch.cat([second.x, made.x_test]), torch.cat([second.y, made.y_test])
        ),
        whole=made,
    )


def networks(
    images: Images, width_factor: int, seeds: Sequence[int], *, dtype: str, device: str
) -> Ensemble:
    """One network per seed."""
    import torch

    return rg.nets.stack(
        lambda seed: rg.nets.MnasNetLike(
            images.whole.in_shape,
            width_factor=width_factor,
            seed=seed,
            dtype=getattr(torch, dtype),
            device=device,
        ),
        seeds,
    )


def train(params: Params, start: Ensemble, sets: Sequence[Images]) -> Run:
    """Flow with momentum of `softplus_beta(1 - alpha f y) / alpha` to all margins >= 1.

    The velocity relaxes in a time tau, the factor of the width.
    """
    like = next(iter(start.parameters.values()))
    return rg.flow.gradient_flow(
        start,
        [each.whole.to(like.dtype, like.device) for each in sets],
        n_train=len(sets[0].first.y),
        loss=rg.flow.soft_hinge(params.softness),
        alpha=params.alpha,
        subtract_init=False,
        divide_by="alpha",
        momentum=rg.flow.Momentum(tau=float(params.width_factor)),
        tolerances=rg.flow.Tolerances(output=params.output, gradient=params.gradient),
        # refusals are many: steps of a tenth cost threefold here
        rule=rg.flow.StepRule(first="weights", shrink=2.0),
        max_steps=params.max_steps,
    )


def member(ensemble: Ensemble, index: int) -> MnasNetLike:
    """One of the networks, as what it is."""
    return cast("MnasNetLike", ensemble.member(index))


def network_error(network: MnasNetLike, points: Points) -> float:
    """Fraction of points on the wrong side of f = 0."""
    import torch

    like = next(network.parameters())
    with torch.no_grad():
        outputs = torch.cat([network(x.to(like)) for x in points.x.split(1000)])[:, 0]
    return float((outputs.cpu() * points.y <= 0).double().mean())


@dataclass(frozen=True, eq=False)
class Frozen:
    """One kernel with what it learns from and what it is tested on."""

    gram: Tensor  # (p, p), divided by its mean diagonal
    y: Tensor  # (p,)
    gram_test: Tensor  # (n, p), divided by the same
    y_test: Tensor  # (n,)
    fresh: Tensor  # (points, points), on points that no training has seen
    y_fresh: Tensor


def frozen_kernels(
    before: MnasNetLike, after: MnasNetLike, images: Images, points: int
) -> list[Frozen]:
    """The kernels of one network in the order of KERNELS.

    Those before training learn from the network's own training set and are tested on all other
    images; those after it learn from the second set and are tested on the test images.
    """
    like = next(after.parameters())
    fresh, y_fresh = images.unseen.x[:points].to(like), images.unseen.y[:points]
    made = []
    for kernel, trained in (
        (tangent_kernel(before), False),
        (tangent_kernel(after), True),
        (last_layer_kernel(before), False),
        (last_layer_kernel(after), True),
    ):
        train, test = (images.second, images.test) if trained else (images.first, images.unseen)
        x = train.x.to(like)
        gram = kernel(x, x)
        scale = gram.diagonal().mean()
        made.append(
            Frozen(
                gram / scale,
                train.y.to(gram),
                kernel(test.x.to(like), x) / scale,
                test.y.to(gram),
                kernel(fresh, fresh),
                y_fresh,
            )
        )
    return made


def tangent_kernel(network: MnasNetLike) -> Callable[[Tensor, Tensor], Tensor]:
    """The full tangent kernel in float64."""
    made = rg.tangent.TangentKernel(network, precision="float64")
    return lambda x, z: made(x) if x is z else made(x, z)


def last_layer_kernel(network: MnasNetLike) -> Callable[[Tensor, Tensor], Tensor]:
    """The part of the tangent kernel from the readout's weights: products of representations."""
    import torch

    def representation(x: Tensor) -> Tensor:
        with torch.no_grad():
            return torch.cat([network.features(part).mean((2, 3)) for part in x.split(1000)])

    def kernel(x: Tensor, z: Tensor) -> Tensor:
        left = representation(x).double()
        right = left if x is z else representation(z).double()
        return left @ right.T / left.shape[1] ** 2

    return kernel


def learn(frozen: Sequence[Sequence[Frozen]]) -> tuple[np.ndarray, np.ndarray]:
    """What the limit of frozen-kernel hinge flow makes of every kernel: hard-margin machines.

    The flow itself is too slow here: under the kernels before training a fifth of the points had
    their margin after 5000 steps.

    Returns:
        Test errors and fractions of training points with their margin, (members, kernels) each.
    """
    each = [one for member in frozen for one in member]
    with (
        rg.kernels.quiet_solver(),
        ThreadPoolExecutor() as threads,
    ):  # the solver lets other threads run
        learned = list(threads.map(_learn_one, each))
    errors, satisfied = np.reshape(learned, (len(frozen), len(KERNELS), 2)).transpose(2, 0, 1)
    return errors, satisfied


def _learn_one(kernel: Frozen) -> tuple[float, float]:
    machine = rg.kernels.fit_machine(
        kernel.gram.cpu().numpy(), kernel.y.cpu().numpy(), penalties=PENALTIES, iterations=500_000
    )
    values = kernel.gram_test.cpu().numpy()[:, machine.chosen]
    return machine.error(values, kernel.y_test.cpu().numpy()), 1.0 - machine.unfitted


def cube_dimensions(params: Params, point: Point) -> list[list[float]]:
    """What the estimator by two neighbours says of points even in a cube, (seed, cube) (COMP-46).

    Each is a mean over several clouds of points.
    """
    import torch

    from regimes._random import generator

    def estimated(size: int, seed: int) -> float:
        shape = (params.cube_draws, params.cube_points, size)
        draw = generator(seed, f"cube/{size}/{point.p}")
        clouds = torch.rand(shape, generator=draw, dtype=torch.float64)
        return float(np.mean([rg.measure.effective_dimension(cloud).value for cloud in clouds]))

    return [[estimated(size, seed) for size in CUBES] for seed in point.seed]
