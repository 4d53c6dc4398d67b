"""Factors of the learning rate."""

import numpy as np
import pytest

from regimes import flow


def test_held_then_lowered_by_two_decades():
    factor = flow.hold_then_lower(60_000)
    steps = (0, 30_000, 45_000, 60_000, 90_000)
    np.testing.assert_allclose([factor(step) for step in steps], [1, 1, 0.1, 0.01, 0.01])


def test_share_and_decades_can_be_chosen():
    factor = flow.hold_then_lower(100, held=0.0, decades=1.0)
    np.testing.assert_allclose([factor(step) for step in (0, 50, 100)], [1, 10**-0.5, 0.1])


def test_linear_decay_and_drops():
    assert [flow.linear_decay(4)(k) for k in range(6)] == [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    assert [flow.drops([2, 4], 0.5)(k) for k in range(6)] == [1, 1, 0.5, 0.5, 0.25, 0.25]
    assert flow.constant()(10**6) == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [({"steps": 0}, "steps"), ({"held": 1.0}, r"held must be a share of the steps in \[0, 1\)"),
     ({"held": -0.1}, "held"), ({"decades": 0.0}, "decades")],
)  # fmt: skip
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        flow.hold_then_lower(**({"steps": 100} | options))
