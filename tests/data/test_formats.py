import gzip
import hashlib
import io
import pickle
import tarfile

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes.data._formats import (
    parse_cifar,
    parse_idx,
    read_bytes,
    read_idx_pair,
    read_member,
)


@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 4), st.integers(0, 99))
def test_idx_round_trip(n, h, w, seed):
    source = torch.Generator().manual_seed(seed)
    x = torch.randint(256, (n, h, w), generator=source, dtype=torch.uint8)
    sizes = b"".join(size.to_bytes(4, "big") for size in (n, h, w))
    assert torch.equal(parse_idx(b"\0\0\x08\x03" + sizes + x.numpy().tobytes(), "x", 3), x)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: b"", "magic number must be 0x00000803, found 0 bytes"),
        (lambda c: c[:3], "found 3 bytes"),
        (lambda c: b"\x00\x00\x08\x01" + c[4:], "not an idx file of images.*0x00000801"),
        (lambda c: b"\x00\x00\x0d\x03" + c[4:], "0x00000d03"),
        (lambda c: b"PK\x03\x04" + c[4:], "0x504b0304"),
        (lambda c: c[:10], "header is incomplete"),
        (lambda c: c[:-1], "truncated: its header announces 2 x 3 x 4 = 24 bytes, it holds 23"),
        (lambda c: c + b"\0", "damaged: .* it holds 25"),
        (lambda c: c[:4] + b"\xff" * 12 + c[16:], "truncated"),
        (lambda c: c[:4] + b"\0" * 4 + c[8:16], "empty"),
    ],
)
def test_damaged_idx(idx, change, message):
    content = idx(torch.arange(24, dtype=torch.uint8).reshape(2, 3, 4))
    with pytest.raises(ValueError, match=message) as error:
        parse_idx(change(content), "the/file", 3)
    assert "the/file" in str(error.value)


def test_gzip_is_told_by_its_content(tmp_path):
    packed, plain = tmp_path / "packed", tmp_path / "plain.gz"
    packed.write_bytes(gzip.compress(b"abc"))
    plain.write_bytes(b"abc")
    assert read_bytes(packed) == read_bytes(plain) == b"abc"


@pytest.mark.parametrize("damage", ["cut", "flip", "checksum"])
def test_damaged_gzip(tmp_path, damage):
    content = bytearray(gzip.compress(bytes(range(256)) * 20))
    if damage == "cut":
        content = content[:-20]
    else:
        content[len(content) // 2 if damage == "flip" else -6] ^= 0xFF
    path = tmp_path / "file.gz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"file\.gz is a damaged gzip file .*fetch it again"):
        read_bytes(path)


@pytest.fixture
def pair(tmp_path, idx):
    def write(x, y):
        images, labels = tmp_path / "images", tmp_path / "labels"
        images.write_bytes(idx(x))
        labels.write_bytes(idx(y))
        return read_idx_pair(images, labels, (28, 28), 10)

    return write


def test_pairs_are_checked_against_each_other(pair):
    x = torch.zeros(3, 28, 28, dtype=torch.uint8)
    points = pair(x, torch.tensor([0, 5, 9], dtype=torch.uint8))
    assert points.x.shape == (3, 1, 28, 28)
    assert points.x.dtype == torch.uint8
    assert points.y.tolist() == [0, 5, 9]
    assert points.y.dtype == torch.int64
    with pytest.raises(ValueError, match=r"holds 3 images but .* holds 2 labels"):
        pair(x, torch.tensor([0, 5], dtype=torch.uint8))
    with pytest.raises(ValueError, match="holds the label 10"):
        pair(x, torch.tensor([0, 5, 10], dtype=torch.uint8))
    with pytest.raises(ValueError, match="27 x 28 pixels, expected 28 x 28"):
        pair(x[:, 1:], torch.tensor([0, 5, 9], dtype=torch.uint8))


def records(n, seed=0):
    source = torch.Generator().manual_seed(seed)
    x = torch.randint(256, (n, 3, 32, 32), generator=source, dtype=torch.uint8)
    y = (torch.arange(n) % 10).to(torch.uint8)
    rows = torch.cat([y[:, None], x.flatten(1)], dim=1)
    return x, y, rows.numpy().tobytes()


def test_cifar_round_trip():
    x, y, content = records(7)
    points = parse_cifar(content, "batch")
    assert torch.equal(points.x, x)
    assert torch.equal(points.y, y.long())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds 0 bytes"),
        (records(2)[2][:-1], "holds 6145 bytes, which is not a whole number of CIFAR-10"),
        (b"\x0b" + bytes(3072), "holds the label 11"),
        (pickle.dumps({"data": 1}, protocol=4), "the python version of CIFAR-10.*binary version"),
    ],
)
def test_damaged_cifar(content, message):
    with pytest.raises(ValueError, match=f"batch {message}|batch is {message}"):
        parse_cifar(content, "batch")


def archive(path, members):
    with tarfile.open(path, "w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def test_member_of_an_archive(tmp_path):
    path = archive(tmp_path / "a.tar.gz", {"in/file": b"content", "../out": b"no"})
    assert read_member(path, "in/file") == b"content"
    with pytest.raises(ValueError, match="has no file in/other"):
        read_member(path, "in/other")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.tar.gz"]  # nothing extracted


def test_damaged_archive(tmp_path):
    path = archive(tmp_path / "a.tar.gz", {"file": bytes(range(256)) * 400})
    path.write_bytes(path.read_bytes()[:-60])
    with pytest.raises(ValueError, match="damaged archive"):
        read_member(path, "file")
    path.write_bytes(b"not an archive")
    with pytest.raises(ValueError, match="damaged archive"):
        read_member(path, "file")
    with tarfile.open(path, "w") as tar:
        folder = tarfile.TarInfo("file")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
    with pytest.raises(ValueError, match="not a plain file"):
        read_member(path, "file")


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "md5"),
    [
        ("train-images-idx3-ubyte", "6bbc9ace898e44ae57da46a324031adb"),
        ("train-labels-idx1-ubyte", "a25bea736e30d166cdddb491f175f624"),
        ("t10k-images-idx3-ubyte", "2646ac647ad5339dbf082846283269ea"),
        ("t10k-labels-idx1-ubyte", "27ae3e4e09519cfbb04c329615203637"),
    ],
)
def test_mnist_files_are_the_original_ones(data_root, file, md5):
    path = data_root / "mnist" / file
    path = path if path.is_file() else path.with_name(f"{file}.gz")
    assert hashlib.md5(read_bytes(path)).hexdigest() == md5
