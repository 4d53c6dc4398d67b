"""Eigenvectors of a Gram against a label."""

import numpy as np
import pytest
import torch

from regimes.measure import kernel_pca, mutual_information
from regimes.studies.compression._modes import (
    MODES,
    bars,
    mean_part,
    modes,
    plane_error,
    scatter,
    stacked,
    standard_error,
)


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


def test_stacking_and_errors(labelled):
    x, y = labelled
    one = modes(x @ x.T, y, (0.01,))
    assert stacked([[one, one], [one, one], [one, one]], "information").shape == (3, 2, MODES)
    assert stacked([[one]], "share").shape == (1, 1)
    np.testing.assert_allclose(standard_error([[1.0], [3.0]]), [1.0])
    np.testing.assert_array_equal(standard_error([[1.0, 2.0]]), [0.0, 0.0])
    part = mean_part("a", [1.0, 3.0], high=4.0)
    assert (part.measured, part.error, mean_part("a", [1.0]).error) == (2.0, 1.0, None)


def test_figures_carry_every_curve(labelled):
    x, y = labelled
    one = modes(x @ x.T, y, (0.01,))
    made = bars({"initial": one.projection[None], "final": one.projection[None]}, "w", "c", floor=0)
    assert [bar.name for bar in made.data] == ["initial", "final"]
    assert made.layout.meta["caption"] == "c"
    dots = scatter({"initial": one.functions, "final": one.functions}, y.numpy(), "c")
    assert len(dots.data) == 4  # two labels in each of two panels
    assert sum(len(trace.x) for trace in dots.data) == 240
