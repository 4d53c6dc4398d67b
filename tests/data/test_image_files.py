"""Images from files of one's own: what is read back, and what is refused."""

import numpy as np
import pytest
import torch
from scipy.io import savemat

from regimes import data

RNG = np.random.default_rng(0)
COLOUR = RNG.integers(256, size=(6, 8, 5, 3), dtype=np.uint8)
LABELS = np.array([0, 3, 2, 3, 1, 0])


def npz(folder, name="own.npz", **arrays):
    np.savez(folder / name, **arrays)
    return folder / name


def test_colours_come_first(tmp_path):
    path = npz(tmp_path, x=COLOUR, y=LABELS)
    made = data.image_files(path, path, name="clouds")
    assert made.in_shape == (3, 8, 5)
    assert torch.equal(made.x_train, torch.from_numpy(COLOUR.transpose(0, 3, 1, 2) / 255).float())
    assert made.y_test.tolist() == LABELS.tolist()
    assert made.seed is None


def test_grey_images_have_one_channel(tmp_path):
    path = npz(tmp_path, x=COLOUR[..., 0], y=LABELS)
    assert data.image_files(path, path).in_shape == (1, 8, 5)


def test_svhn_is_read_as_it_is_published(tmp_path):
    path = tmp_path / "train_32x32.mat"
    savemat(path, {"X": COLOUR.transpose(1, 2, 3, 0), "y": np.array([[10, 3, 2, 3, 1, 10]]).T})
    made = data.image_files(path, path, name="svhn")
    assert made.y_train.tolist() == LABELS.tolist()
    assert torch.equal(made.x_train, torch.from_numpy(COLOUR.transpose(0, 3, 1, 2) / 255).float())


def test_a_larger_part_holds_a_smaller_one(tmp_path):
    path = npz(tmp_path, x=COLOUR, y=LABELS)
    small, large = (data.image_files(path, path, n, 2, seed=4) for n in (3, 5))
    assert torch.equal(small.x_train, large.x_train[:3])
    assert small.seed == 4
    with pytest.raises(ValueError, match="n_train=7 is larger than the 6 images"):
        data.image_files(path, path, 7)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": COLOUR}, "holds x, but not y"),
        ({"x": COLOUR / 255, "y": LABELS}, "must be bytes"),
        ({"x": COLOUR[0, :, :, :2], "y": LABELS}, "whole numbers|channels"),
        ({"x": COLOUR[..., :2], "y": LABELS}, "have 2 channels"),
        ({"x": COLOUR, "y": LABELS[:5]}, "must be 6 whole numbers"),
        ({"x": COLOUR, "y": LABELS - 1}, "from 0 on"),
        ({"x": COLOUR, "y": np.array([None] * 6)}, "cannot be read"),
    ],
)
def test_other_contents_are_refused(tmp_path, arrays, message):
    path = npz(tmp_path, **arrays)
    with pytest.raises(ValueError, match=message):
        data.image_files(path, path)


def test_files_of_other_kinds_are_refused(tmp_path):
    good = npz(tmp_path, x=COLOUR, y=LABELS)
    with pytest.raises(FileNotFoundError, match="is not there"):
        data.image_files(good, tmp_path / "none.npz")
    for name in ("images.npy", "images.pt"):
        (tmp_path / name).write_bytes(b"x")
        with pytest.raises(ValueError, match=r"must end in \.npz or \.mat"):
            data.image_files(good, tmp_path / name)
    for name in ("broken.npz", "broken.mat"):
        (tmp_path / name).write_bytes(b"not what it says")
        with pytest.raises(ValueError, match="cannot be read"):
            data.image_files(good, tmp_path / name)
    other = npz(tmp_path, "other.npz", x=COLOUR[:, :4], y=LABELS)
    with pytest.raises(ValueError, match="both need one shape"):
        data.image_files(good, other)
