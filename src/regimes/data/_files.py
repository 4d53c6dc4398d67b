"""Finding the files of an image set: the user's folder, the data root, then the download cache."""

from __future__ import annotations

import os
from pathlib import Path

import torch

from regimes._check import choose
from regimes.data._dataset import Points
from regimes.data._download import fetch
from regimes.data._formats import (
    PICKLE_REFUSED,
    parse_cifar,
    read_bytes,
    read_idx_pair,
    read_member,
)
from regimes.data._sources import SOURCES, Source

DATA_VARIABLE = "REGIMES_DATA"
SPLITS = {"train": "train", "test": "test"}


def read_images(name: str, split: str, root: str | Path | None = None) -> Points:
    """The images of one split as they are in the files: uint8 pixels and int64 labels.

    The files (raw or gzipped) are looked for below `root`, else below the folder in the
    environment variable REGIMES_DATA; a set that is not there is downloaded from its canonical
    mirrors, checked by md5 sum, into the cache (REGIMES_CACHE, or the system's cache folder).
    Files of your own may be a part of a set: whatever the files hold is the split.

    Args:
        name: "mnist", "fashion_mnist", "kmnist", "emnist" (letters) or "cifar10".
        split: "train" or "test".
        root: a folder with `<root>/mnist/...` and so on, or with the files themselves.

    Returns:
        Images (n, channels, height, width), uint8, and labels (n,), int64, in file order.

    Raises:
        FileNotFoundError: if root or REGIMES_DATA is not a folder, if one of two files that
            belong together is missing, or if the set is neither there nor to be had.
        ValueError: for an unknown name or split, a damaged file, or a wrong sum.

    Example:
        >>> read_images("mnist", "tain")
        Traceback (most recent call last):
        ...
        ValueError: unknown split 'tain'; use one of: train, test
    """
    source = choose(name, SOURCES, "image set")
    choose(split, SPLITS, "split")
    folders = _folders(source, root)
    for folder in folders:
        if source.archive is None:
            pair = _idx_pair(source, split, folder)
            if pair:
                return _read_pair(source, *pair)
        else:
            found = _cifar_parts(source, split, folder)
            if found:
                return _join([parse_cifar(content, label) for label, content in found])
    if not source.mirrors:
        raise FileNotFoundError(_advice(source, split, folders))
    if source.archive is None:
        images, labels = (
            fetch(source, f"{file}.gz", _advice(source, split, folders))
            for file in source.files[split]
        )
        return _read_pair(source, images, labels)
    archive = fetch(source, source.archive, _advice(source, split, folders))
    return _read_archive(source, split, archive)


def _read_pair(source: Source, images: Path, labels: Path) -> Points:
    """Images upright, labels from 0 on."""
    found = read_idx_pair(images, labels, source.shape[1:], source.first_label + source.classes)
    least = int(found.y.min())
    if least < source.first_label:
        raise ValueError(
            f"{labels} holds the label {least}, but those of {source.name} start at "
            f"{source.first_label}: it is damaged or another version of the set"
        )
    x = found.x.mT.contiguous() if source.transposed else found.x
    return Points(x, found.y - source.first_label)


def _folders(source: Source, root: str | Path | None) -> list[Path]:
    """Where to look, in order."""
    if root is not None:
        base = Path(root).expanduser()
        if not base.is_dir():
            raise FileNotFoundError(
                f"root={str(root)!r} is not a folder; give one that holds "
                f"{source.folders[0]}/{source.files['train'][0]} and so on"
            )
        # The folder itself counts only when it is named for this call: MNIST and its
        # replacements use the same file names.
        return [base / folder for folder in source.folders] + [base]
    value = os.environ.get(DATA_VARIABLE)
    if not value:
        return []
    base = Path(value).expanduser()
    if not base.is_dir():
        raise FileNotFoundError(
            f"the environment variable {DATA_VARIABLE} is {value!r}, which is not a folder; set it "
            "to the folder of your data files, or unset it to download what is needed"
        )
    return [base / folder for folder in source.folders]


def _raw_or_gz(path: Path) -> Path | None:
    for candidate in (path, path.with_name(path.name + ".gz")):
        if candidate.is_file():
            return candidate
    return None


def _idx_pair(source: Source, split: str, folder: Path) -> tuple[Path, Path] | None:
    images, labels = (_raw_or_gz(folder / file) for file in source.files[split])
    if images and labels:
        return images, labels
    if images or labels:
        # A download for the other half might not match what the user has here.
        missing = source.files[split][0 if labels else 1]
        raise FileNotFoundError(
            f"{folder} has {(images or labels).name} but not {missing} (raw or .gz); "  # type: ignore[union-attr]
            "put the file that belongs to it there too, or move both away"
        )
    return None


def _cifar_parts(source: Source, split: str, folder: Path) -> list[tuple[str, bytes]]:
    """Label and content of every batch in the folder, or of the archive that lies there."""
    paths = [path for file in source.files[split] if (path := _raw_or_gz(folder / file))]
    if paths:
        return [(str(path), read_bytes(path)) for path in paths]
    archive = folder / str(source.archive)
    if archive.is_file():
        return _archive_parts(source, split, archive)
    for pickled in (folder, folder / "cifar-10-batches-py"):
        python_name = source.files[split][0].removesuffix(".bin")
        if (pickled / python_name).is_file():
            raise ValueError(f"{pickled / python_name} is {PICKLE_REFUSED}")
    return []


def _archive_parts(source: Source, split: str, archive: Path) -> list[tuple[str, bytes]]:
    return [
        (f"{archive}:{file}", read_member(archive, f"{source.members}/{file}"))
        for file in source.files[split]
    ]


def _read_archive(source: Source, split: str, archive: Path) -> Points:
    parts = _archive_parts(source, split, archive)
    return _join([parse_cifar(content, label) for label, content in parts])


def _join(parts: list[Points]) -> Points:
    return Points(torch.cat([part.x for part in parts]), torch.cat([part.y for part in parts]))


def _advice(source: Source, split: str, folders: list[Path]) -> str:
    """What the user can do when a set cannot be had."""
    looked = f"not in {', '.join(map(str, folders))}" if folders else f"{DATA_VARIABLE} is not set"
    files = " and ".join(source.files[split])
    other = "test" if split == "train" else "train"
    there = any(_raw_or_gz(folder / source.files[other][0]) for folder in folders)
    return (
        f"the {split} files of {source.name} are not at hand ({looked}). Put {files} (raw or .gz) "
        f"into <folder>/{source.folders[0]}/ and set {DATA_VARIABLE}=<folder> (or pass "
        "root=<folder>)"
        + (", or connect to the network" if source.mirrors else "; they are not downloaded")
        + (f"; or use pool={other!r}: those files are there" if there else "")
    )
