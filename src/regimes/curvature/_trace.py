"""Traces by random signs, with their standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from regimes._random import generator
from regimes.tangent._products import TraceEstimate

Product = Callable[[Tensor], Tensor]  # rows (k, N) -> (k, N)


def signs(
    count: int, like: Tensor, seed: int, stream: str, at_once: int | None = None
) -> Iterator[Tensor]:
    """Rows (count, N) of random +-1, some at a time: all where it is not said."""
    gen = generator(seed, stream)
    for start in range(0, count, at_once or count):
        some = min(at_once or count, count - start)
        # drawn bytes are an eighth of drawn integers
        drawn = torch.randint(0, 2, (some, len(like)), generator=gen, dtype=torch.int8)
        yield drawn.to(like.device).to(like.dtype) * 2 - 1


def estimate(values: Tensor, products: int, known: float = 0.0) -> TraceEstimate:
    """The mean of independent values on top of what is known, with its standard error."""
    error = float(values.std() / len(values) ** 0.5)
    return TraceEstimate(known + float(values.mean()), error, products)


def hutchinson(
    product: Product, like: Tensor, samples: int, seed: int, at_once: int | None = None
) -> TraceEstimate:
    """The mean of z^T H z over random signs z, some of them at a time."""
    found = [
        (z * product(z)).sum(1, dtype=torch.float64)
        for z in signs(samples, like, seed, "curvature/trace", at_once)
    ]
    return estimate(torch.cat(found), samples)


def hutch_plus_plus(product: Product, like: Tensor, samples: int, seed: int) -> TraceEstimate:
    """Exact in the space that a third of the products finds, random signs in what is left.

    With Q an orthonormal basis of the columns of H S for random signs S, tr H = tr Q^T H Q + tr P H
    P with P = 1 - Q Q^T; of the second trace, which holds the small eigenvalues, the error is taken
    [Meyer 2021, algorithm 1].
    """
    third = samples // 3
    (start,) = signs(third, like, seed, "curvature/sketch")
    sketch = product(start)
    found, _ = torch.linalg.qr(sketch.mT.double())
    basis = found.mT.to(like)
    known = float((basis * product(basis)).sum(dtype=torch.float64))
    (z,) = signs(samples - 2 * third, like, seed, "curvature/trace")
    z = z - z @ basis.mT @ basis
    return estimate((z * product(z)).sum(1, dtype=torch.float64), samples, known)
