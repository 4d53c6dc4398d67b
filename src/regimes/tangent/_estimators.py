"""Tangent kernels as estimators of scikit-learn; loaded when they are asked for, as it is large."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
from torch import Tensor, nn

from regimes._check import real, shown
from regimes._random import generator
from regimes.kernels import kernel_ridge, posterior
from regimes.nets import initialise
from regimes.tangent._kernel import TangentKernel

_WIDTH = 100  # of the hidden layers of the network that is made where none is given

Network = nn.Module | Callable[[int], nn.Module] | None


def _plain(features: int, seed: int) -> nn.Module:
    """Two hidden layers of ReLU in float64, of plain modules so that estimators can be copied."""
    sizes = (features, _WIDTH, _WIDTH, 1)
    layers: list[nn.Module] = []
    for before, after in itertools.pairwise(sizes):
        layer = nn.Linear(before, after, dtype=torch.float64, device="meta")
        layers += [layer.to_empty(device="cpu"), nn.ReLU()]
    return initialise(nn.Sequential(*layers[:-1]), "lecun", generator(seed, "estimator"))


class _TangentKernelMachine(BaseEstimator):
    """Ridge regression with the tangent kernel of a network: what both estimators share."""

    def __init__(
        self,
        network: Network = None,
        *,
        ridge: float = 1e-3,
        biased: bool = False,
        in_shape: tuple[int, ...] | None = None,
        output: Callable[[Any], Any] | None = None,
        precision: str | None = None,
        memory: str | int | None = None,
        seed: int = 0,
    ) -> None:
        self.network = network
        self.ridge = ridge
        self.biased = biased
        self.in_shape = in_shape
        self.output = output
        self.precision = precision
        self.memory = memory
        self.seed = seed

    def _points(self, X: Any, *, reset: bool) -> np.ndarray:
        """Points as they are stored, (n, features): finite numbers of the fitted number."""
        found: np.ndarray = validate_data(self, X, reset=reset, dtype=np.float64)
        return found

    y_: np.ndarray

    def _begin(self) -> None:
        """The network and its kernel, and no points yet."""
        real("ridge", self.ridge, above=0.0)
        network = self.network
        if network is None:
            network = _plain(self.n_features_in_, self.seed)
        elif not isinstance(network, nn.Module):
            if not callable(network):
                raise ValueError(
                    "network must be a torch.nn.Module, a function from the number of features to "
                    f"one, or None, got {shown(network)}"
                )
            network = network(self.n_features_in_)
        self.kernel_ = TangentKernel(
            network, precision=self.precision, memory=self.memory, output=self.output
        )
        self.points_ = self._tensor(np.empty((0, self.n_features_in_)))
        self.gram_ = self.points_.new_empty(0, 0)

    def _tensor(self, points: np.ndarray) -> Tensor:
        """Points as the network takes them."""
        like = self.kernel_.parameters[0]
        x = torch.tensor(points).to(like)
        if self.in_shape is None:
            return x
        if not isinstance(self.in_shape, Sequence):
            raise ValueError(
                f"in_shape must be a shape, such as (3, 32, 32), or None, got {self.in_shape!r}"
            )
        if math.prod(self.in_shape) != x.shape[1]:
            raise ValueError(
                f"in_shape={self.in_shape} has {math.prod(self.in_shape)} entries, but X has "
                f"{x.shape[1]} features; give the shape that one row of X is to take"
            )
        return x.reshape(-1, *self.in_shape)

    def _gram(self, x: Tensor, z: Tensor) -> Tensor:
        """The kernel (n, m); of several outputs the mean of their own."""
        if not len(x) or not len(z):
            return x.new_empty(len(x), len(z))
        made: Tensor = self.kernel_(x, z, outputs="trace")
        return made

    def _take(self, points: np.ndarray) -> None:
        """Add points; of the Gram only what is new is computed."""
        new = self._tensor(points)
        cross = self._gram(new, self.points_)
        own = self._gram(new, new)
        gram = own.new_empty(*[len(self.points_) + len(new)] * 2)
        old = len(self.points_)
        gram[:old, :old], gram[old:, :old] = self.gram_.to(own), cross
        gram[:old, old:], gram[old:, old:] = cross.T, own
        self.points_ = torch.cat([self.points_, new])
        self.gram_ = gram

    def _solve(self, targets: np.ndarray) -> None:
        """Dual weights (n, k) of the targets (n, k)."""
        y = torch.tensor(targets).to(self.gram_.double())
        self.ridge_ = self.ridge * float(self.gram_.diagonal().double().mean())
        self.targets_ = y - self._start(self.points_, y.shape[1])
        gram = self.gram_.double()
        fit = kernel_ridge(lambda x, z: gram, self.points_, self.targets_, self.ridge_)
        self.dual_coef_ = fit.dual

    def _start(self, x: Tensor, k: int) -> Tensor:
        """Where the linear model starts, (n, k): the network's outputs, or 0."""
        if not self.biased:
            return x.new_zeros(len(x), k, dtype=torch.float64)
        said = self.kernel_.outputs(x).double()
        if said.shape[1] != k:
            raise ValueError(
                f"biased=True adds the network's {said.shape[1]} outputs to {k} target columns; "
                "take a network with one output a target (a class; one for two classes)"
            )
        return said

    def _outputs(self, X: Any) -> Tensor:
        """The linear model at new points, (m, k)."""
        check_is_fitted(self, "dual_coef_")
        x = self._tensor(self._points(X, reset=False))
        found = self._gram(x, self.points_).double() @ self.dual_coef_
        return found + self._start(x, self.dual_coef_.shape[1])


class TangentKernelRegressor(RegressorMixin, _TangentKernelMachine):
    """The linearisation of a network, fitted by ridge regression [Ortiz-Jimenez 2021, eq. 1].

    Also the mean of a Gaussian process with the tangent kernel as covariance:
    `predict(X, return_std=True)` gives its standard deviation.

    Args:
        network: any module; a function from the number of features to one; or None for two hidden
            layers of 100. It is copied, and its parameters are the anchor.
        ridge: added to the Gram, as a share of its mean diagonal. As the noise of the process it is
            a variance in units of the kernel.
        biased: start from the network's own outputs, one a target, as for a pretrained network.
        in_shape: shape of one input where the network does not take vectors, such as (3, 32, 32).
        output: as in `TangentKernel`.
        precision: as in `TangentKernel`.
        memory: as in `TangentKernel`.
        seed: of the network that is made where none is given.

    Attributes:
        kernel_: the `TangentKernel`.
        points_: training points.
        gram_: their Gram; of several outputs the mean of their own.
        dual_coef_: (n, k) for k targets.
        ridge_: what was added to the Gram.

    Example:
        >>> import numpy as np
        >>> X = np.linspace(-1, 1, 20)[:, None]
        >>> model = TangentKernelRegressor().fit(X, np.abs(X[:, 0]))
        >>> bool(model.score(X, np.abs(X[:, 0])) > 0.99)
        True
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Fit targets (n,) or (n, k) of points (n, features)."""
        X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True)
        self._begin()
        return self._added(X, y)

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Add points: the same as `fit` on all of them, with only the new part of the Gram."""
        first = not hasattr(self, "dual_coef_")
        X, y = validate_data(
            self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, reset=first
        )
        if first:
            self._begin()
        return self._added(X, y)

    def _added(self, X: np.ndarray, y: np.ndarray) -> Self:
        y = np.asarray(y, dtype=np.float64)
        seen = getattr(self, "y_", None)
        self.y_ = y if not len(self.points_) or seen is None else np.concatenate([seen, y])
        self._take(X)
        self._solve(self.y_.reshape(len(self.y_), -1))
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Values (m,) or (m, k); with `return_std` also their standard deviations (m,)."""
        found = self._outputs(X).cpu().numpy()
        values = found[:, 0] if self.y_.ndim == 1 else found
        if not return_std:
            return values
        x = self._tensor(self._points(X, reset=False))
        diagonal = self.kernel_.diagonal(x)
        own = diagonal if diagonal.ndim == 1 else diagonal.mean(1)
        belief = posterior(self.gram_, self.targets_, self.ridge_, self._gram(x, self.points_), own)
        return values, belief.variance.sqrt().cpu().numpy()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class TangentKernelClassifier(ClassifierMixin, _TangentKernelMachine):
    """The linearisation of a network as a classifier: ridge regression on a column for each class.

    Labels become columns of +1 and -1 (one column for two classes); the largest output wins. All
    columns share one Gram and one factorisation.

    Args:
        network: as in `TangentKernelRegressor`.
        ridge: as in `TangentKernelRegressor`.
        biased: as in `TangentKernelRegressor`; the outputs of a network of several classes are
            those of the classes in sorted order.
        in_shape: as in `TangentKernelRegressor`.
        output: as in `TangentKernelRegressor`.
        precision: as in `TangentKernelRegressor`.
        memory: as in `TangentKernelRegressor`.
        seed: as in `TangentKernelRegressor`.

    Attributes:
        classes_: the labels, sorted.
        kernel_: the `TangentKernel`.
        points_: training points.
        gram_: their Gram.
        dual_coef_: (n, k) for k columns.
        ridge_: what was added to the Gram.

    Example:
        >>> from sklearn.datasets import load_digits
        >>> X, y = load_digits(return_X_y=True)
        >>> model = TangentKernelClassifier().fit(X[:500] / 16, y[:500])
        >>> bool(model.score(X[500:1000] / 16, y[500:1000]) > 0.9)
        True
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Fit labels (n,) of points (n, features)."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self._begin()
        self.classes_ = np.unique(y)
        return self._added(X, column_or_1d(y, warn=True), new=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Add points: the same as `fit` on all of them, with only the new part of the Gram.

        Args:
            X: points (n, features).
            y: labels (n,).
            classes: all labels that will come, in the first call; None: those of that call.
        """
        first = not hasattr(self, "dual_coef_")
        X, y = validate_data(self, X, y, dtype=np.float64, reset=first)
        check_classification_targets(y)
        y = column_or_1d(y, warn=True)
        if first:
            self._begin()
            self.classes_ = np.unique(y if classes is None else classes)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"labels {unknown.tolist()} are not among the classes {self.classes_.tolist()}; "
                "name all of them in the first call: partial_fit(X, y, classes=...)"
            )
        return self._added(X, y, new=first)

    def _added(self, X: np.ndarray, y: np.ndarray, *, new: bool) -> Self:
        if len(self.classes_) < 2:
            raise ValueError(
                f"a classifier needs two classes, got {len(self.classes_)} class: "
                f"{self.classes_.tolist()}"
            )
        self.y_ = y if new else np.concatenate([self.y_, y])
        self._take(X)
        columns = 2.0 * (self.y_[:, None] == self.classes_) - 1.0
        self._solve(columns[:, 1:] if len(self.classes_) == 2 else columns)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Outputs: (m,) for two classes, positive for the second; (m, k) for k."""
        found = self._outputs(X).cpu().numpy()
        return found[:, 0] if len(self.classes_) == 2 else found

    def predict(self, X: Any) -> np.ndarray:
        """Labels (m,)."""
        said = self.decision_function(X)
        best = (said > 0).astype(int) if said.ndim == 1 else said.argmax(1)
        return np.asarray(self.classes_[best])
