import pytest
import torch

from regimes.data import ShiftAugment


def images(n, channels, side):
    source = torch.Generator().manual_seed(0)
    return torch.rand(n, channels, side, side, generator=source)


def test_every_image_is_a_shifted_copy_of_itself():
    x = images(200, 2, 6)
    moved = ShiftAugment(2)(x)
    seen = set()
    for image, found in zip(x, moved, strict=True):
        padded = torch.nn.functional.pad(image, (2, 2, 2, 2))
        fits = [
            (a, b)
            for a in range(5)
            for b in range(5)
            if torch.equal(padded[:, a : a + 6, b : b + 6], found)
        ]
        assert len(fits) == 1
        seen.add(fits[0])
    assert len(seen) == 25


def test_half_are_mirrored():
    x = images(400, 1, 4)
    moved = ShiftAugment(0, mirror=True)(x)
    turned = torch.tensor([torch.equal(a.flip(2), b) for a, b in zip(x, moved, strict=True)])
    same = torch.tensor([torch.equal(a, b) for a, b in zip(x, moved, strict=True)])
    assert bool((turned ^ same).all())
    assert 150 < int(turned.sum()) < 250


def test_streams_and_bad_input():
    x = images(9, 1, 8)
    one, two = ShiftAugment(3, seed=1), ShiftAugment(3, seed=1)
    assert torch.equal(one(x), two(x))
    kept = one.kept()
    later = one(x)
    two.restore(kept)
    assert torch.equal(later, two(x))
    with pytest.raises(ValueError, match="a tensor"):
        one(x[0])
    assert "3 pixels" in repr(one)
