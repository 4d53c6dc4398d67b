"""Convolutional networks of ten classes: a stack of them, and their errors alone and together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Point
from regimes.studies._images import image_task
from regimes.studies._types import Dataset, Ensemble, Run


def classes(params: Any, point: Point) -> Dataset:
    """Images of ten classes, as the parameters of the study have them."""
    return image_task(
        params.images,
        params.n_train,
        params.n_test,
        files=params.files,
        shrink=params.shrink,
        labels="classes",
        precision="float32",
        dtype=point.dtype,
        device=point.device,
    )


def networks(data: Dataset, channels: int, seeds: Sequence[int], point: Point) -> Ensemble:
    """One network with three convolutions per seed [Geiger 2020b, sec. 8]."""
    import torch

    return rg.nets.stack(
        lambda seed: rg.nets.ConvNet3(
            data.in_shape,
            10,
            width=channels,
            seed=seed,
            dtype=getattr(torch, point.dtype),
            device=point.device,
        ),
        seeds,
    )


def class_errors(run: Run, data: Dataset, group: int) -> dict[str, np.ndarray]:
    """Errors by the largest output: of each run, of their mean, and of disjoint groups."""
    test, y = run.outputs_test, data.y_test
    assert test is not None

    def wrong(outputs: Any, labels: Any) -> np.ndarray:
        return (outputs.argmax(-1) != labels).double().mean(-1).cpu().numpy()

    count = max(1, len(test) // group)
    groups = test[: count * group].unflatten(0, (count, -1)).mean(1)
    return {
        "error": wrong(test, y),
        "train_error": wrong(run.outputs_train, data.y_train),
        "fitted": run.fitted.double().cpu().numpy(),
        "steps": run.steps.double().cpu().numpy(),
        "group_error": wrong(groups, y),
        "ensemble_error": wrong(test.mean(0), y),
    }
