"""What the spectrum of the data says about the learning curve beforehand [Spigler 2020, sec. 6]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regimes._check import positive_int
from regimes.curves._tasks import Arrays, as_pool, check_counts
from regimes.data import Dataset
from regimes.kernels import Kernel, gram
from regimes.measure import PowerLaw, kernel_pca, power_law, tail_power


@dataclass(frozen=True, eq=False)
class SpectralTail:
    """Power of the target in all eigenvectors of the Gram from the n-th on."""

    ranks: np.ndarray  # (r,), n = 1 to r
    power: np.ndarray  # (repeats, r), share of the target's power
    eigenvalues: np.ndarray  # (repeats, r), of the operator: those of the Gram over its points
    points: int  # in the Gram
    duplicates: int  # points left out because an earlier one is equal

    def fit(self, window: tuple[float, float] = (10, 100)) -> PowerLaw:
        """`power ~ rank^exponent`, fitted at twenty ranks in each decade of the window.

        Where the law of error and tail is the same, minus the exponent is the beta of the learning
        curve, and `a = beta + 1` the exponent of the squared coefficients [Spigler 2020, eq. 14].
        """
        chosen = spaced_ranks(window, int(self.ranks[-1]))
        power = self.power[:, chosen - 1]
        kept = power if len(power) > 1 else power[0]
        return power_law(chosen.astype(float), kept, center="mean")


def spectral_tail(
    task: Arrays | Dataset,
    kernel: Kernel,
    n: int,
    repeats: int = 2,
    *,
    top: int | None = None,
    seed: int = 0,
    device: str | None = None,
) -> SpectralTail:
    """Kernel PCA of a Gram of n points, and the power of the target beyond each rank.

    Args:
        task: points and targets, or a `Dataset`, of which the training points are taken.
        kernel: anything that gives a Gram.
        n: points in the Gram.
        repeats: independent draws of the points.
        top: ranks that are kept; None: a tenth of n, which is all that a tail is read from.
        seed: of the draws.
        device: where it is computed; None leaves the points where they are.

    >>> from regimes import data, kernels
    >>> digits = data.digits(1000, 300).pipe(data.flatten(), data.parity())
    >>> tail = spectral_tail(digits, kernels.Laplace(10.0), 400)
    >>> tail.power.shape, round(-tail.fit((4, 40)).exponent, 1)
    ((2, 40), 0.6)
    """
    repeats, _ = check_counts(repeats, 1)
    n = positive_int("n", n, least=20)
    top = n // 10 if top is None else positive_int("top", top)
    pool = as_pool(task, device)
    if n > len(pool.x) or top > n:
        raise ValueError(
            f"the Gram asks for {n} points and {top} ranks, and there are {len(pool.x)} different "
            "points; take fewer"
        )
    power, values = [], []
    for repeat in range(repeats):
        drawn = pool.drawn(n, 0, seed, repeat)
        pca = kernel_pca(gram(kernel, drawn.x), top)
        power.append(tail_power(pca.projections(drawn.y), drawn.y).cpu().numpy())
        values.append(pca.values.cpu().numpy())
    ranks = np.arange(1, top + 1)
    return SpectralTail(ranks, np.array(power), np.array(values), n, pool.duplicates)


def spaced_ranks(window: Sequence[float], most: int) -> np.ndarray:
    """Whole ranks in a window, twenty in each decade, ends included."""
    low, high = (float(edge) for edge in window)
    if not 1 <= low < high <= most:
        raise ValueError(
            f"the window must be two ranks between 1 and {most}, got ({low:g}, {high:g}); keep "
            "more ranks with top, or take a larger Gram"
        )
    count = int(np.ceil(20 * np.log10(high / low))) + 1
    return np.unique(np.geomspace(low, high, count).round().astype(int))
