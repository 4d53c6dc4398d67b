"""The rule of step control: what is accepted, what is forced, and how long the next step is."""

import numpy as np
import pytest

from regimes.flow import StepRule, Tolerances
from regimes.flow._control import Changes, judge

TOLERANCES = Tolerances(output=0.1, gradient=1e-4)


def judged(*, output=0.0, gradient=0.0, step=1.0, time=1e6, rule=None, finite=True):
    """Accepted, forced and the factor of the next step, for one member; changes in tolerances."""
    changes = Changes(
        np.array([0.1 * output]), np.array([1e-4 * gradient]), np.zeros(1), np.array([finite])
    )
    verdict = judge(changes, np.array([step]), np.array([time]), TOLERANCES, rule or StepRule())
    return bool(verdict.accepted[0]), bool(verdict.forced[0]), verdict.next_step[0] / step


@pytest.mark.parametrize("which", ["output", "gradient"])
def test_steps_grow_from_half_of_their_tolerance_downwards(which):
    assert judged(**{which: 0.45}) == (True, False, pytest.approx(1.1))
    assert judged(**{which: 0.55}) == (True, False, 1.0)
    assert judged(**{which: 0.95}) == (True, False, 1.0)
    assert judged(**{which: 1.05}) == (False, False, pytest.approx(0.1))
    assert judged(**{which: 0.1}, finite=False) == (False, False, pytest.approx(0.1))


def test_a_step_below_the_floor_is_forced_and_then_lengthened_a_hundred_times():
    rule = StepRule(floor=1e-3)
    assert judged(gradient=50.0, step=1e-4, time=1.0, rule=rule) == (True, True, 100.0)
    assert judged(gradient=50.0, step=1e-2, time=1.0, rule=rule)[:2] == (False, False)
    assert judged(gradient=50.0, step=1e-4, time=1.0)[:2] == (False, False)
    assert judged(gradient=0.1, step=1e-4, time=1.0, rule=rule)[:2] == (True, False)


def test_the_other_tolerances_hold_for_forced_steps_too():
    rule = StepRule(floor=1e-3)
    short = {"gradient": 50.0, "step": 1e-4, "time": 1.0, "rule": rule}
    assert judged(output=1.5, **short) == (False, False, pytest.approx(0.1))
    assert judged(output=0.5, finite=False, **short)[:2] == (False, False)


def test_scaled_tolerances_scale_errors():
    """The error of the flow goes as the root of `gradient`, which is a square."""
    half = Tolerances(output=0.1, gradient=1e-4, weight=0.05).scaled(0.5)
    assert (half.output, half.weight) == (0.05, 0.025)
    assert half.gradient == pytest.approx(2.5e-5)
    assert Tolerances(gradient=None).scaled(0.5).gradient is None
