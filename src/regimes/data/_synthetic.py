"""What the synthetic data sets share: separate streams of one seed, labels of stored points."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from regimes._check import positive_int
from regimes._random import generator
from regimes.data._dataset import Dataset, Points, float_dtype

Sampler = Callable[[int, torch.Generator], Tensor]
Labeller = Callable[[Tensor], Tensor]


def synthetic(
    name: str,
    made: str,
    sample: Sampler,
    label: Labeller,
    *,
    n_train: int,
    n_test: int,
    seed: int,
    dtype: torch.dtype,
    n_kernel: int = 0,
) -> Dataset:
    """A data set whose label is a function of the point.

    Training, test and kernel set come from streams of their own ("name/train", ...), so that the
    size of one does not change the points of another. Points are drawn in float64 and cast;
    labels are computed in float64 from the cast points, so they are an exact function of what is
    stored.

    Args:
        name: name of the set and of its random streams.
        made: first line of the description.
        sample: (n, generator) -> (n, *in_shape) in float64.
        label: (n, *in_shape) in float64 -> (n,).
        n_train: training points, at least 1.
        n_test: test points, may be 0.
        seed: seed of all streams.
        dtype: precision of what is stored.
        n_kernel: points of the independent kernel set `probes["kernel"]`, 0 for none.

    Returns:
        The data set.
    """
    float_dtype(dtype)

    def draw(n: int, part: str) -> Points:
        x = sample(n, generator(seed, f"{name}/{part}")).to(dtype)
        return Points(x, label(x.double()).to(dtype))

    train = draw(positive_int("n_train", n_train), "train")
    test = draw(positive_int("n_test", n_test, least=0), "test")
    n_kernel = positive_int("n_kernel", n_kernel, least=0)
    probes = {"kernel": draw(n_kernel, "kernel")} if n_kernel else {}
    return Dataset(*train, *test, name=name, description=(made,), seed=seed, probes=probes)


def gaussian(*shape: int) -> Sampler:
    """A sampler of standard normal points of the given shape."""

    def sample(n: int, source: torch.Generator) -> Tensor:
        return torch.randn((n, *shape), generator=source, dtype=torch.float64)

    return sample


def signs(condition: Tensor) -> Tensor:
    """+1 where the condition holds, -1 elsewhere, in float64."""
    return 2 * condition.double() - 1
