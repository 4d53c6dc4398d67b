import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes.measure import gradient_covariance_gap


def points(seed=0):
    numbers = torch.Generator().manual_seed(seed)
    return torch.randn(20, 2, generator=numbers, dtype=torch.float64)


@given(st.floats(-2, 2))
def test_comp_47_lemma_for_boosts(rapidity):
    """COMP-47: a function of t^2 - x^2 and a non-orthogonal D in SO(1,1), to 1e-10."""
    c, s = math.cosh(rapidity), math.sinh(rapidity)
    D = torch.tensor([[c, s], [s, c]], dtype=torch.float64)

    def invariant(x):
        return torch.sin(x[:, 0] ** 2 - x[:, 1] ** 2)

    assert float(gradient_covariance_gap(invariant, points(), D)) < 1e-10
    if abs(rapidity) > 0.1:  # D^-T is not D here, and other functions do not obey the lemma
        assert float(gradient_covariance_gap(lambda x: (x**2).sum(1), points(), D)) > 0.01


def test_comp_47_lemma_for_a_network_symmetrised_over_a_group():
    """Any function averaged over a finite group, here the permutations of three inputs."""
    from itertools import permutations

    numbers = torch.Generator().manual_seed(1)
    W = torch.randn(8, 3, generator=numbers, dtype=torch.float64)
    x = torch.randn(5, 3, generator=numbers, dtype=torch.float64)

    def network(x):
        return torch.tanh(x @ W.T).sum(1)

    def symmetrised(x):
        return sum(network(x[:, list(order)]) for order in permutations(range(3)))

    D = torch.eye(3, dtype=torch.float64)[[1, 2, 0]]
    assert float(gradient_covariance_gap(symmetrised, x, D)) < 1e-12
    assert float(gradient_covariance_gap(network, x, D)) > 0.1


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"D \(d, d\), got \(20, 2\) and \(3, 3\)"):
        gradient_covariance_gap(lambda x: x.sum(1), points(), torch.eye(3))
    with pytest.raises(ValueError, match=r"f must return shape \(20,\)"):
        gradient_covariance_gap(lambda x: x.sum(), points(), torch.eye(2).double())
    with pytest.raises(ValueError, match="vanishes"):
        gradient_covariance_gap(lambda x: 0 * x.sum(1), points(), torch.eye(2).double())
