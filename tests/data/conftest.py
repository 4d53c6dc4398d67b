"""Small files in the original formats, and a world without the user's data folder or cache."""

import gzip

import pytest
import torch


def idx_bytes(values):
    """A uint8 tensor as the content of an idx file."""
    sizes = b"".join(size.to_bytes(4, "big") for size in values.shape)
    return bytes([0, 0, 8, values.ndim]) + sizes + values.contiguous().numpy().tobytes()


def images_and_labels(n, seed=0, side=28):
    source = torch.Generator().manual_seed(seed)
    x = torch.randint(256, (n, side, side), generator=source, dtype=torch.uint8)
    return x, (torch.arange(n) % 10).to(torch.uint8)


@pytest.fixture
def idx():
    return idx_bytes


@pytest.fixture
def write_set(tmp_path):
    """Write a small MNIST-like set below tmp_path and return (folder, {split: (x, y)})."""

    def write(folder="mnist", sizes=(("train", 30), ("t10k", 20)), compress=False):
        place = tmp_path / folder
        place.mkdir(parents=True, exist_ok=True)
        held = {}
        for number, (prefix, n) in enumerate(sizes):
            x, y = images_and_labels(n, seed=number)
            for kind, values in (("images-idx3", x), ("labels-idx1", y)):
                content = idx_bytes(values)
                name = f"{prefix}-{kind}-ubyte"
                if compress:
                    (place / f"{name}.gz").write_bytes(gzip.compress(content))
                else:
                    (place / name).write_bytes(content)
            held["test" if prefix == "t10k" else "train"] = (x, y)
        return tmp_path, held

    return write


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """No data root, and a cache of its own; returns the cache folder."""
    monkeypatch.delenv("REGIMES_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    cache = tmp_path / "cache"
    monkeypatch.setenv("REGIMES_CACHE", str(cache))
    return cache
