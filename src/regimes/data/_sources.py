"""Where the image sets come from: file names, folders, mirrors and md5 sums."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True)
class Source:
    """One image set: how its files are called, where to get them, how to check them.

    Attributes:
        name: the set's name.
        folders: where its files lie below a data root, the first being the one to recommend.
        shape: (channels, height, width) of an image.
        files: by split, the names of the files without ".gz": images and labels for idx sets,
            the batches for CIFAR-10.
        mirrors: addresses of folders to download from, tried in order.
        md5: sums of the files to download (.gz files, or one archive).
        archive: the one file to download when the set comes as an archive.
        members: folder of `files` inside the archive.
        classes: number of classes.
        first_label: what the files call the first class; labels are counted from 0 here.
        transposed: whether the files hold images with rows and columns exchanged.
    """

    name: str
    folders: tuple[str, ...]
    shape: tuple[int, int, int]
    files: Mapping[str, tuple[str, ...]]
    mirrors: tuple[str, ...]
    md5: Mapping[str, str]
    archive: str | None = None
    members: str = ""
    classes: int = 10
    first_label: int = 0
    transposed: bool = False


_IDX_FILES = {
    "train": ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    "test": ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
}


def _idx(name: str, folders: tuple[str, ...], mirrors: tuple[str, ...], *md5: str) -> Source:
    compressed = [f"{file}.gz" for files in _IDX_FILES.values() for file in files]
    sums = dict(zip(compressed, md5, strict=True))
    return Source(name, folders, (1, 28, 28), _IDX_FILES, mirrors, sums)


SOURCES: dict[str, Source] = {
    "mnist": _idx(
        "mnist",
        ("mnist", "MNIST/raw"),
        (
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            "https://storage.googleapis.com/cvdf-datasets/mnist/",
        ),
        "f68b3c2dcbeaaa9fbdd348bbdeb94873",
        "d53e105ee54ea40749a09fcbcd1e9432",
        "9fb629c4189551a2d022fa330f9573f3",
        "ec29112dd5afa0611ce80d1b7f02629c",
    ),
    "fashion_mnist": _idx(
        "fashion_mnist",
        ("fashion-mnist", "fashion_mnist", "FashionMNIST/raw"),
        (
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
            "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
        ),
        "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        "25c81989df183df01b3e8a0aad5dffbe",
        "bef4ecab320f06d8554ea6380940ec79",
        "bb300cfdad3c16e7a12a480ee83cd310",
    ),
    "kmnist": _idx(
        "kmnist",
        ("kmnist", "KMNIST/raw"),
        (
            "https://codh.rois.ac.jp/kmnist/dataset/kmnist/",
            "http://codh.rois.ac.jp/kmnist/dataset/kmnist/",
        ),
        "bdb82020997e1d708af4cf47b453dcf7",
        "e144d726b3acfaa3e44228e80efcd344",
        "5c965bf0a639b31b8f53240b1b52f4d7",
        "7320c461ea6c1c855c0b718fb2a4b134",
    ),
    # Its only download is an archive of half a gigabyte with six versions: the files are put there
    # by hand.
    "emnist": Source(
        "emnist",
        ("emnist", "EMNIST/raw"),
        (1, 28, 28),
        {
            split: (
                f"emnist-letters-{split}-images-idx3-ubyte",
                f"emnist-letters-{split}-labels-idx1-ubyte",
            )
            for split in ("train", "test")
        },
        (),
        {},
        classes=26,
        first_label=1,
        transposed=True,
    ),
    "cifar10": Source(
        "cifar10",
        ("cifar10", "cifar10/cifar-10-batches-bin", "cifar-10-batches-bin"),
        (3, 32, 32),
        {
            "train": tuple(f"data_batch_{i}.bin" for i in range(1, 6)),
            "test": ("test_batch.bin",),
        },
        ("https://www.cs.toronto.edu/~kriz/",),
        {"cifar-10-binary.tar.gz": "c32a1d4ab5d03f1284b67883e8d87530"},
        archive="cifar-10-binary.tar.gz",
        members="cifar-10-batches-bin",
    ),
}
