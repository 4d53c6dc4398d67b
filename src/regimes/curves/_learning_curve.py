"""How the error of a kernel machine falls with the training set [Spigler 2020, secs. 2 and 3]."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from regimes._check import choose, instance, not_negative, real
from regimes._device import known_device
from regimes.curves._tasks import Arrays, Drawn, Pool, Teacher, as_pool, check_counts
from regimes.data import Dataset
from regimes.kernels import Kernel, grams, nested_regression, soft_margin, teacher_error
from regimes.measure import PowerLaw, local_slopes, power_law

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from regimes.curves._spectral_tail import SpectralTail

_MACHINES = {"regression": "mse", "svm": "error"}


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Test errors for several sizes of the training set; repeats share no draw."""

    name: str  # the kernel
    quantity: str  # "mse" of regression, "error": fraction misclassified, "teacher average"
    sizes: np.ndarray  # (s,)
    errors: np.ndarray  # (repeats, s)
    condition: np.ndarray  # (repeats, s), of the Gram; NaN where nothing was inverted
    residual: np.ndarray  # (repeats, s), of regression, or the conditions missed by the machine
    rank: np.ndarray  # (repeats, s), eigenvalues used; below the size where a Gram is singular
    jitter: float  # added to the Gram's diagonal: nothing unless it was asked for
    duplicates: int  # points left out of the pool because an earlier one is equal

    @property
    def mean(self) -> np.ndarray:
        """Mean over repeats, (s,)."""
        return self.errors.mean(0)

    @property
    def median(self) -> np.ndarray:
        """Median over repeats, (s,)."""
        return np.median(self.errors, 0)

    @property
    def standard_error(self) -> np.ndarray:
        """Of the mean, (s,); NaN for one repeat."""
        count = len(self.errors)
        if count < 2:
            return np.full(len(self.sizes), np.nan)
        return self.errors.std(0, ddof=1) / count**0.5

    def fit(self, window: tuple[float, float] | None = None, *, center: str = "mean") -> PowerLaw:
        """`error ~ n^exponent` over sizes in a window; its error from resampled repeats.

        The beta of the literature is minus the exponent.

        Args:
            window: smallest and largest size; None takes all.
            center: "mean" or "median" over repeats.
        """
        errors = self.errors if len(self.errors) > 1 else self.errors[0]
        return power_law(self.sizes.astype(float), errors, window=window, center=center)

    def slopes(self) -> tuple[Tensor, Tensor]:
        """Geometric middles between sizes, and the slope of the mean from one to the next."""
        return local_slopes(self.sizes.astype(float), self.mean)

    def plot(self, *others: LearningCurve, tail: SpectralTail | None = None) -> go.Figure:
        """The curve as a figure, with others and with what a spectrum predicts.

        Args:
            *others: curves to be drawn beside this one.
            tail: of `spectral_tail`; its powers are drawn through the curve's first point.

        Raises:
            ValueError: something else than curves, or than a tail.
        """
        from regimes.curves._plot import plotted
        from regimes.curves._spectral_tail import SpectralTail

        for other in others:
            instance("a curve to draw beside this one", other, LearningCurve, "a LearningCurve")
        if tail is not None:
            instance("tail", tail, SpectralTail, "what spectral_tail returns")
        return plotted((self, *others), tail)

    def __repr__(self) -> str:
        ends = f"n = {self.sizes[0]} to {self.sizes[-1]}, {len(self.errors)} repeats"
        return (
            f"LearningCurve of {self.name}: {self.quantity} {self.mean[0]:.3g} to "
            f"{self.mean[-1]:.3g}, {ends}"
        )


def learning_curve(
    task: Arrays | Dataset | Teacher,
    kernel: Kernel,
    sizes: Sequence[int],
    repeats: int = 4,
    **options: Any,
) -> LearningCurve:
    """The learning curve of one kernel; options as in `learning_curves`.

    >>> from regimes import data, kernels
    >>> digits = data.digits(1000, 300).pipe(data.flatten(), data.parity())
    >>> curve = learning_curve(digits, kernels.Laplace(10.0), (64, 128, 256, 512), n_test=200)
    >>> curve.errors.shape, round(-curve.fit((64, 512)).exponent, 1)
    ((4, 4), 0.6)
    """
    name = getattr(kernel, "name", None) or repr(kernel).split(" at 0x")[0].lstrip("<")
    return learning_curves(task, {name: kernel}, sizes, repeats, **options)[name]


def learning_curves(
    task: Arrays | Dataset | Teacher,
    kernels: Mapping[str, Kernel],
    sizes: Sequence[int],
    repeats: int = 4,
    *,
    machine: str = "regression",
    n_test: int = 1000,
    jitter: float = 0.0,
    penalty: float = 1e4,
    seed: int = 0,
    device: str | None = None,
) -> dict[str, LearningCurve]:
    """Learning curves of several kernels on the same draws, all linear algebra in float64.

    In a repeat, smaller training sets are the first points of the largest, so that distances are
    computed once and one Cholesky factor serves all sizes; repeats share nothing.

    Args:
        task: points (n, ...) and targets (n,) to draw training and test sets from; a `Dataset`,
            whose test points are used where it has any; or a `Teacher`.
        kernels: by name; a covariance, a tangent kernel, any function of two sets of points.
        sizes: increasing numbers of training points.
        repeats: independent draws of points.
        machine: "regression" without ridge, or "svm" with soft margins (targets +1 and -1).
        n_test: test points in each repeat.
        jitter: added to the diagonal of the Gram, nothing by default.
        penalty: C of the svm.
        seed: of the draws.
        device: where it is computed; None leaves the points where they are.

    Raises:
        ValueError: sizes above the number of points, an unknown machine, bad targets.

    >>> from regimes.kernels import Gaussian, Laplace
    >>> field = Teacher(Laplace(1.0), d=1)
    >>> found = learning_curves(field, {"Laplace": Laplace(1.0)}, (16, 64), repeats=3, n_test=99)
    >>> found["Laplace"].quantity, found["Laplace"].errors.shape
    ('teacher average', (3, 2))
    """
    quantity = choose(machine, _MACHINES, "machine")
    repeats, n_test = check_counts(repeats, n_test)
    jitter, penalty = not_negative("jitter", jitter), real("penalty", penalty, above=0.0)
    if not isinstance(kernels, Mapping) or not kernels:
        raise ValueError("kernels must be a mapping from names to kernels, with at least one")
    top = _checked_sizes(sizes)
    if device is not None:
        known_device(device)
    if isinstance(task, Teacher):
        if machine != "regression":
            raise ValueError("a Teacher has real targets; use machine='regression'")
        quantity, duplicates = "teacher average", 0
        rows = [
            _against_teacher(task, kernels, top, n_test, jitter, seed, repeat, device)
            for repeat in range(repeats)
        ]
    else:
        pool = as_pool(task, device)
        _check_enough(pool, top[-1], n_test)
        duplicates = pool.duplicates
        learn: Callable[..., _Row] = _interpolated if machine == "regression" else _classified
        strength = jitter if machine == "regression" else penalty
        rows = [
            _one_repeat(pool.drawn(top[-1], n_test, seed, repeat), kernels, top, learn, strength)
            for repeat in range(repeats)
        ]
    made = {}
    for name in kernels:
        columns = zip(*(row[name] for row in rows), strict=True)
        errors, condition, residual, rank = (np.array(list(column)) for column in columns)
        made[name] = LearningCurve(
            name, quantity, np.array(top), errors, condition, residual, rank, jitter, duplicates
        )
    return made


_Row = tuple[Any, Any, Any, Any]  # errors, condition, residual, rank; each (sizes,)


def _one_repeat(
    drawn: Drawn,
    kernels: Mapping[str, Kernel],
    sizes: tuple[int, ...],
    learn: Callable[..., _Row],
    strength: float,
) -> dict[str, _Row]:
    inner, outer = grams(kernels, drawn.x), grams(kernels, drawn.x_test, drawn.x)
    return {name: learn(inner[name](), outer[name](), drawn, sizes, strength) for name in kernels}


def _interpolated(
    K: Tensor, k: Tensor, drawn: Drawn, sizes: tuple[int, ...], jitter: float
) -> _Row:
    found = nested_regression(K, drawn.y, k, sizes, jitter=jitter)
    errors = (found.predictions - drawn.y_test).square().mean(1)
    return errors.cpu().numpy(), found.condition, found.residual, found.rank


def _classified(K: Tensor, k: Tensor, drawn: Drawn, sizes: tuple[int, ...], penalty: float) -> _Row:
    inner, outer = K.cpu().numpy(), k.cpu().numpy()
    y, y_test = drawn.y.cpu().numpy(), drawn.y_test.cpu().numpy()
    errors, missed = [], []
    for n in sizes:
        machine = soft_margin(inner[:n, :n], y[:n], penalty=penalty)
        errors.append(machine.error(outer[:, :n], y_test))
        missed.append(machine.violation)
    return errors, [np.nan] * len(sizes), missed, sizes


def _against_teacher(
    task: Teacher,
    kernels: Mapping[str, Kernel],
    sizes: tuple[int, ...],
    n_test: int,
    jitter: float,
    seed: int,
    repeat: int,
    device: str | None,
) -> dict[str, _Row]:
    x, x_test = (each.to(device) for each in task.points(sizes[-1], n_test, seed, repeat))
    unknown = np.full(len(sizes), np.nan)
    return {
        name: (
            teacher_error(task.kernel, student, x, x_test, sizes, jitter=jitter).numpy(),
            unknown,
            unknown,
            sizes,
        )
        for name, student in kernels.items()
    }


def _checked_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    from regimes.kernels._nested import check_sizes

    return check_sizes(sizes, 2**62)


def _check_enough(pool: Pool, most: int, n_test: int) -> None:
    if pool.x_test is not None and n_test > len(pool.x_test):
        raise ValueError(
            f"{n_test} test points are asked for and the data set has {len(pool.x_test)}; say "
            f"n_test={len(pool.x_test)}"
        )
    if most > pool.most(n_test):
        told = f" besides {n_test} to test" if pool.x_test is None else ""
        gone = f" ({pool.duplicates} repeated ones were left out)" if pool.duplicates else ""
        raise ValueError(
            f"the largest size is {most}, but there are {max(pool.most(n_test), 0)} different "
            f"points to train with{told}{gone}; leave out the larger sizes or lower n_test"
        )
