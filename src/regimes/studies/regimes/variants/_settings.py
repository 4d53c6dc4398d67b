"""The settings that the study of variants compares, and how one of them is trained."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import regimes as rg
from regimes.studies._images import SETS, image_task
from regimes.studies._types import Dataset, Ensemble, Run
from regimes.studies.regimes import _setting, _training
from regimes.studies.regimes._adam import adam, nearly_fitted

# "plain" and what differs from it in one respect; the two predictors; two trainers on components
COMPARED = ("plain", "deep", "soft", "biases", "f-f0", "f", "flow:pca", "adam:pca")
TRAINERS = ("flow", "adam")  # of the sets of images: "flow:fashion_mnist"
MEMORY = 1000.0  # mu of `flow.Momentum`: the velocity relaxes in a thousandth of the time
LOOK = 50  # steps of Adam between looks at all training points


@dataclass(frozen=True)
class Params:
    """Scanned: variant, and the seeds trained side by side. Fixed: sizes of the tasks."""

    variant: tuple[str, ...] = (*COMPARED, "flow:digits")
    seed: tuple[int, ...] = (0, 1, 2)
    images: str = "digits"  # of plain and what differs from it
    components: int | None = 10  # None: pixels
    pca_images: str = "digits"  # of flow:pca and adam:pca
    shrink: int = 1  # pixels are averaged in squares of this side
    shrink_cifar10: int = 1
    n_test: int = 300
    n_kernel: int = 30
    n_sample: int = 50  # test points whose predictions are kept
    scale: tuple[float, ...] = (1.0, 1e3)
    alpha: tuple[float, ...] = (0.1, 10.0)  # of f-f0 and f
    p: int = 20
    depth: int = 2
    deep: int = 3
    width: int = 16
    p_offset: int = 20  # of f-f0 and f
    width_offset: int = 16
    p_sets: int = 20  # of flow: and adam:
    depth_sets: int = 2
    eps: float = 1e-1  # what a step of the flow may change the gradient by
    eps_deep: float = 1e-1  # the same for deep networks
    max_steps: int = 1000
    rate: float = 1e-2  # of Adam
    adam_steps: int = 1000


@dataclass(frozen=True)
class Setting:
    """One variant: the task, the network, the trainer."""

    images: str
    components: int | None
    shrink: int
    p: int
    depth: int
    width: int
    scale: tuple[float, ...]
    eps: float
    loss: str = "softhinge_20"
    memory: float | None = None  # mu
    bias: bool = False
    subtract_init: bool = True
    adam: bool = False


def setting_of(params: Params, variant: str) -> Setting:
    """What a variant's name stands for.

    >>> setting_of(Params(), "deep").depth, setting_of(Params(), "flow:digits").components
    (3, None)
    """
    plain = Setting(
        params.images,
        params.components,
        params.shrink if params.components is None else 1,
        params.p,
        params.depth,
        params.width,
        params.scale,
        params.eps,
    )
    if variant == "plain":
        return plain
    if variant == "deep":
        return replace(plain, depth=params.deep, eps=params.eps_deep)
    if variant == "soft":
        return replace(plain, loss="softhinge_10", memory=MEMORY)
    if variant == "biases":
        return replace(plain, bias=True)
    if variant in ("f-f0", "f"):
        return replace(
            plain,
            p=params.p_offset,
            width=params.width_offset,
            scale=tuple(each * params.width_offset**0.5 for each in params.alpha),
            subtract_init=variant == "f-f0",
        )
    trainer, _, name = variant.partition(":")
    if trainer not in TRAINERS or name not in ("pca", *SETS):
        raise ValueError(
            f"variant must be one of {', '.join(COMPARED)}, or flow: or adam: and one of "
            f"{', '.join(SETS)}; got {variant!r}"
        )
    on_sets = replace(plain, p=params.p_sets, depth=params.depth_sets)
    if trainer == "adam":
        on_sets = replace(on_sets, loss="hinge", adam=True)
    if name == "pca":
        return replace(on_sets, images=params.pca_images, components=10, shrink=1)
    shrink = params.shrink_cifar10 if name == "cifar10" else params.shrink
    return replace(on_sets, images=name, components=None, shrink=shrink)


def task_of(params: Params, setting: Setting, device: str) -> Dataset:
    """The data of a variant, points as vectors."""
    options: dict[str, Any] = {"components": setting.components, "device": device}
    few = max(setting.p, params.n_test) <= min(_setting.POOL)
    if setting.images in ("digits", "mnist") and setting.components is not None and few:
        return _setting.task(setting.images, setting.p, params.n_test, **options)
    return image_task(
        setting.images, setting.p, params.n_test, shrink=setting.shrink, flat=True, **options
    )


def trained(
    params: Params, setting: Setting, data: Dataset, seeds: Sequence[int], device: str
) -> tuple[Ensemble, Run]:
    """Networks at the start and their runs, ordered by scale, then seed."""
    d = math.prod(data.in_shape)
    start, alpha = _setting.members(
        d, setting.width, setting.depth, setting.scale, seeds, bias=setting.bias, device=device
    )
    if setting.adam:
        steps = {"max_steps": params.adam_steps, "look": LOOK}
        return start, adam(start, data, alpha, rate=params.rate, **steps)
    return start, _training.train(
        start,
        data,
        alpha,
        eps=setting.eps,
        loss=setting.loss,
        max_steps=params.max_steps,
        subtract_init=setting.subtract_init,
        momentum=None if setting.memory is None else rg.flow.Momentum(memory=setting.memory),
    )


def counted(setting: Setting, run: Run) -> np.ndarray:
    """1 for the runs that count: those that fitted, with Adam those that nearly did."""
    return nearly_fitted(run) if setting.adam else run.fitted.double().numpy()
