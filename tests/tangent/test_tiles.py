"""Results on disk: complete, resumable, and never mistaken for another."""

import json

import numpy as np
import pytest
import torch

from regimes.tangent import TangentKernel, _tiles
from tests.tangent import zoo


def small_tiles(monkeypatch, size=2):
    monkeypatch.setattr(_tiles, "_tile_size", lambda *args, **kwargs: size)


@pytest.mark.parametrize("outputs", ["full", "trace", "diagonal", 0])
@pytest.mark.parametrize("name", ["mlp one output", "lenet"])
def test_file_holds_the_gram(name, outputs, tmp_path, monkeypatch):
    small_tiles(monkeypatch)
    network, x = zoo.build(name)
    kernel = TangentKernel(network)
    mapped = kernel(x, outputs=outputs, out=tmp_path / "gram.npy")
    assert isinstance(mapped, np.memmap)
    true = kernel(x, outputs=outputs)
    assert torch.allclose(torch.as_tensor(np.array(mapped)), true, atol=1e-12)
    again = np.load(tmp_path / "gram.npy")
    assert np.array_equal(again, mapped)
    cross = kernel(x, zoo.take(x, slice(0, 3)), outputs=outputs, out=tmp_path / "cross.npy")
    expected = kernel(x, zoo.take(x, slice(0, 3)), outputs=outputs)
    assert torch.allclose(torch.as_tensor(np.array(cross)), expected, atol=1e-12)


def test_killed_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    small_tiles(monkeypatch)
    network, x = zoo.build("mlp one output")
    kernel = TangentKernel(network)
    path = tmp_path / "gram.npy"
    compute, calls = _tiles.compute_tile, []

    def dying(*args):
        if len(calls) == 3:
            raise KeyboardInterrupt
        calls.append(args[-1])
        return compute(*args)

    monkeypatch.setattr(_tiles, "compute_tile", dying)
    with pytest.raises(KeyboardInterrupt):
        kernel(x, out=path)
    assert len(json.loads((tmp_path / "gram.npy.json").read_text())["done"]) == 3
    finished = list(calls)

    def counting(*args):
        calls.append(args[-1])
        return compute(*args)

    monkeypatch.setattr(_tiles, "compute_tile", counting)
    mapped = kernel(x, out=path)
    assert len(calls) == 6  # 3 blocks of 2 samples: 6 tiles on and above the diagonal, each once
    assert not set(calls[3:]) & set(finished)
    assert torch.allclose(torch.as_tensor(np.array(mapped)), kernel(x), atol=1e-12)
    monkeypatch.setattr(_tiles, "compute_tile", lambda *args: pytest.fail("nothing is left to do"))
    kernel(x, out=path)


def test_another_gram_at_the_same_path_is_refused(tmp_path):
    network, x = zoo.build("mlp one output")
    path = tmp_path / "gram.npy"
    TangentKernel(network)(x, out=path)
    with pytest.raises(ValueError, match="holds another Gram"):
        TangentKernel(network)(x + 1, out=path)
    with torch.no_grad():
        network[0].weight += 1
    with pytest.raises(ValueError, match="different fingerprint"):
        TangentKernel(network)(x, out=path)


def test_damaged_or_lone_files_are_refused(tmp_path):
    network, x = zoo.build("mlp one output")
    kernel = TangentKernel(network)
    path = tmp_path / "gram.npy"
    path.write_bytes(b"something else")
    with pytest.raises(FileExistsError, match="without its companion"):
        kernel(x, out=path)
    (tmp_path / "gram.npy.json").write_text("{")
    with pytest.raises(ValueError, match="is damaged"):
        kernel(x, out=path)


def test_tile_size_follows_the_budget():
    network, x = zoo.build("lenet")
    x = x.repeat(20, 1, 1, 1)
    generous = TangentKernel(network)._engine
    tight = TangentKernel(network, memory="700KiB")._engine
    chosen = _tiles.parse_outputs("full", 2)

    def size(engine):
        return _tiles._tile_size(engine, engine.structure(x), x, None, chosen, None)

    assert size(generous) == len(x)
    assert 1 <= size(tight) < len(x)
