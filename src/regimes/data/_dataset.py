"""The data set: labelled points for training and testing, and how they were made."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regimes._device import known_device
from regimes._html import block, cloud, facts

_SHOWN = 300  # points in a notebook's picture


class Points(NamedTuple):
    """Labelled points: x of shape (n, *in_shape) and y of shape (n,)."""

    x: Tensor
    y: Tensor


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Training and test points with their history.

    Labels come in three kinds: +1/-1 in the dtype of x (binary), int64 class indices, or real
    targets in the dtype of x (regression). All have shape (n,).

    Attributes:
        x_train: training inputs, (n_train, *in_shape), floating point.
        y_train: training labels, (n_train,).
        x_test: test inputs, (n_test, *in_shape); n_test = 0 only where it was asked for.
        y_test: test labels, (n_test,).
        name: what the data set is called.
        description: one line per step, the first says how the points were drawn or read, every
            transform appends its own.
        seed: the seed of the draws, None where nothing was drawn.
        probes: further labelled sets that travel with the data, by name: the disk's evaluation
            grid, an independent kernel set, batches of easy and difficult training points.

    Example:
        >>> x, y = torch.eye(4), torch.tensor([1.0, -1.0, 1.0, -1.0])
        >>> ds = Dataset(x[:3], y[:3], x[3:], y[3:], name="corners", description=("unit vectors",))
        >>> ds
        Dataset 'corners': 3 train, 1 test, x of shape (4,), float32, no seed
          y train  -1: 1, +1: 2
          y test   -1: 1, +1: 0
          made by  1. unit vectors
    """

    x_train: Tensor
    y_train: Tensor
    x_test: Tensor
    y_test: Tensor
    name: str
    description: tuple[str, ...] = ()
    seed: int | None = None
    probes: Mapping[str, Points] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name):
            raise ValueError(f"name must be a non-empty string, got {self.name!r}")
        if not isinstance(self.description, tuple) or not all(
            isinstance(line, str) for line in self.description
        ):
            raise ValueError(f"description must be a tuple of lines, got {self.description!r}")
        if self.seed is not None:
            try:
                object.__setattr__(self, "seed", operator.index(self.seed))
            except TypeError:
                raise ValueError(f"seed must be an integer or None, got {self.seed!r}") from None
        if not isinstance(self.probes, Mapping):
            raise ValueError(f"probes must map names to Points(x, y), got {self.probes!r}")
        probes = dict(self.probes)
        for key, points in probes.items():
            if not isinstance(points, Points):
                raise ValueError(
                    f"probes[{key!r}] must be Points(x, y), got {type(points).__name__}"
                )
        object.__setattr__(self, "probes", MappingProxyType(probes))
        _check_points("train", self.train, self.x_train, self.y_train)
        if self.n_train == 0:
            raise ValueError("the training set is empty; a data set needs at least one point")
        _check_points("test", self.test, self.x_train, self.y_train)
        for key, points in probes.items():
            _check_points(f"probes[{key!r}]", points, self.x_train, self.y_train)

    @property
    def train(self) -> Points:
        """The training points."""
        return Points(self.x_train, self.y_train)

    @property
    def test(self) -> Points:
        """The test points."""
        return Points(self.x_test, self.y_test)

    @property
    def n_train(self) -> int:
        """Number of training points."""
        return len(self.x_train)

    @property
    def n_test(self) -> int:
        """Number of test points."""
        return len(self.x_test)

    @property
    def in_shape(self) -> tuple[int, ...]:
        """Shape of one input."""
        return tuple(self.x_train.shape[1:])

    @property
    def classes(self) -> tuple[int, ...]:
        """The class labels in increasing order, (-1, 1) for binary labels, () for regression."""
        labels = torch.cat([self.y_train, self.y_test])
        if not labels.is_floating_point():
            return tuple(torch.unique(labels).tolist())
        return (-1, 1) if bool((labels.abs() == 1).all()) else ()

    def to(
        self, dtype: torch.dtype | None = None, device: torch.device | str | None = None
    ) -> Dataset:
        """A copy in another precision or on another device.

        Real labels follow the dtype of x, class indices stay int64.

        Args:
            dtype: a floating point dtype; None keeps the present one.
            device: any torch device; None keeps the present one.

        Returns:
            The moved data set.

        Raises:
            ValueError: if dtype is not a floating point dtype, or this machine has no such device.
        """
        if dtype is not None:
            float_dtype(dtype)
        if device is not None:
            device = known_device(device)

        def move(points: Points) -> Points:
            label_dtype = dtype if points.y.is_floating_point() else None
            return Points(
                points.x.to(device=device, dtype=dtype),
                points.y.to(device=device, dtype=label_dtype),
            )

        return map_sets(self, lambda _, points: move(points))

    def pipe(self, *transforms: Callable[[Dataset], Dataset]) -> Dataset:
        """The data set after the transforms, the leftmost first.

        >>> from regimes import data
        >>> ds = data.digits(n_train=100, n_test=100).pipe(data.flatten(), data.parity())
        >>> ds.in_shape, ds.classes
        ((64,), (-1, 1))
        """
        changed = self
        for transform in transforms:
            if not callable(transform):
                raise ValueError(
                    f"pipe takes transforms such as parity() or pca(10), got {transform!r}"
                )
            changed = transform(changed)
            if not isinstance(changed, Dataset):
                raise ValueError(f"{transform!r} returned {type(changed).__name__}, not a Dataset")
        return changed

    def __repr__(self) -> str:
        dtype = str(self.x_train.dtype).removeprefix("torch.")
        seed = "no seed" if self.seed is None else f"seed {self.seed}"
        lines = [
            f"Dataset {self.name!r}: {self.n_train} train, {self.n_test} test, "
            f"x of shape {self.in_shape}, {dtype}, {seed}",
            f"  y train  {_label_summary(self.y_train, self.classes)}",
            f"  y test   {_label_summary(self.y_test, self.classes)}",
        ]
        if self.probes:
            sizes = ", ".join(f"{key}: {len(points.x)}" for key, points in self.probes.items())
            lines.append(f"  probes   {sizes}")
        for number, line in enumerate(self.description, start=1):
            lines.append(f"  {'made by' if number == 1 else '':7}  {number}. {line}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """What `print` says as a table, with the first two coordinates of some points."""
        dtype = str(self.x_train.dtype).removeprefix("torch.")
        rows = {
            "x": f"shape {self.in_shape}, {dtype}",
            "y train": _label_summary(self.y_train, self.classes),
            "y test": _label_summary(self.y_test, self.classes),
            "seed": self.seed,
            **{f"probe {name}": f"{len(points.x)} points" for name, points in self.probes.items()},
            "made by": "; ".join(self.description),
        }
        title = f"Dataset {self.name!r}: {self.n_train} train, {self.n_test} test"
        return block(title, facts(rows), self._picture())

    def _picture(self) -> str:
        """Points of a plane or more; images show nothing in their first two pixels."""
        if len(self.in_shape) != 1 or self.in_shape[0] < 2:
            return ""
        x, y = self.x_train[:_SHOWN, :2].tolist(), self.y_train[:_SHOWN]
        kinds = [self.classes.index(int(label)) for label in y] if self.classes else [0] * len(x)
        caption = f"coordinates 1 and 2 of {len(x)} training points"
        return cloud([(a, b) for a, b in x], kinds, caption)

    def __len__(self) -> int:
        """Number of training points: with `ds[i]` what `torch.utils.data.DataLoader` asks for."""
        return self.n_train

    def __getitem__(self, index: Any) -> tuple[Tensor, Tensor]:
        """Training inputs and labels at an index, a slice or a tensor of indices.

        >>> from torch.utils.data import DataLoader
        >>> from regimes import data
        >>> x, y = next(iter(DataLoader(data.stripe(n_train=100, n_test=1, d=3), batch_size=8)))
        >>> x.shape, y.shape
        (torch.Size([8, 3]), torch.Size([8]))
        """
        return self.x_train[index], self.y_train[index]

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping proxy can be neither copied nor sent to a worker process; a dict can.
        values = [getattr(self, field.name) for field in dataclasses.fields(self)]
        return Dataset, (*values[:-1], dict(self.probes))


def map_sets(dataset: Dataset, change: Callable[[str, Points], Points]) -> Dataset:
    """Apply `change(set name, points)` to the training set, the test set and every probe."""
    train = change("train", dataset.train)
    test = change("test", dataset.test)
    probes = {key: change(key, points) for key, points in dataset.probes.items()}
    return dataclasses.replace(
        dataset, x_train=train.x, y_train=train.y, x_test=test.x, y_test=test.y, probes=probes
    )


def map_x(dataset: Dataset, change: Callable[[Tensor], Tensor]) -> Dataset:
    """Apply `change` to the inputs of every set."""
    return map_sets(dataset, lambda _, points: Points(change(points.x), points.y))


def map_y(dataset: Dataset, change: Callable[[Tensor], Tensor]) -> Dataset:
    """Apply `change` to the labels of every set."""
    return map_sets(dataset, lambda _, points: Points(points.x, change(points.y)))


def float_dtype(dtype: object) -> torch.dtype:
    """`dtype` if it is a floating point dtype, else a ValueError."""
    if not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise ValueError(f"dtype must be torch.float32 or torch.float64, got {dtype!r}")
    return dtype


def _check_points(what: str, points: Points, x_like: Tensor, y_like: Tensor) -> None:
    """Raise a ValueError unless `points` are labelled points like those of the training set."""
    x, y = points
    if not (isinstance(x, Tensor) and isinstance(y, Tensor)):
        raise ValueError(
            f"{what}: x and y must be torch tensors, got {type(x).__name__} and {type(y).__name__};"
            " convert with torch.as_tensor"
        )
    if not x.is_floating_point() or x.ndim < 2:
        raise ValueError(
            f"{what}: x must be a floating point tensor of shape (n, *in_shape), got {x.dtype} of "
            f"shape {tuple(x.shape)}"
        )
    if y.ndim != 1 or len(y) != len(x):
        raise ValueError(
            f"{what}: y must have shape ({len(x)},), one label per point, got {tuple(y.shape)}"
        )
    if y.dtype not in (x.dtype, torch.int64):
        raise ValueError(
            f"{what}: y must be {x.dtype} like x (binary +1/-1, regression) or torch.int64 "
            f"(classes), got {y.dtype}"
        )
    if (x.dtype, x.device, x.shape[1:]) != (x_like.dtype, x_like.device, x_like.shape[1:]):
        raise ValueError(
            f"{what}: x is {x.dtype} on {x.device} with points of shape {tuple(x.shape[1:])}, but "
            f"the training set is {x_like.dtype} on {x_like.device} with shape "
            f"{tuple(x_like.shape[1:])}"
        )
    if (y.dtype, y.device) != (y_like.dtype, x_like.device):
        raise ValueError(
            f"{what}: y is {y.dtype} on {y.device}, but the training set has labels of "
            f"{y_like.dtype} on {x_like.device}"
        )
    for letter, values in (("x", x), ("y", y)):
        if values.is_floating_point() and values.numel():
            low, high = values.aminmax()
            if not bool(torch.isfinite(low) & torch.isfinite(high)):
                raise ValueError(f"{what}: {letter} holds NaN or infinite values")


def _label_summary(y: Tensor, classes: tuple[int, ...]) -> str:
    if len(y) == 0:
        return "none"
    if not classes:
        low, high = y.aminmax()
        return f"real, {low:.3g} to {high:.3g}, mean {y.mean():.3g}"
    sign = "+d" if y.is_floating_point() else "d"
    if len(classes) <= 12:
        return ", ".join(f"{c:{sign}}: {int((y == c).sum())}" for c in classes)
    counts = [int((y == c).sum()) for c in classes]
    return f"{len(classes)} classes, {min(counts)} to {max(counts)} each"
