"""Sources of an error that was made of known ones."""

import math

import pytest
import torch

from regimes.measure import error_sources


def test_they_add_up_to_the_mean_square_error(draw):
    f, y = draw(5, 4, 30), draw(30, seed=1)
    found = error_sources(f, y)
    total = found.bias + found.members + found.sets
    assert total == pytest.approx(float((f - y).square().mean()))


def test_known_sources_are_found(draw):
    sets, members, n = 60, 20, 400
    y = draw(n)
    f = y + 0.5 + 0.3 * draw(sets, 1, n, seed=1) + 0.7 * draw(sets, members, n, seed=2)
    found = error_sources(f, y)
    assert found.bias == pytest.approx(0.25, rel=0.05)
    assert found.sets == pytest.approx(0.09, rel=0.05)
    assert found.members == pytest.approx(0.49, rel=0.05)


def test_what_one_draw_does_not_tell_is_not_a_number(draw):
    found = error_sources(draw(1, 3, 4), torch.zeros(4))
    assert math.isnan(found.sets)
    assert math.isfinite(found.members)
    assert math.isnan(error_sources(draw(3, 1, 4), torch.zeros(4)).members)


@pytest.mark.parametrize("shape", [(3, 4), (3, 2, 5)])
def test_bad_input(shape):
    with pytest.raises(ValueError, match=r"\(sets, members, n\)"):
        error_sources(torch.zeros(shape), torch.zeros(4))
