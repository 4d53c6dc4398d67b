"""N* with its bracket, from scans that are known."""

import math

import numpy as np
import pytest

from regimes.measure import n_half, n_star, p_star

N = np.array([20.0, 40.0, 80.0, 160.0, 320.0])


def flags(*shares, seeds=4):
    """Of each size, the share of runs that are 1."""
    return np.array([[float(i < round(share * seeds)) for share in shares] for i in range(seeds)])


def test_n_star_lies_after_the_last_size_of_which_half_jam():
    found = n_star(N, flags(1, 1, 0.5, 0.25, 0))
    assert found.bracket == (80.0, 160.0)
    assert found.n == pytest.approx((80 * 160) ** 0.5)


def test_from_wide_to_narrow_the_first_that_jams_counts():
    assert n_star(N, flags(1, 0, 1, 0, 0)).bracket == (80.0, 160.0)


def test_runs_that_do_not_count_do_not_vote():
    jammed = flags(1, 1, 0.75, 0, 0)
    jammed[:3, 2] = np.nan  # the one that is left did not jam
    assert n_star(N, jammed).bracket == (40.0, 80.0)
    jammed[:, 2] = np.nan  # nothing is known about this size
    assert n_star(N, jammed).bracket == (40.0, 160.0)


@pytest.mark.parametrize("shares", [(0, 0, 0, 0, 0), (1, 1, 1, 1, 1), (0, 0, 0, 0, 1)])
def test_scans_that_do_not_hold_it(shares):
    assert n_star(N, flags(*shares)) is None
    assert n_half(N, 1 - flags(*shares)) is None
    assert n_star(N, np.full((2, 5), np.nan)) is None


def test_half_of_the_runs_fit_at_the_interpolated_size():
    found = n_half(N, flags(0, 0, 0.25, 0.75, 1))
    assert found.bracket == (80.0, 160.0)
    assert found.n == pytest.approx((80 * 160) ** 0.5)
    assert n_half(N, flags(0, 0, 0, 0.5, 1)).n == pytest.approx(160.0)
    assert 80 < n_half(N, flags(0, 0, 0.25, 1, 1)).n < (80 * 160) ** 0.5


def test_the_error_is_that_of_a_uniform_law_in_the_bracket():
    found = n_star(N, flags(1, 1, 0, 0, 0))
    draws = np.random.default_rng(0).uniform(math.log(40), math.log(80), 200_000)
    assert found.log_error == pytest.approx(draws.std(), rel=0.01)
    assert found.error == found.n * found.log_error


@pytest.mark.parametrize("finder", [n_star, n_half])
def test_bad_input(finder):
    with pytest.raises(ValueError, match="must increase"):
        finder(N[::-1], flags(1, 1, 0, 0, 0))
    with pytest.raises(ValueError, match=r"shape \(seeds, n\)"):
        finder(N, np.ones(5))


def test_p_star_lies_before_the_first_number_of_points_that_jams():
    assert p_star(N, flags(0, 0.25, 0.5, 0, 1)).bracket == (40.0, 80.0)
    for shares in ((0, 0, 0, 0, 0), (1, 1, 1, 1, 1)):
        assert p_star(N, flags(*shares)) is None
    with pytest.raises(ValueError, match="points must increase"):
        p_star(N[::-1], flags(0, 0, 0, 1, 1))
