"""Eigenvectors of a Gram against a label."""

import numpy as np
import pytest
import torch
import xarray as xr

from regimes.measure import kernel_pca, mutual_information
from regimes.studies.compression import _mode_figures
from regimes.studies.compression._modes import MODES, PER_KERNEL, mode_arrays, modes, plane_error


@pytest.fixture(scope="module")
def labelled():
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(120, 12, generator=draw, dtype=torch.float64)
    y = torch.where(x[:, 0] > 0, 1.0, -1.0).double()
    return x * torch.linspace(3.0, 0.5, 12), y


def test_every_number_is_that_of_the_measures(labelled):
    x, y = labelled
    gram = x @ x.T + 4.0
    seen = modes(gram.float(), y, (0.01, 0.1))
    raw, centred = kernel_pca(gram), kernel_pca(gram, MODES, centered=True)
    np.testing.assert_allclose(seen.projection, raw.projections(y)[:MODES], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(seen.projection_centered, centred.projections(y), atol=1e-5)
    np.testing.assert_allclose(
        seen.information, [mutual_information(f, y).value for f in raw.functions[:MODES]], atol=1e-3
    )
    assert seen.share == pytest.approx(float(raw.values[0] / raw.values.sum()), rel=1e-5)
    assert seen.norm[0] > seen.norm[1] > 0
    assert seen.functions.shape == (2, 120)


def test_a_kernel_with_the_informative_direction_tells_the_label(labelled):
    x, y = labelled
    stretched = x * torch.tensor([10.0] + [1.0] * 11)
    knowing = modes(stretched @ stretched.T, y, (0.01,))
    blind = modes(x[:, 1:] @ x[:, 1:].T, y, (0.01,))
    assert knowing.information[0] > 0.4 > 0.2 > blind.information[0]
    assert knowing.projection[0] > 0.5 > blind.projection.max()
    assert knowing.plane_error < 0.1
    assert blind.plane_error > 0.3


def test_a_plane_without_the_label_is_guessing():
    rng = np.random.default_rng(0)
    y = np.tile([1.0, -1.0], 200)
    assert 0.4 < plane_error(rng.normal(size=(2, 400)), y) < 0.6


@pytest.fixture(scope="module")
def shown(labelled):
    """Two members whose three kernels are the same."""
    x, y = labelled
    one = modes(x @ x.T, y, (0.01,))
    arrays = mode_arrays([[one] * 3, [one] * 3])
    data = xr.Dataset({name: (array.dims, array.values) for name, array in arrays.items()})
    return data.assign(label=("sample", y)).assign_coords(kernel=list(_mode_figures.COLORS))


def test_every_member_and_kernel_is_stored(shown):
    assert {*PER_KERNEL, "plane"} <= set(shown)
    assert dict(shown.information.sizes) == {"seed": 2, "kernel": 3, "mode": MODES}
    assert dict(shown.share.sizes) == {"seed": 2, "kernel": 3}
    assert dict(shown.plane.sizes) == {"kernel": 3, "axis": 2, "sample": 120}


def test_figures_carry_every_kernel(shown):
    for made in (
        _mode_figures.information(shown, "c"),
        _mode_figures.projection(shown, "c"),
        _mode_figures.centred_projection(shown, "c"),
    ):
        assert [bar.name for bar in made.data] == list(_mode_figures.COLORS)
        assert made.layout.meta["caption"] == "c"
        np.testing.assert_array_equal(made.data[0].error_y.array, 0.0)
    dots = _mode_figures.planes(shown, "c", points=100)
    assert len(dots.data) == 6  # two labels in each of three panels
    assert sum(len(trace.x) for trace in dots.data) == 300


def test_a_caption_names_the_sizes(shown):
    figure = _mode_figures.captioned(
        lambda dataset: dataset.isel(p=0), _mode_figures.projection, "of {sizes} points"
    )
    assert figure(shown.expand_dims(p=[40])).layout.meta["caption"] == "of p = 40 points"
