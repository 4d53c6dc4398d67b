"""Ensembles of independent Gaussian outputs, whose errors and distances are known."""

import math

import numpy as np
import pytest
import torch

from regimes.measure import asymptote, disjoint_ensembles, power_law


def outputs(pool, points, mean, seed=0):
    draw = torch.Generator().manual_seed(seed)
    return mean + torch.randn(pool, points, generator=draw, dtype=torch.float64)


def test_errors_and_distances_are_those_of_all_groups():
    """Against every disjoint pair of four networks: three ways to cut."""
    F, y = outputs(4, 30, 0.1), torch.ones(30).double()
    slopes = outputs(4, 60, 0.0, 1).view(4, 30, 2)
    found = disjoint_ensembles(F, y, [1, 2, 4], gradients=slopes, groupings=3000)
    cuts = [((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))]
    errors, distances, middle = [], [], F.mean(0)
    for cut in cuts:
        for group in cut:
            f, steep = F[list(group)].mean(0), slopes[list(group)].mean(0).norm(dim=1)
            errors.append(float((f <= 0).double().mean()))
            cross = (f > 0) != (middle > 0)
            distances.append(float(((f - middle).abs() / steep)[cross].mean()))
    assert found.error[0] == float((F <= 0).double().mean())
    assert found.error[1] == pytest.approx(np.mean(errors), abs=3e-3)
    assert found.distance[1] == pytest.approx(np.mean(distances) * 2**0.5, rel=0.03)
    assert found.error[2] == found.pool_error == float((middle <= 0).double().mean())
    assert math.isnan(found.distance[2])


def test_the_laws_of_independent_networks():
    """f = m + noise with a broad m: eps_n - eps ~ 1/n and delta_n ~ n^-1/2 (LAND-50, LAND-51)."""
    draw = torch.Generator().manual_seed(3)
    m = 4 * torch.rand(5000, generator=draw, dtype=torch.float64) - 1  # eps = 1/4
    F = outputs(32, 5000, m, 4)
    sizes = [1, 2, 4, 8]
    found = disjoint_ensembles(
        F, torch.ones_like(m), sizes, gradients=torch.ones_like(F)[..., None]
    )
    fit = asymptote(sizes[1:], found.error[1:], power=-1)
    assert fit.limit == pytest.approx(0.25, abs=0.015)
    assert power_law(sizes, found.distance).exponent == pytest.approx(-0.5, abs=0.06)
    assert (found.error_error < 0.01).all()


def test_bad_input():
    F, y = torch.ones(3, 4), torch.ones(4)
    with pytest.raises(ValueError, match="from 1 to the 3 networks"):
        disjoint_ensembles(F, y, [4])
    with pytest.raises(ValueError, match="R >= 2"):
        disjoint_ensembles(F[:1], y, [1])
    with pytest.raises(ValueError, match="gradients must have shape"):
        disjoint_ensembles(F, y, [1], gradients=F)
