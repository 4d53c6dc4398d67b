import gzip
import pickle
import tarfile

import pytest
import torch

from regimes import data
from regimes.data import read_images


def same(points, held):
    x, y = held
    return torch.equal(points.x[:, 0], x) and torch.equal(points.y, y.long())


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("mnist", "mnist"),
        ("mnist", "MNIST/raw"),
        ("fashion_mnist", "fashion-mnist"),
        ("fashion_mnist", "fashion_mnist"),
        ("kmnist", "kmnist"),
    ],
)
def test_finds_raw_and_gzipped_files(write_set, bare, name, folder, compress):
    root, held = write_set(folder, compress=compress)
    for split in ("train", "test"):
        assert same(read_images(name, split, root), held[split])


def test_letters_stand_upright_and_count_from_zero(tmp_path, bare, idx):
    folder = tmp_path / "emnist"
    folder.mkdir()
    lying = torch.arange(26 * 784, dtype=torch.float32).remainder(251).to(torch.uint8)
    lying, labels = lying.view(26, 28, 28), torch.arange(1, 27, dtype=torch.uint8)
    (folder / "emnist-letters-train-images-idx3-ubyte").write_bytes(idx(lying))
    (folder / "emnist-letters-train-labels-idx1-ubyte").write_bytes(idx(labels))
    assert same(read_images("emnist", "train", tmp_path), (lying.mT, labels - 1))
    letters = data.emnist(n_train=20, n_test=6, pool="train", root=tmp_path)
    assert (letters.n_train, letters.n_test, letters.in_shape) == (20, 6, (1, 28, 28))
    (folder / "emnist-letters-train-labels-idx1-ubyte").write_bytes(idx(labels - 1))
    with pytest.raises(ValueError, match="start at 1"):
        read_images("emnist", "train", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"emnist-letters-test.*not downloaded"):
        read_images("emnist", "test", tmp_path)


def test_files_may_lie_in_the_given_folder_itself(write_set, bare):
    root, held = write_set("anywhere")
    assert same(read_images("kmnist", "test", root / "anywhere"), held["test"])


def test_environment_variable(write_set, bare, monkeypatch):
    root, held = write_set("mnist")
    monkeypatch.setenv("REGIMES_DATA", str(root))
    assert same(read_images("mnist", "train"), held["train"])
    # the argument comes first
    monkeypatch.setenv("REGIMES_DATA", str(root / "nowhere"))
    assert same(read_images("mnist", "train", root), held["train"])


def test_the_data_root_itself_is_no_place_for_sets_of_equal_file_names(
    write_set, bare, monkeypatch, no_network
):
    root, _ = write_set(".")
    monkeypatch.setenv("REGIMES_DATA", str(root))
    with pytest.raises(FileNotFoundError, match="not at hand"):
        read_images("fashion_mnist", "train")


@pytest.fixture
def no_network(monkeypatch):
    """Every mirror is an address where nothing listens."""
    import dataclasses

    from regimes.data import _sources

    for name, source in _sources.SOURCES.items():
        nowhere = dataclasses.replace(source, mirrors=("http://127.0.0.1:9/",))
        monkeypatch.setitem(_sources.SOURCES, name, nowhere)


def test_pointing_nowhere(bare, monkeypatch, tmp_path):
    nowhere = tmp_path / "nowhere"
    monkeypatch.setenv("REGIMES_DATA", str(nowhere))
    with pytest.raises(FileNotFoundError, match=f"REGIMES_DATA is '{nowhere}', which is not a"):
        data.mnist()
    with pytest.raises(FileNotFoundError, match=r"root='.*nowhere' is not a folder"):
        data.mnist(root=nowhere)
    assert not bare.exists()


def test_what_cannot_be_had_names_files_and_places(bare, no_network, tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError) as error:
        data.mnist()
    for part in ("REGIMES_DATA is not set", "train-images-idx3-ubyte", "<folder>/mnist/", "127.0"):
        assert part in str(error.value)
    monkeypatch.setenv("REGIMES_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=f"not in {tmp_path}/cifar10"):
        data.cifar10()
    assert not list(bare.rglob("*"))


def test_half_a_pair_is_not_completed_by_a_download(write_set, bare):
    root, _ = write_set("mnist")
    (root / "mnist" / "train-labels-idx1-ubyte").unlink()
    with pytest.raises(FileNotFoundError, match="has train-images-idx3-ubyte but not train-labels"):
        read_images("mnist", "train", root)


def test_missing_split_points_to_the_pool(write_set, bare, no_network):
    root, _ = write_set("kmnist", sizes=[("t10k", 40)])
    with pytest.raises(FileNotFoundError, match="pool='test': those files are there"):
        data.kmnist(root=root)
    assert data.kmnist(n_train=10, pool="test", root=root).n_test == 30


def test_truncated_file_is_named(write_set, bare):
    root, _ = write_set("mnist", compress=True)
    path = root / "mnist" / "train-images-idx3-ubyte.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes())[:-5]))
    with pytest.raises(ValueError, match=r"train-images-idx3-ubyte\.gz is truncated"):
        data.mnist(root=root)


def cifar_bytes(n, seed):
    source = torch.Generator().manual_seed(seed)
    x = torch.randint(256, (n, 3072), generator=source, dtype=torch.uint8)
    y = (torch.arange(n) % 10).to(torch.uint8)
    return x, torch.cat([y[:, None], x], dim=1).numpy().tobytes()


@pytest.mark.parametrize(
    "folder", ["cifar10", "cifar10/cifar-10-batches-bin", "cifar-10-batches-bin"]
)
def test_cifar_batches_in_order(tmp_path, bare, folder):
    place = tmp_path / folder
    place.mkdir(parents=True)
    parts = [cifar_bytes(10, seed) for seed in (1, 2, 3)]
    (place / "data_batch_1.bin").write_bytes(parts[0][1])
    (place / "data_batch_3.bin.gz").write_bytes(gzip.compress(parts[1][1]))
    (place / "test_batch.bin").write_bytes(parts[2][1])
    train = read_images("cifar10", "train", tmp_path)
    assert torch.equal(train.x.flatten(1), torch.cat([parts[0][0], parts[1][0]]))
    assert torch.equal(read_images("cifar10", "test", tmp_path).x.flatten(1), parts[2][0])


def test_cifar_archive_is_read_in_place(tmp_path, bare):
    x, content = cifar_bytes(10, 0)
    batch = tmp_path / "batch"
    batch.write_bytes(content)
    (tmp_path / "cifar10").mkdir()
    with tarfile.open(tmp_path / "cifar10" / "cifar-10-binary.tar.gz", "w:gz") as tar:
        for name in [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]:
            tar.add(batch, f"cifar-10-batches-bin/{name}")
    assert len(read_images("cifar10", "train", tmp_path).x) == 50
    assert torch.equal(read_images("cifar10", "test", tmp_path).x.flatten(1), x)
    assert [p.name for p in (tmp_path / "cifar10").iterdir()] == ["cifar-10-binary.tar.gz"]


def test_python_version_of_cifar_is_refused(tmp_path, bare):
    place = tmp_path / "cifar10" / "cifar-10-batches-py"
    place.mkdir(parents=True)
    (place / "data_batch_1").write_bytes(pickle.dumps({}))
    with pytest.raises(ValueError, match=r"pickle.*get the 'binary version'"):
        data.cifar10(root=tmp_path)


def test_unknown_names():
    with pytest.raises(ValueError, match="unknown image set 'svhn'; use one of: "):
        read_images("svhn", "train")
    with pytest.raises(ValueError, match="unknown split 'tset'; use one of: test, train"):
        read_images("mnist", "tset")
