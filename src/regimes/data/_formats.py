"""Readers of the original file formats: idx, CIFAR binary records, raw or gzipped. No pickle."""

from __future__ import annotations

import gzip
import math
import tarfile
import zlib
from pathlib import Path

import torch
from torch import Tensor

from regimes.data._dataset import Points

_GZIP = b"\x1f\x8b"
_PICKLE = b"\x80"
_IDX_BYTES = 0x08  # the idx code of unsigned bytes
_AGAIN = "delete it and fetch it again"


def read_bytes(path: Path) -> bytes:
    """The content of a file, decompressed if it is gzipped (told by its first two bytes)."""
    content = path.read_bytes()
    if not content.startswith(_GZIP):
        return content
    try:
        return gzip.decompress(content)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} is a damaged gzip file ({error}); {_AGAIN}") from error


def read_member(archive: Path, member: str) -> bytes:
    """One file of a tar archive, read without extracting anything to disk."""
    try:
        with tarfile.open(archive) as tar:
            content = tar.extractfile(tar.getmember(member))
            if content is None:
                raise ValueError(f"{member} in {archive} is not a plain file; {_AGAIN}")
            return content.read()
    except KeyError:
        raise ValueError(f"{archive} has no file {member}; {_AGAIN}") from None
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{archive} is a damaged archive ({error}); {_AGAIN}") from error


def parse_idx(content: bytes, source: str, ndim: int) -> Tensor:
    """An idx file of unsigned bytes as a uint8 tensor.

    The format: two zero bytes, the type code 0x08, the number of dimensions, each size as a
    big-endian 32-bit integer, then the bytes in row-major order.

    Args:
        content: the decompressed file.
        source: what to call it in errors.
        ndim: the number of dimensions it must have, 1 for labels and 3 for images.

    Returns:
        The tensor.

    Raises:
        ValueError: if magic number, sizes or length are wrong.

    Example:
        >>> parse_idx(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 2, 1]), "labels", ndim=1)
        tensor([7, 2, 1], dtype=torch.uint8)
    """
    kind = {1: "labels", 3: "images"}.get(ndim, "data")
    header = 4 + 4 * ndim
    expected = _IDX_BYTES << 8 | ndim
    magic = int.from_bytes(content[:4], "big")
    if len(content) < 4 or magic != expected:
        found = f"0x{magic:08x}" if len(content) >= 4 else f"{len(content)} bytes in all"
        raise ValueError(
            f"{source} is not an idx file of {kind}: its magic number must be 0x{expected:08x}, "
            f"found {found}; check that it is the right file, or {_AGAIN}"
        )
    if len(content) < header:
        raise ValueError(f"{source} is truncated: its idx header is incomplete; {_AGAIN}")
    sizes = [int.from_bytes(content[i : i + 4], "big") for i in range(4, header, 4)]
    announced = math.prod(sizes)
    if announced == 0:
        raise ValueError(f"{source} is empty: its header announces sizes {sizes}; {_AGAIN}")
    held = len(content) - header
    if held != announced:
        state = "truncated" if held < announced else "damaged"
        raise ValueError(
            f"{source} is {state}: its header announces {' x '.join(map(str, sizes))} = "
            f"{announced} bytes, it holds {held}; {_AGAIN}"
        )
    return torch.frombuffer(bytearray(content), dtype=torch.uint8, offset=header).reshape(sizes)


def read_idx_pair(images: Path, labels: Path, shape: tuple[int, int], classes: int) -> Points:
    """Images (n, 1, h, w) as uint8 and labels (n,) as int64 from two idx files."""
    x = parse_idx(read_bytes(images), str(images), ndim=3)
    y = parse_idx(read_bytes(labels), str(labels), ndim=1)
    if tuple(x.shape[1:]) != shape:
        raise ValueError(
            f"{images} holds images of {x.shape[1]} x {x.shape[2]} pixels, expected "
            f"{shape[0]} x {shape[1]}; check that it is the right file"
        )
    if len(x) != len(y):
        raise ValueError(
            f"{images} holds {len(x)} images but {labels} holds {len(y)} labels; the two files do "
            "not belong together, fetch both again"
        )
    return Points(x.unsqueeze(1), _class_indices(y, str(labels), classes))


def parse_cifar(content: bytes, source: str, classes: int = 10) -> Points:
    """CIFAR-10 'binary version' records as images (n, 3, 32, 32), uint8, and labels, int64.

    Each record is one label byte, then 3 x 1024 bytes: the red, green and blue planes.

    Args:
        content: the decompressed file.
        source: what to call it in errors.
        classes: labels must lie in 0..classes-1.

    Returns:
        Images and labels.

    Raises:
        ValueError: if the file is the python (pickle) version, truncated, or a label is out of
            range.
    """
    if content.startswith(_PICKLE):
        raise ValueError(f"{source} is {PICKLE_REFUSED}")
    record = 1 + 3 * 32 * 32
    if len(content) == 0 or len(content) % record:
        raise ValueError(
            f"{source} holds {len(content)} bytes, which is not a whole number of CIFAR-10 records "
            f"of {record} bytes: it is truncated or not the binary version; {_AGAIN}"
        )
    records = torch.frombuffer(bytearray(content), dtype=torch.uint8).reshape(-1, record)
    y = _class_indices(records[:, 0], source, classes)
    return Points(records[:, 1:].reshape(-1, 3, 32, 32), y)


PICKLE_REFUSED = (
    "the python version of CIFAR-10, which is a pickle: opening one runs whatever code it holds, "
    "so it is not read; get the 'binary version' (cifar-10-binary.tar.gz) from "
    "https://www.cs.toronto.edu/~kriz/cifar.html"
)


def _class_indices(labels: Tensor, source: str, classes: int) -> Tensor:
    largest = int(labels.max())
    if largest >= classes:
        raise ValueError(
            f"{source} holds the label {largest}, but there are {classes} classes (0 to "
            f"{classes - 1}): it is damaged or not the right file; {_AGAIN}"
        )
    return labels.to(torch.int64)
