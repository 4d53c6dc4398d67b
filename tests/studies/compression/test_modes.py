"""What is stored and drawn of eigenvectors and a label."""

import numpy as np
import pytest
import torch
import xarray as xr

from regimes.measure import label_modes
from regimes.studies.compression import _mode_figures
from regimes.studies.compression._modes import MODES, PER_KERNEL, mode_arrays


@pytest.fixture(scope="module")
def labelled():
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(120, 12, generator=draw, dtype=torch.float64)
    y = torch.where(x[:, 0] > 0, 1.0, -1.0).double()
    return x * torch.linspace(3.0, 0.5, 12), y


@pytest.fixture(scope="module")
def shown(labelled):
    """Two members whose three kernels are the same."""
    x, y = labelled
    one = label_modes(x @ x.T, y, MODES)
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
