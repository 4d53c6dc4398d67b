import math

import pytest
import torch
from torch.utils.data import DataLoader

from regimes import data
from regimes.data._deform import SIGMA


def pictures(count=3, channels=2, n=9, dtype=torch.float64):
    source = torch.Generator().manual_seed(5)
    return torch.rand(count, channels, n, n, generator=source, dtype=dtype)


def slow_deform(image, dx, dy, kind):
    """One channel, pixel after pixel."""
    n = len(image)
    out = torch.empty_like(image)
    for row in range(n):
        for column in range(n):
            y, x = row - float(dy[row, column]), column - float(dx[row, column])
            if kind == "gaussian":
                pixel = torch.arange(n, dtype=image.dtype)
                weights = torch.exp(
                    -((pixel[:, None] - y) ** 2 + (pixel - x) ** 2) / (2 * SIGMA**2)
                )
                out[row, column] = (weights * image).sum() / weights.sum()
                continue
            y, x = min(max(y, 0), n - 1), min(max(x, 0), n - 1)
            if kind == "nearest":
                out[row, column] = image[round(y), round(x)]
                continue
            top, left = min(int(y), n - 2), min(int(x), n - 2)
            b, a = y - top, x - left
            out[row, column] = (
                (1 - b) * (1 - a) * image[top, left]
                + (1 - b) * a * image[top, left + 1]
                + b * (1 - a) * image[top + 1, left]
                + b * a * image[top + 1, left + 1]
            )
    return out


@pytest.mark.parametrize("kind", ["bilinear", "gaussian", "nearest"])
def test_it_is_the_formula_pixel_by_pixel(kind, dtype, tolerance):
    x = pictures(dtype=dtype)
    field = data.sample_field(9, 0.02, 3, 3, dtype=dtype)
    found = data.displace(x, field, kind)
    for image, out, dx, dy in zip(x, found, field.dx, field.dy, strict=True):
        for channel in range(2):
            expected = slow_deform(image[channel].double(), dx, dy, kind)
            assert torch.allclose(out[channel].double(), expected, atol=20 * tolerance)


def test_at_zero_temperature_the_image_comes_back_bit_for_bit(dtype):
    for n in (8, 28, 33):
        x = pictures(n=n, dtype=dtype)
        assert torch.equal(data.deform(x, 0.0, 3), x)
        assert torch.equal(data.deform(x, 0.0, 3, "nearest"), x)
        mixed = data.deform(x, torch.tensor([0.0, 1e-2, 0.0]), 3)
        assert torch.equal(mixed[::2], x[::2])
        assert not torch.equal(mixed[1], x[1])


def test_it_can_be_differentiated_in_the_image_and_in_the_field():
    x = pictures(1, 1, 6).requires_grad_()
    source = torch.Generator().manual_seed(0)
    C = data.sample_field(6, 2e-2, 2, generator=source, dtype=torch.float64).coefficients
    C = C.clone().requires_grad_()

    def moved(x, C, kind="bilinear"):
        return data.displace(x, data.Field(C, 6), kind)

    assert torch.autograd.gradcheck(moved, (x, C))
    assert torch.autograd.gradcheck(lambda x, C: moved(x, C, "gaussian"), (x, C))
    still = torch.zeros_like(C).requires_grad_()
    found = moved(x, still)
    assert torch.equal(found, x)
    found.square().sum().backward()
    assert still.grad.abs().max() > 0
    assert torch.allclose(x.grad, 2 * x.detach())


def test_channels_move_together_and_a_shared_field_moves_all():
    one = pictures(1, 1, 12)
    x = one.expand(4, 3, 12, 12).contiguous()
    found = data.deform(x, 1e-2, 3, shared=True)
    assert (found == found[:1, :1]).all()
    own = data.deform(x, 1e-2, 3)
    assert (own == own[:, :1]).all()
    assert not torch.equal(own[0], own[1])


def test_any_leading_axes_and_one_seed():
    x = pictures(4, 2, 8)
    flat = data.deform(x, 1e-2, 3, generator=torch.Generator().manual_seed(3))
    again = data.deform(x.view(2, 2, 2, 8, 8), 1e-2, 3, generator=torch.Generator().manual_seed(3))
    assert torch.equal(again.view_as(flat), flat)
    assert data.deform(x[0], 1e-2, 3).shape == (2, 8, 8)


def test_def_09_topology_survives_below_the_border_only():
    """A disc of radius 1/4: is it one piece, and is what is around it one piece?"""
    from scipy.ndimage import label

    n, draws = 128, 60
    pixel = torch.arange(n, dtype=torch.float64) / (n - 1)
    for c in (5, 10):
        border = data.bijective_temperature(c)
        whole = []
        for T in (border, 30 * border):
            field = data.sample_field(n, T, c, draws, dtype=torch.float64)
            u, v = pixel - field.dx / n, pixel[:, None] - field.dy / n
            inside = (u - 0.5) ** 2 + (v - 0.5) ** 2 < 1 / 16
            pieces = [(label(i.numpy())[1], label(~i.numpy())[1]) for i in inside]
            whole.append(sum(pair == (1, 1) for pair in pieces) / draws)
        assert whole[0] >= 0.98
        assert whole[1] < 0.5


def test_def_10_both_interpolations_share_a_pixel_alike():
    assert data.participation_ratio(SIGMA) == pytest.approx(4.0020, abs=5e-4)
    assert data.participation_ratio(1e-1) == pytest.approx(4, abs=1e-12)


@pytest.mark.parametrize(
    ("x", "options", "message"),
    [
        (torch.ones(2, 1, 8, 9), {}, "square images"),
        (torch.ones(8, 8), {}, "square images"),
        (torch.zeros(2, 1, 8, 8, dtype=torch.uint8), {}, "divide bytes by 255"),
        ([[1.0]], {}, "a tensor of images"),
        (torch.ones(2, 1, 8, 8), {"interpolation": "cubic"}, "unknown interpolation"),
        (torch.ones(2, 1, 8, 8), {"T": torch.ones(2), "shared": True}, "shared field"),
    ],
)
def test_bad_input(x, options, message):
    with pytest.raises(ValueError, match=message):
        data.deform(x, **{"T": 1e-3, "c": 3} | options)


def test_fields_must_fit_the_images():
    field = data.sample_field(8, 1e-3, 3, 2)
    with pytest.raises(ValueError, match=r"field.at\(9\)"):
        data.displace(pictures(2), field)
    with pytest.raises(ValueError, match="2 fields for 3 images"):
        data.displace(pictures(3, 1, 8), field)


class Pictures(torch.utils.data.Dataset):
    def __init__(self, augment):
        self.augment = augment

    def __len__(self):
        return 6

    def __getitem__(self, i):
        return self.augment(torch.linspace(0, 1, 64).view(1, 8, 8))


def test_workers_and_epochs_draw_from_streams_of_their_own():
    augment = data.DeformationAugment(1e-2, 3)
    augment(pictures(1, 1, 8))  # a stream that workers must not inherit
    source = torch.Generator().manual_seed(0)
    loader = DataLoader(Pictures(augment), batch_size=3, num_workers=2, generator=source)
    first, second = torch.cat([*loader]), torch.cat([*loader])
    everything = torch.cat([first, second]).flatten(1)
    assert len(everything.unique(dim=0)) == 12
    source.manual_seed(0)
    assert torch.equal(torch.cat([*loader]), first)


def test_it_steps_through_a_pipeline_on_images_and_batches():
    augment = torch.nn.Sequential(data.DeformationAugment(1e-2, 3), torch.nn.Identity())
    x = pictures(5, 3, 16, torch.float32)
    assert augment(x).shape == x.shape
    assert augment(x[0]).shape == x[0].shape
    assert not torch.equal(augment(x), augment(x))
    never = data.DeformationAugment(1e-2, 3, p=0.0)
    assert torch.equal(never(x), x)
    half = data.DeformationAugment(1e-2, 3, p=0.5)(x.repeat(40, 1, 1, 1))
    changed = (half != x.repeat(40, 1, 1, 1)).flatten(1).any(1).double().mean()
    assert 0.3 < changed < 0.7
    assert "T=0.01, c=3" in repr(augment)


def test_drawn_strengths_stay_within_the_borders():
    augment = data.DeformationAugment(c=(2, 4), seed=1)
    which = torch.tensor([0, 1, 2]).repeat(100)
    T = augment._temperatures(28, which, torch.linspace(0, 1, 300, dtype=torch.float64))
    for k, c in enumerate((2, 3, 4)):
        assert T[which == k].min() >= data.visible_temperature(c, 28) * (1 - 1e-12)
        assert T[which == k].max() <= data.bijective_temperature(c) * (1 + 1e-12)
    x = pictures(20, 1, 28)
    assert math.isfinite(float(augment(x).sum()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"T": -1.0}, "T must not be negative"),
        ({"c": 1}, "c above 1|cut-offs above 1"),
        ({"T": 1e-2, "c": (4, 2)}, "in order"),
        ({"T": 1e-2, "p": 2.0}, "probability"),
        ({"T": 1e-2, "mode_rule": "square"}, "unknown mode rule"),
    ],
)
def test_bad_settings(options, message):
    with pytest.raises(ValueError, match=message):
        data.DeformationAugment(**options)
