"""Curves of members read at other times."""

import numpy as np
import pytest
import torch

from regimes.measure import at_times


def test_members_may_have_records_and_times_of_their_own():
    times = [torch.tensor([0.0, 1.0]), torch.tensor([0.0, 2.0, 4.0])]
    values = [torch.tensor([0.0, 10.0]), torch.tensor([0.0, 1.0, 5.0])]
    own = at_times(times, values, [[0.1, 0.2], [1.0, 3.0]])
    np.testing.assert_allclose(own, [[1.0, 2.0], [0.5, 3.0]])
    shared = at_times(times, values, [1.0, 9.0])
    np.testing.assert_allclose(shared, [[10.0, 10.0], [0.5, 5.0]])


def test_a_straight_line_is_read_exactly(draw):
    times = draw(3, 50).abs().cumsum(1)
    when = np.linspace(float(times[:, 0].max()), float(times[:, -1].min()), 7)
    np.testing.assert_allclose(at_times(times, 2 * times + 1, when), [2 * when + 1] * 3)


def test_every_member_needs_its_times():
    curve = torch.arange(3.0)[None]
    with pytest.raises(ValueError, match="a row for each of 1 members"):
        at_times(curve, curve, [[1.0], [2.0]])
    with pytest.raises(ValueError, match="zip"):
        at_times(curve, curve.expand(2, 3), [1.0])
