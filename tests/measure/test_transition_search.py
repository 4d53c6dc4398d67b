"""Searches for N*, against the scan of everything."""

import math

import numpy as np
import pytest

from regimes import measure
from regimes.measure import find_transition, fit_map, n_star, p_star, transition_spread

SIZES = list(range(10, 400, 7))


def steps(*places):
    """Replicas that jam below these sizes; NaN never counts."""
    return lambda size: [math.nan if math.isnan(at) else float(size < at) for at in places]


@pytest.mark.parametrize("at", [12, 60, 61, 200, 390])
def test_both_ways_find_the_bracket_of_the_full_scan(at):
    trial = steps(at, at + 3, at + 3)
    every = np.array([trial(size) for size in SIZES]).T
    bisected, scanned = (find_transition(trial, SIZES, method=m) for m in ("bisection", "scan"))
    assert bisected.transition == scanned.transition == n_star(SIZES, every)
    assert len(bisected.sizes) <= 3 + math.ceil(math.log2(len(SIZES)))
    assert scanned.sizes.tolist() == SIZES[SIZES.index(int(scanned.transition.bracket[0])) :]


def test_points_are_searched_from_the_other_side():
    trial = lambda p: [float(p > 200), float(p > 180), float(p > 200)]  # noqa: E731
    every = np.array([trial(size) for size in SIZES]).T
    for method in ("bisection", "scan"):
        found = find_transition(trial, SIZES, method=method, jams_below=False)
        assert found.transition == p_star(SIZES, every)
    assert found.sizes[-1] == found.transition.bracket[1]  # a scan ends at the first that jams


def test_sizes_without_a_verdict_widen_the_bracket():
    def trial(size):
        return [math.nan] * 2 if 90 < size < 130 else [float(size < 100)] * 2

    found = find_transition(trial, range(50, 200, 10))
    assert found.transition.bracket == (90.0, 130.0)
    assert np.isnan(found.jammed[:, (found.sizes > 90) & (found.sizes < 130)]).all()


@pytest.mark.parametrize("at", [0, 1000])
def test_without_a_transition_the_ends_are_enough(at):
    found = find_transition(steps(at), SIZES)
    assert found.transition is None
    assert len(found.sizes) <= 2


def test_what_a_trial_returns_is_looked_at():
    with pytest.raises(ValueError, match="must return 0, 1 or NaN"):
        find_transition(lambda size: [0.5], SIZES)
    with pytest.raises(ValueError, match="as many at every size"):
        find_transition(lambda size: [float(size < 99)] * size, SIZES)
    with pytest.raises(ValueError, match="increasing"):
        find_transition(steps(50), SIZES[::-1])


def test_the_spread_over_seeds_is_that_of_their_own_transitions():
    sizes = np.geomspace(10, 1000, 60)
    places = np.random.default_rng(1).lognormal(math.log(100), 0.3, 200)
    flags = (sizes < places[:, None]).astype(float)
    spread = transition_spread(n_star, sizes, flags)
    known = 1.2533 * 0.3 / math.sqrt(200)  # of a median
    bracket = math.log(sizes[1] / sizes[0]) / math.sqrt(12)
    assert spread.log_error == pytest.approx(math.hypot(known, bracket), rel=0.25)
    assert spread.found == 1
    nowhere = transition_spread(n_star, sizes, np.zeros_like(flags))
    assert math.isnan(nowhere.log_error)
    assert nowhere.found == 0


def test_the_map_counts_runs_and_follows_the_line():
    n, p = np.array([100.0, 200, 400, 800]), np.array([100.0, 300, 900, 9000])
    fitted = np.stack([(n[:, None] > p / 3).astype(float)] * 3)
    fitted[0, 0, 0] = np.nan
    found = fit_map(n, p, fitted)
    assert found.share[0, 0] == 1
    assert found.runs[0, 0] == 2
    assert np.isnan(found.star[[0, 3]]).all()
    assert found.bracket[2].tolist() == [200.0, 400.0]
    assert measure.n_half(n, fitted[:, :, 2]).n == found.star[2]
    with pytest.raises(ValueError, match="must increase"):
        fit_map(n, p[::-1], fitted)
