"""Images from files of one's own, and of sets that are not downloaded: SVHN, Tiny ImageNet."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regimes._check import shown
from regimes._random import generator
from regimes.data._dataset import Dataset, Points, float_dtype
from regimes.data._split import check_sizes

_CHANNELS = (1, 3)
_KEYS = {".npz": ("x", "y"), ".mat": ("X", "y")}


def image_files(
    train: str | Path,
    test: str | Path,
    n_train: int | None = None,
    n_test: int | None = None,
    seed: int = 0,
    *,
    name: str = "images",
    dtype: torch.dtype = torch.float32,
) -> Dataset:
    """Images in classes from two files, x of shape (n, channels, height, width) in [0, 1].

    Either the files of SVHN as they are published, `train_32x32.mat` and `test_32x32.mat`, where
    the digit 0 is called 10; or `.npz` files with bytes `x`, (n, height, width) or (n, height,
    width, channels), and whole numbers `y`, (n,), as `numpy.savez(file, x=x, y=y)` writes them from
    whatever reads your images: that is the way for Tiny ImageNet, ImageNet and sets of your own. No
    pickle is opened.

    Args:
        train: the file of the training images.
        test: that of the test images.
        n_train: so many of them at random, the first of a shuffle; None: all, in their order.
        n_test: likewise.
        seed: of the shuffles.
        name: what the set is called.
        dtype: precision.

    Raises:
        FileNotFoundError: if a file is not there.
        ValueError: if a file is of another kind, or does not hold such images and labels.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> pixels, classes = np.zeros((4, 8, 8, 3), dtype=np.uint8), np.array([0, 1, 0, 1])
        >>> np.savez(folder / "own.npz", x=pixels, y=classes)
        >>> image_files(folder / "own.npz", folder / "own.npz", n_train=2).in_shape
        (3, 8, 8)
    """
    check_sizes(n_train, n_test)
    float_dtype(dtype)
    parts = {"train": (Path(train), n_train), "test": (Path(test), n_test)}
    chosen, told, drawn = {}, [], False
    for split, (path, n) in parts.items():
        points = _read(path)
        size = len(points.x)
        if n is not None and n > size:
            raise ValueError(f"n_{split}={n} is larger than the {size} images in {path}")
        if n is None or n == size:
            told.append(f"the {size} images of {path.name}")
        else:
            order = torch.randperm(size, generator=generator(seed, f"{name}/{split}"))[:n]
            points, drawn = Points(points.x[order], points.y[order]), True
            told.append(f"{n} of {size} images of {path.name} at random")
        chosen[split] = points
    first, second = chosen["train"], chosen["test"]
    if first.x.shape[1:] != second.x.shape[1:]:
        raise ValueError(
            f"images of {tuple(first.x.shape[1:])} to train and {tuple(second.x.shape[1:])} to "
            "test: both need one shape (channels, height, width)"
        )
    return Dataset(
        first.x.to(dtype) / 255,
        first.y,
        second.x.to(dtype) / 255,
        second.y,
        name=name,
        description=(f"{name}: {', '.join(told)}",),
        seed=seed if drawn else None,
    )


def _read(path: Path) -> Points:
    """Images (n, channels, height, width), uint8, and labels (n,) from 0 on, int64."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there; give the file that holds the images")
    if path.suffix not in _KEYS:
        raise ValueError(f"{path} must end in {' or '.join(_KEYS)}: see `image_files`")
    keys = _KEYS[path.suffix]
    try:
        held = _npz(path) if path.suffix == ".npz" else _mat(path)
    except (ValueError, OSError, zipfile.BadZipFile, TypeError, NotImplementedError) as error:
        raise ValueError(f"{path} cannot be read ({error}); write it again") from error
    missing = [key for key in keys if key not in held]
    if missing:
        raise ValueError(
            f"{path} holds {', '.join(held) or 'nothing'}, but not {' and '.join(missing)}"
        )
    x, y = held[keys[0]], held[keys[1]]
    if path.suffix == ".mat":  # (height, width, channels, n), and the digit 0 is called 10
        x, y = np.moveaxis(x, -1, 0), y.reshape(-1) % 10
    return Points(_pixels(x, path), _classes(y, len(x), path))


def _npz(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as held:
        return {key: held[key] for key in held.files}


def _mat(path: Path) -> dict[str, Any]:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        held = loadmat(path)
    except MatReadError as error:
        raise ValueError(str(error)) from error
    return {key: value for key, value in held.items() if not key.startswith("__")}


def _pixels(x: Any, path: Path) -> Tensor:
    if x.dtype != np.uint8 or x.ndim not in (3, 4) or 0 in x.shape:
        raise ValueError(
            f"the images in {path} must be bytes (n, height, width) or (n, height, width, "
            f"channels), got {x.dtype} {x.shape}"
        )
    x = x[..., None] if x.ndim == 3 else x
    if x.shape[-1] not in _CHANNELS:
        raise ValueError(
            f"the images in {path} have {x.shape[-1]} channels, expected 1 or 3 on the last axis "
            f"of {x.shape}"
        )
    return torch.from_numpy(np.ascontiguousarray(np.moveaxis(x, -1, 1)))


def _classes(y: Any, count: int, path: Path) -> Tensor:
    if y.shape != (count,) or y.dtype.kind not in "iu" or int(y.min()) < 0:
        raise ValueError(
            f"the labels in {path} must be {count} whole numbers from 0 on, got {shown(y)}"
        )
    return torch.from_numpy(y.astype(np.int64))
