import pytest
import torch

from regimes import data


def test_digits_are_the_ones_of_scikit_learn():
    from sklearn.datasets import load_digits

    ds = data.digits(n_train=1797, n_test=0, shuffle=False, dtype=torch.float64)
    raw = load_digits()
    for label in range(10):
        mine = ds.x_train[ds.y_train == label][:, 0]
        assert torch.equal(mine, torch.from_numpy(raw.images[raw.target == label]) / 16)


def test_digits_prefixes_are_balanced():
    ds = data.digits(n_train=105, n_test=100, seed=3)
    counts = torch.bincount(ds.y_train)
    assert counts.tolist() == [11] * 5 + [10] * 5
    assert torch.equal(data.digits(n_train=50, n_test=1, seed=3).x_train, ds.x_train[:50])


def test_digits_train_and_test_are_disjoint_and_seeded(dtype):
    ds = data.digits(dtype=dtype)
    assert (ds.n_train, ds.n_test, ds.in_shape) == (1000, 797, (1, 8, 8))
    assert (ds.x_train.min(), ds.x_train.max()) == (0, 1)
    both = torch.cat([ds.x_train, ds.x_test]).flatten(1)
    everything = data.digits(1797, 0, dtype=dtype).x_train.flatten(1)
    assert torch.equal(both.sort(dim=0).values, everything.sort(dim=0).values)
    assert torch.equal(data.digits(dtype=dtype).x_train, ds.x_train)
    assert not torch.equal(data.digits(seed=1, dtype=dtype).x_train, ds.x_train)


def test_digits_have_an_end():
    with pytest.raises(ValueError, match="do not fit into the 1797 points of digits"):
        data.digits(n_train=1500, n_test=500)
    with pytest.raises(ValueError, match="give n_train"):
        data.digits(n_train=None)
    with pytest.raises(ValueError, match="n_train must be"):
        data.digits(n_train=0)


@pytest.fixture
def small(write_set, bare):
    """A set of 30 and 20 images in MNIST's files."""
    return write_set("mnist")


def test_default_is_the_files_in_file_order(small, dtype):
    root, held = small
    ds = data.mnist(root=root, dtype=dtype)
    for split, x, y in (("train", ds.x_train, ds.y_train), ("test", ds.x_test, ds.y_test)):
        assert torch.equal(x, held[split][0].unsqueeze(1).to(dtype) / 255)
        assert torch.equal(y, held[split][1].long())
    assert ds.seed is None
    assert "in file order" in ds.description[0]


def test_a_part_is_random_nested_and_seeded(small):
    root, _ = small
    one, again, more, other = (
        data.mnist(n, root=root, seed=s) for n, s in ((10, 0), (10, 0), (20, 0), (10, 1))
    )
    assert torch.equal(one.x_train, again.x_train)
    assert torch.equal(one.x_train, more.x_train[:10])
    assert not torch.equal(one.x_train, other.x_train)
    assert not torch.equal(one.x_train, data.mnist(root=root).x_train[:10])
    assert torch.equal(one.x_test, data.mnist(root=root).x_test)
    assert one.description == (
        "mnist: 10 of 30 train images at random, the 20 test images in file order",
    )
    assert one.seed == 0
    # the test images do not depend on the number of training images
    a, b = data.mnist(5, 7, root=root), data.mnist(25, 7, root=root)
    assert torch.equal(a.x_test, b.x_test)


def test_shuffle_can_be_forced_or_forbidden(small):
    root, held = small
    first = data.mnist(10, 5, root=root, shuffle=False)
    assert torch.equal(first.y_train, held["train"][1][:10].long())
    mixed = data.mnist(root=root, shuffle=True)
    assert not torch.equal(mixed.x_train, data.mnist(root=root).x_train)
    assert sorted(mixed.y_train.tolist()) == sorted(held["train"][1].tolist())


def test_pool(small):
    root, _ = small
    ds = data.mnist(20, pool="all", root=root, seed=2)
    assert (ds.n_train, ds.n_test) == (20, 30)
    assert torch.bincount(ds.y_train).tolist() == [2] * 10
    assert data.mnist(n_test=10, pool="test", root=root).n_train == 10
    assert data.mnist(20, 10, pool="train", root=root).n_test == 10
    ordered = data.mnist(20, pool="train", root=root, shuffle=False)
    assert ordered.y_train.tolist() == list(range(10)) * 2
    with pytest.raises(
        ValueError, match="do not fit into the 20 points of the test files of mnist"
    ):
        data.mnist(15, 10, pool="test", root=root)


def test_no_test_files_are_needed_for_no_test_images(write_set, bare):
    root, _ = write_set("mnist", sizes=[("train", 30)])
    assert data.mnist(10, 0, root=root).x_test.shape == (0, 1, 28, 28)


def test_more_than_there_is(small):
    root, _ = small
    with pytest.raises(ValueError, match="n_train=31 is larger than the 30 images in the train"):
        data.mnist(31, root=root)
    with pytest.raises(ValueError, match="n_test=21 is larger than the 20"):
        data.mnist(5, 21, root=root)


@pytest.mark.parametrize(
    "options", [{"n_train": 0}, {"n_test": -1}, {"seed": "a"}, {"dtype": int}, {"pool": "al"}]
)
def test_bad_input(small, options):
    with pytest.raises(ValueError, match=r"must be|unknown pool"):
        data.mnist(root=small[0], **options)


@pytest.mark.data
@pytest.mark.parametrize(
    ("make", "options", "shape", "sizes"),
    [
        (data.mnist, {}, (1, 28, 28), (60000, 10000)),
        (data.fashion_mnist, {}, (1, 28, 28), (20000, 5000)),
        (data.kmnist, {"pool": "test", "n_train": 8000}, (1, 28, 28), (8000, 2000)),
        (data.cifar10, {}, (3, 32, 32), (8000, 2000)),
    ],
    ids=["mnist", "fashion_mnist", "kmnist", "cifar10"],
)
def test_real_files(data_root, make, options, shape, sizes):
    ds = make(root=data_root, **options)
    assert (ds.n_train, ds.n_test) == sizes
    assert ds.in_shape == shape
    assert ds.classes == tuple(range(10))
    assert (ds.x_train.min(), ds.x_train.max()) == (0, 1)
    assert ds.x_train.dtype == torch.float32


@pytest.mark.data
def test_mnist_is_the_right_way_round(data_root):
    ds = data.mnist(root=data_root)
    assert ds.y_train[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert abs(ds.x_train.mean().item() - 0.1307) < 1e-4
    assert abs(ds.x_train.std().item() - 0.3081) < 1e-4


@pytest.mark.data
def test_cifar_channels_are_red_green_blue(data_root):
    ds = data.cifar10(root=data_root)
    means = ds.x_train.mean((0, 2, 3))
    expected = torch.tensor([0.4914, 0.4822, 0.4465])
    assert (means - expected).abs().max() < 0.01
    # neighbouring pixels are alike: rows and columns are not mixed up
    for step in (ds.x_train.diff(dim=2), ds.x_train.diff(dim=3)):
        assert step.abs().mean() < 0.08


@pytest.mark.data
def test_parity_pipeline_of_regimes(data_root):
    # pooled, centred, on the sphere, 10 principal components, parity
    ds = data.mnist(5000, 5000, pool="test", root=data_root, dtype=torch.float64).pipe(
        data.center("all"), data.sphere(), data.pca(10, "all"), data.parity()
    )
    everything = torch.cat([ds.x_train, ds.x_test])
    assert ds.y_train.sum() == 0
    assert abs(everything.square().mean().item() - 1) < 1e-12
