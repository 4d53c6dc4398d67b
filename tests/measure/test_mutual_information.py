import math

import pytest
import torch

from regimes.measure import mutual_information, mutual_information_floor


def reference(points, y, k, include_self):
    """The estimator of [Paccolat 2021, app. E], point by point."""
    points = points.double().reshape(len(y), -1)
    n, D = points.shape
    total = 0.0
    for i in range(n):
        near = {}
        for label in (1, -1):
            others = [
                float((points[i] - points[j]).norm())
                for j in range(n)
                if y[j] == label and (include_self or j != i)
            ]
            near[label] = sorted(others)[k - 1]
        q = 1 / (1 + (near[1] / near[-1]) ** D)
        total += sum(-p * math.log2(p) for p in (q, 1 - q) if p > 0)
    return 1 - total / n


def two_gaussians(n, axes=0, seed=0):
    numbers = torch.Generator().manual_seed(seed)
    y = torch.tensor([1.0, -1.0]).double().repeat(n // 2)
    x = 1.2 * y + torch.randn(n, generator=numbers, dtype=torch.float64)
    noise = torch.randn(n, axes, generator=numbers, dtype=torch.float64)
    return x, torch.cat([x[:, None], noise], dim=1), y


@pytest.mark.parametrize("include_self", [False, True])
@pytest.mark.parametrize("axes", [0, 2])
def test_it_is_the_estimator_of_the_definition(dtype, include_self, axes):
    _, points, y = two_gaussians(60, axes)
    points = points.to(dtype)
    found = mutual_information(points, y.to(dtype), k=3, include_self=include_self)
    assert found.value == pytest.approx(reference(points, y, 3, include_self), rel=1e-9)
    assert float(found) == found.value


@pytest.mark.parametrize(("k", "expected"), [(5, 0.0685), (3, 0.1103)])
def test_comp_37_floor_is_the_value_for_independent_labels(k, expected):
    assert mutual_information_floor(k) == pytest.approx(expected, abs=5e-5)
    numbers = torch.Generator().manual_seed(1)
    y = torch.tensor([1.0, -1.0]).repeat(2000)
    x = torch.rand(4000, generator=numbers)
    found = mutual_information(x, y, k=k)
    assert found.floor == mutual_information_floor(k)
    assert found.excess == pytest.approx(0, abs=0.006)


def test_floor_when_the_point_counts_itself():
    """docs/themes/compression.md, "Mutual information": .0846 instead of .0685 at k=5."""
    assert mutual_information_floor(5, include_self=True) == pytest.approx(0.0846, abs=5e-5)
    numbers = torch.Generator().manual_seed(1)
    y = torch.tensor([1.0, -1.0]).repeat(2000)
    found = mutual_information(torch.rand(4000, generator=numbers), y, include_self=True)
    assert found.excess == pytest.approx(0, abs=0.006)


def test_floor_is_the_beta_average_of_the_entropy():
    q = (torch.arange(20000) + 0.5).double() / 20000
    for a, b in ((5, 5), (5, 4), (1, 1)):
        weight = q ** (a - 1) * (1 - q) ** (b - 1)
        entropy = -(q * q.log2() + (1 - q) * (1 - q).log2())
        expected = 1 - float((weight * entropy).sum() / weight.sum())
        found = mutual_information_floor(a, include_self=b < a)
        assert found == pytest.approx(expected, abs=1e-6)


def test_comp_48_limits_of_the_estimator():
    """Exact .609 bits in one dimension; noise axes lower it, zero padding raises it."""
    x, noisy, y = two_gaussians(2000, axes=30)
    plain = mutual_information(x, y).value
    assert plain == pytest.approx(0.59, abs=0.03)
    assert mutual_information(noisy, y).value < plain - 0.1
    padded = torch.cat([x[:, None], torch.zeros(2000, 4)], dim=1)
    assert mutual_information(padded, y).value > 0.85


def test_scale_does_not_matter_and_extremes_are_finite():
    x, _, y = two_gaussians(200)
    assert mutual_information(7 * x, y).value == pytest.approx(mutual_information(x, y).value)
    separated = y * 1e6 + x
    assert mutual_information(separated, y).value == pytest.approx(1, abs=1e-3)
    assert mutual_information(torch.ones(200), y).value == pytest.approx(0, abs=1e-12)
    assert mutual_information(y, y).value == pytest.approx(1)


def test_bad_input_is_refused():
    y = torch.tensor([1.0, -1.0]).repeat(20)
    with pytest.raises(ValueError, match=r"y be \+-1"):
        mutual_information(torch.ones(40), (y + 1) / 2)
    with pytest.raises(ValueError, match="rarer label has 20 of 40 points"):
        mutual_information(torch.ones(40), y, k=20)
    with pytest.raises(ValueError, match="nearly balanced"):
        mutual_information(torch.ones(40), torch.where(torch.arange(40) < 8, 1.0, -1.0))
    with pytest.raises(ValueError, match="k must be an integer >= 2, got 1"):
        mutual_information(torch.ones(40), y, k=1, include_self=True)
