"""Phases and the lines between them, on planes that are known."""

import math

import numpy as np
import pytest

from regimes.measure import Phase, jamming_line, phase_boundary, regime


@pytest.mark.parametrize(
    ("change", "phase"),
    [(1e3, Phase.FEATURE), (1.0, Phase.CROSSOVER), (0.2, Phase.CROSSOVER), (1e-3, Phase.LAZY)],
)
def test_the_kernels_change_decides(change, phase):
    found = regime([change, 1.1 * change, 0.9 * change])
    assert found.phase is phase
    assert found.distance == pytest.approx(math.log10(change), abs=0.01)
    assert found.confidence > 0.99


def test_units_of_the_distance():
    assert regime([1e-3] * 2, at=1e-1, width=2.0).distance == pytest.approx(-1.0)


def test_a_setting_at_the_edge_is_uncertain():
    found = regime([3.0, 40.0, 9.0, 11.0])
    assert 0.3 < found.confidence < 0.7


def test_one_seed_has_no_error():
    found = regime([5.0])
    assert math.isnan(found.error)
    assert math.isnan(found.confidence)


def test_unfitted_runs_do_not_count_until_they_are_most():
    assert regime([1e-3, 1e3, 2e-3], [1, 0, 1]).distance == pytest.approx(-2.85, abs=0.01)
    found = regime([1e-3, 1e3, 1e3], [1, 0, 0])
    assert (found.phase, found.fitted) == (Phase.JAMMED, pytest.approx(1 / 3))
    assert math.isnan(found.distance)


def test_more_unfitted_runs_make_jamming_more_certain():
    certain = [regime(np.ones(n), np.zeros(n)).confidence for n in (1, 3, 10)]
    assert certain == pytest.approx([0.75, 15 / 16, 1 - 2**-11])


def test_a_known_line_is_found_with_its_error():
    rng = np.random.default_rng(0)
    x, y = np.array([10.0, 30.0, 100.0]), np.geomspace(1e-2, 1e4, 13)
    spread = np.exp(0.3 * rng.normal(size=(40, 1, 1)))
    field = spread * x[:, None] / y  # field = 1 at y = x
    found = phase_boundary(x, y, field, 1.0)
    assert np.all(np.abs(np.log(found.y / x)) < 3 * 0.3 / 40**0.5)
    np.testing.assert_allclose(found.error / found.y, 0.3 / 40**0.5, rtol=0.4)
    assert found.found.tolist() == [1.0, 1.0, 1.0]
    tenth = phase_boundary(x, y, field, 0.1)
    np.testing.assert_allclose(tenth.y / found.y, 10)


def test_runs_that_do_not_count_leave_gaps():
    y = np.geomspace(0.1, 1e3, 5)
    field = np.stack([np.stack([2 / y] * 3)] * 2)
    field[:, 0] = np.nan  # jammed at every y
    field[0, 1, 1] = np.nan  # one seed
    found = phase_boundary([1.0, 2.0, 3.0], y, field, 1.0)
    assert math.isnan(found.y[0])
    np.testing.assert_allclose(found.y[1:], 2.0)


def test_a_level_that_is_not_met_is_not_found():
    y = np.array([1.0, 10.0])
    assert math.isnan(phase_boundary([1.0], y, (1 / y)[None, None], 10.0).y[0])


def test_jamming_line_and_mixed_interval():
    # widths 2, 3, 5, 8; seeds differ at 5
    one = np.array([0.0, 0.0, 1.0, 1.0])
    two = np.array([0.0, 0.0, 0.0, 1.0])
    flags = np.stack([one, one, two, two])[:, :, None]
    found = jamming_line([2, 3, 5, 8], [1.0], flags)
    assert (found.jammed[0], found.fits[0]) == (3, 5)
    assert found.width[0] == pytest.approx(15**0.5)
    assert found.mixed[0].tolist() == [5, 5]


@pytest.mark.parametrize("flags", [np.zeros((3, 4, 1)), np.ones((3, 4, 1))])
def test_a_grid_that_does_not_hold_the_line(flags):
    assert math.isnan(jamming_line([2, 3, 5, 8], [1.0], flags).width[0])


def test_a_width_that_has_not_run_is_no_neighbour():
    flags = np.array([0.0, 0.0, np.nan, 1.0])[None, :, None]
    assert math.isnan(jamming_line([2, 3, 5, 8], [1.0], flags).width[0])


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="change must be positive"):
        regime([0.0])
    with pytest.raises(ValueError, match="one shape"):
        regime([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="field must have shape"):
        phase_boundary([1.0], [1.0, 2.0], np.ones((2, 2, 2)), 1.0)
    with pytest.raises(ValueError, match="field must be positive"):
        phase_boundary([1.0], [1.0, 2.0], np.zeros((2, 1, 2)), 1.0)
    with pytest.raises(ValueError, match="fitted must have shape"):
        jamming_line([1.0, 2.0], [1.0], np.ones((2, 2, 2)))
