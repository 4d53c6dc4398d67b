import math

import pytest
import torch

from regimes.measure import effective_dimension


def cube(n, d, seed=0):
    return torch.rand(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("d", [2, 5])
def test_comp_46_uniform_points_in_a_cube(d):
    """COMP-46: 2000 uniform points in D=2, 5 within 8 %."""
    found = effective_dimension(cube(2000, d))
    assert found.value == pytest.approx(d, rel=0.08)
    assert found.points == 2000
    assert found.error == pytest.approx(found.value / math.sqrt(2000))


def test_it_is_the_estimator_of_the_definition(dtype):
    x = cube(40, 3).to(dtype)
    total = 0.0
    for i in range(40):
        near = sorted(float((x[i].double() - x[j].double()).norm()) for j in range(40) if j != i)
        total += math.log(near[1] / near[0])
    assert effective_dimension(x).value == pytest.approx(40 / total, rel=1e-9)


def test_gram_and_points_agree_on_a_curved_surface():
    angle = 2 * math.pi * cube(500, 1)[:, 0]
    height = cube(500, 1, seed=1)[:, 0]
    x = torch.stack([angle.cos(), angle.sin(), height], dim=1)
    by_points, by_gram = effective_dimension(x), effective_dimension(x @ x.T, gram=True)
    assert by_gram.value == pytest.approx(by_points.value, rel=1e-6)
    assert by_points.value == pytest.approx(2, rel=0.15)


def test_duplicates_are_counted_and_left_out(dtype):
    x = cube(50, 2).to(dtype)
    repeated = torch.cat([x, x[:7], x[:1]])
    found = effective_dimension(repeated)
    assert (found.points, found.duplicates) == (50, 8)
    assert found.value == pytest.approx(effective_dimension(x).value, rel=1e-9)
    gram = effective_dimension(repeated @ repeated.T, gram=True)
    assert gram.duplicates == 8


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"points must have shape \(n, D\)"):
        effective_dimension(torch.ones(5))
    with pytest.raises(ValueError, match="at least 3 distinct points are needed, got 1 of 5"):
        effective_dimension(torch.ones(5, 2))
    lattice = torch.arange(10.0)[:, None]
    circle = 2 * math.pi * lattice.double() / 10
    with pytest.raises(ValueError, match=r"\(n, n\)"):
        effective_dimension(torch.ones(2, 2, 2, 2), gram=True)
    polygon = torch.cat([circle.cos(), circle.sin()], dim=1)
    assert effective_dimension(polygon).value > 1e6
