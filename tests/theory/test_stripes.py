import math
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from regimes import data
from regimes.theory import stripe_constants
from regimes.theory._stripes import Stripes

X_MIN, X_MAX = -0.3, 1.18549
EDGES = st.lists(st.floats(-3, 3), min_size=1, max_size=5, unique=True).map(sorted)


def phi(x):
    return math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


Phi = NormalDist().cdf


def test_comp_01_stripe_and_cylinder_are_balanced():
    assert Phi(X_MAX) - Phi(X_MIN) == pytest.approx(0.5, abs=1e-5)
    assert Stripes.checked([X_MIN, X_MAX], 1).mean == pytest.approx(0, abs=2e-5)
    exact = [X_MIN, data.balanced_x_max(X_MIN)]
    assert Stripes.checked(exact, 1).mean == 0
    # chi of two degrees of freedom: P(r < R) = 1 - exp(-R^2/2)
    assert 1 - math.exp(-(1.1774**2) / 2) == pytest.approx(0.5, abs=1e-4)
    assert data.balanced_radius(2) == pytest.approx(1.1774, abs=1e-4)


@given(st.floats(-4, 4))
def test_single_stripe_closed_forms(s):
    """[Paccolat 2021, app. C.2], written as there."""
    mean_x = -2 * (phi(X_MIN) - phi(X_MAX))
    mean = 1 - 2 * (Phi(X_MAX) - Phi(X_MIN))
    inner = max(X_MIN, s)
    c1 = phi(s) - (2 * (phi(inner) - phi(X_MAX)) if s < X_MAX else 0)
    cb = Phi(-s) - (2 * (Phi(X_MAX) - Phi(inner)) if s < X_MAX else 0)
    plus = stripe_constants(s, 1, interfaces=[X_MIN, X_MAX])
    minus = stripe_constants(s, -1, interfaces=[X_MIN, X_MAX])
    assert float(plus.c1) == pytest.approx(c1, abs=1e-14)
    assert float(plus.cb) == pytest.approx(cb, abs=1e-14)
    assert float(minus.c1) == pytest.approx(mean_x - c1, abs=1e-14)
    assert float(minus.cb) == pytest.approx(mean - cb, abs=1e-14)
    assert float(plus.d_perp) == pytest.approx(Phi(-s), abs=1e-15)
    assert float(minus.d_perp) == pytest.approx(Phi(s), abs=1e-15)
    assert float(plus.c_perp) == (-1 if X_MIN < s <= X_MAX else 1)


@given(EDGES, st.sampled_from([1, -1]), st.sampled_from([1, -1]), st.floats(-4, 4))
def test_general_stripes_agree_with_quadrature(edges, first_sign, side, z):
    def label(x):
        return first_sign * (-1) ** sum(edge < x for edge in edges)

    low, high = (z, 12.0) if side > 0 else (-12.0, z)
    cuts = [low, *(edge for edge in edges if low < edge < high), high]
    c1 = cb = 0.0
    for a, b in pairwise(cuts):
        sign = label((a + b) / 2)
        c1 += sign * quad(lambda x: x * phi(x), a, b, epsabs=1e-13)[0]
        cb += sign * quad(phi, a, b, epsabs=1e-13)[0]
    found = stripe_constants(z, side, interfaces=edges, first_sign=first_sign)
    assert float(found.c1) == pytest.approx(c1, abs=1e-10)
    assert float(found.cb) == pytest.approx(cb, abs=1e-10)
    assert float(found.c_perp) == label(z)


@given(EDGES, st.sampled_from([1, -1]), st.floats(-4, 4))
def test_mirroring_the_axis_swaps_the_sides(edges, first_sign, z):
    mirrored = [-edge for edge in reversed(edges)]
    last = first_sign * (-1) ** len(edges)
    here = stripe_constants(z, -1, interfaces=edges, first_sign=first_sign)
    there = stripe_constants(-z, 1, interfaces=mirrored, first_sign=last)
    assert float(here.c1) == pytest.approx(-float(there.c1), abs=1e-14)
    assert float(here.cb) == pytest.approx(float(there.cb), abs=1e-14)


def test_tails_keep_their_relative_precision():
    exact = [X_MIN, data.balanced_x_max(X_MIN)]
    z = torch.tensor([-30.0, -10.0])
    below = stripe_constants(z, -1, interfaces=exact)
    density = torch.tensor([phi(-30.0), phi(-10.0)], dtype=torch.float64)
    torch.testing.assert_close(below.c1, -density, rtol=1e-12, atol=0)
    above = stripe_constants(-z, 1, interfaces=exact)
    torch.testing.assert_close(above.c1, density, rtol=1e-12, atol=0)
    assert np.allclose(above.cb, below.cb, rtol=1e-12, atol=0)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"increasing numbers, got \[1, 0\]"):
        stripe_constants(0.0, 1, interfaces=[1, 0])
    with pytest.raises(ValueError, match="increasing numbers, got"):
        stripe_constants(0.0, 1, interfaces=[])
    with pytest.raises(ValueError, match=r"first_sign must be \+1 or -1, got 0"):
        stripe_constants(0.0, 1, interfaces=[0], first_sign=0)
    with pytest.raises(ValueError, match=r"sign_w must be \+1 or -1, got 2"):
        stripe_constants(0.0, 2, interfaces=[0])
