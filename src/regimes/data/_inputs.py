"""Transforms of the inputs, point by point or channel by channel."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from regimes._check import choose, real
from regimes.data._dataset import Dataset, Points, map_sets, map_x
from regimes.data._transform import FITS, Transform, fit_inputs


def flatten() -> Transform:
    """Make every point a vector: x of shape (n, d).

    >>> from regimes import data
    >>> data.digits(n_train=20, n_test=10).pipe(data.flatten()).in_shape
    (64,)
    """
    return Transform("flatten", _flatten)


def grayscale() -> Transform:
    """One channel from three: 0.299 R + 0.587 G + 0.114 B, x of shape (n, 1, h, w).

    The weights are the luma of ITU-R BT.601; the 1024 components of CIFAR-10 in
    [Geiger 2020, sec. 7] would be grey images, of weights it does not name.

    >>> grayscale()
    grayscale()
    """
    return Transform("grayscale", _grayscale)


def center(fit: str = "train") -> Transform:
    """Subtract the mean image, pixel by pixel (docs/themes/regimes.md, "Data").

    Args:
        fit: "train" takes the mean of the training set, "all" of training and test set together.

    Returns:
        The transform, the same shift for every set.

    Example:
        >>> from regimes import data
        >>> ds = data.stripe(100, 100, d=3, dtype=torch.float64).pipe(data.center())
        >>> bool(ds.x_train.mean(0).abs().max() < 1e-12)
        True
    """
    return Transform("center", _center, {"fit": choose(fit, FITS, "fit")})


def sphere() -> Transform:
    """Scale every point to sum_i x_i^2 = d, d the number of components [Geiger 2020, sec. 2].

    A zero point has no direction: it is an error.

    >>> from regimes import data
    >>> ds = data.stripe(5, 5, d=9, dtype=torch.float64).pipe(data.sphere())
    >>> ds.x_train.square().sum(1).round(decimals=9)
    tensor([9., 9., 9., 9., 9.], dtype=torch.float64)
    """
    return Transform("sphere", _sphere)


def standardize(
    fit: str = "train",
    mean: Sequence[float] | float | None = None,
    std: Sequence[float] | float | None = None,
) -> Transform:
    """Subtract the mean and divide by the standard deviation of each channel.

    Images (n, c, h, w) have c channels; points of any other shape count as one channel, so that
    flat data get one mean and one standard deviation.

    Args:
        fit: "train" or "all": where the statistics come from when they are not given.
        mean: one number, or one per channel, instead of the fitted mean; needs `std` too.
        std: one number, or one per channel.

    Returns:
        The transform, the same for every set.

    Raises:
        ValueError: if only one of mean and std is given, if a std is not positive; on
            application, if a channel is constant or the number of channels does not fit.

    Example:
        >>> from regimes import data
        >>> ds = data.digits(n_train=100, n_test=10, dtype=torch.float64).pipe(data.standardize())
        >>> abs(float(ds.x_train.mean())) < 1e-12, round(float(ds.x_train.square().mean()), 12)
        (True, 1.0)
    """
    choose(fit, FITS, "fit")
    if (mean is None) != (std is None):
        raise ValueError(
            f"standardize needs mean and std together, or neither; got mean={mean!r}, std={std!r}"
        )
    if mean is None or std is None:
        return Transform("standardize", _standardize, {"fit": fit})
    means = [real("mean", m) for m in (mean if isinstance(mean, Sequence) else [mean])]
    stds = [real("std", s, above=0) for s in (std if isinstance(std, Sequence) else [std])]
    if len(means) != len(stds):
        raise ValueError(f"mean has {len(means)} channels and std has {len(stds)}")
    return Transform("standardize", _standardize, {"mean": means, "std": stds})


def _flatten(dataset: Dataset) -> tuple[Dataset, str]:
    return map_x(dataset, lambda x: x.reshape(len(x), math.prod(dataset.in_shape))), ""


def _grayscale(dataset: Dataset) -> tuple[Dataset, str]:
    if len(dataset.in_shape) != 3 or dataset.in_shape[0] != 3:
        raise ValueError(
            f"grayscale needs images of shape (3, h, w), but {dataset.name!r} has points of shape "
            f"{dataset.in_shape}"
        )
    weights = dataset.x_train.new_tensor([0.299, 0.587, 0.114]).reshape(3, 1, 1)
    return map_x(dataset, lambda x: (x * weights).sum(1, keepdim=True)), ""


def _center(dataset: Dataset, fit: str) -> tuple[Dataset, str]:
    mean = fit_inputs(dataset, fit).mean(0, dtype=torch.float64).to(dataset.x_train.dtype)
    return map_x(dataset, lambda x: x - mean), ""


def _sphere(dataset: Dataset) -> tuple[Dataset, str]:
    radius = math.sqrt(math.prod(dataset.in_shape))

    def scale(name: str, points: Points) -> Points:
        x = points.x
        norms = torch.linalg.vector_norm(x.flatten(1), dim=1, dtype=torch.float64)
        zeros = int((norms == 0).sum())
        if zeros:
            raise ValueError(
                f"sphere(): {zeros} of the {len(x)} {name} points are zero and have no direction; "
                "remove them first"
            )
        factors = (radius / norms).reshape(-1, *[1] * len(dataset.in_shape))
        return Points(x * factors.to(x.dtype), points.y)

    return map_sets(dataset, scale), ""


def _standardize(
    dataset: Dataset,
    fit: str = "train",
    mean: list[float] | None = None,
    std: list[float] | None = None,
) -> tuple[Dataset, str]:
    image = len(dataset.in_shape) == 3
    channels = dataset.in_shape[0] if image else 1
    note = ""
    if mean is None or std is None:
        x = fit_inputs(dataset, fit)
        spread = [dim for dim in range(x.ndim) if not (image and dim == 1)]
        means = x.mean(spread, dtype=torch.float64, keepdim=True)
        variances = (x - means.to(x.dtype)).square_().mean(spread, dtype=torch.float64)
        if not bool((variances > 0).all()):
            constant = torch.nonzero(variances.reshape(-1) == 0).reshape(-1).tolist()
            raise ValueError(f"standardize: channels {constant} are constant; nothing to divide by")
        mean, std = means.reshape(-1).tolist(), variances.sqrt().reshape(-1).tolist()
        note = f"mean {_numbers(mean)}, std {_numbers(std)}"
    elif len(mean) != channels:
        raise ValueError(
            f"standardize was given {len(mean)} channels, but {dataset.name!r} has {channels} "
            f"(points of shape {dataset.in_shape})"
        )
    shape = (channels, 1, 1) if image else (1,) * len(dataset.in_shape)
    shift = torch.tensor(mean, dtype=torch.float64, device=dataset.x_train.device).reshape(shape)
    scale = torch.tensor(std, dtype=torch.float64, device=dataset.x_train.device).reshape(shape)

    def change(x: Tensor) -> Tensor:
        return (x - shift.to(x.dtype)) / scale.to(x.dtype)

    return map_x(dataset, change), note


def _numbers(values: list[float]) -> str:
    return ", ".join(f"{value:.4g}" for value in values)
