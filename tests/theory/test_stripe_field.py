import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ndtr

from regimes.theory import stripe_constants, stripe_drift

STRIPE = [-0.3, 1.18549]
CASES = {"stripe": (STRIPE, 1), "half-space": ([0.0], -1), "three": ([-1.0, 0.0, 0.7], -1)}


def neurons(n, d, seed=0):
    numbers = torch.Generator().manual_seed(seed)
    w = torch.randn(n, d, generator=numbers, dtype=torch.float64)
    return w, torch.randn(n, generator=numbers, dtype=torch.float64)


def label(x, edges, first_sign):
    return first_sign * (-1.0) ** sum((edge < x).double() for edge in edges)


def test_comp_04_drift_against_monte_carlo():
    """COMP-04: d=3, 5 random neurons, 4e6 samples, within 4 standard errors."""
    d, chunks, size = 3, 16, 250_000
    w, b = neurons(5, d)
    numbers = torch.Generator().manual_seed(7)
    total, square = torch.zeros(5, d + 1).double(), torch.zeros(5, d + 1).double()
    for _ in range(chunks):
        x = torch.randn(size, d, generator=numbers)
        active = (x @ w.float().T / d**0.5 + b.float() > 0).float()
        signed = label(x[:, 0], STRIPE, 1).float()[:, None]
        terms = torch.cat([signed * x, d**0.5 * signed], 1)
        total += (active.T @ terms).double()
        square += (active.T @ terms**2).double()
    n = chunks * size
    mean = total / n
    error = ((square / n - mean**2) / n).sqrt()
    drift = stripe_drift(w, b, interfaces=STRIPE)
    found = torch.cat([drift.w, drift.b[:, None]], 1)
    assert float(((found - mean).abs() / error).max()) < 4
    assert float(error.max()) < 1.5e-3


def by_quadrature(w, b, edges, first_sign):
    """[Paccolat 2021, app. C.1] as written, split at the interfaces and around zeta_1."""
    d = len(w)
    w1, perp = float(w[0]), float(w[1:].norm())
    size, offset = math.hypot(w1, perp), math.sqrt(d) * float(b)
    zeta = -offset / w1
    width = abs(perp / w1)
    near = [zeta + k * width for k in (-40, -10, -3, 0, 3, 10, 40)]
    cuts = sorted({-12.0, 12.0, *(c for c in [*edges, *near] if -12 < c < 12)})
    mu_1 = mu_b = mu_perp = 0.0
    for low, high in pairwise(cuts):
        sign = first_sign * (-1) ** sum(edge < (low + high) / 2 for edge in edges)

        def g(x):
            return math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) * ndtr((offset + w1 * x) / perp)

        mu_1 += sign * quad(lambda x: x * g(x), low, high, epsabs=1e-13)[0]
        mu_b += sign * quad(g, low, high, epsabs=1e-13)[0]
    # <y((w_perp/|w|) x - sqrt(d) b w_1/|w|^2)>: y is constant between the moved interfaces
    moved = [(edge + offset * w1 / size**2) * size / perp for edge in edges]
    bounds = [-math.inf, *moved, math.inf]
    for k in range(len(bounds) - 1):
        mu_perp += first_sign * (-1) ** k * (ndtr(bounds[k + 1]) - ndtr(bounds[k]))
    q = offset / size
    gauss = math.exp(-(q**2) / 2) / math.sqrt(2 * math.pi)
    perpendicular = [float(v) / size * gauss * mu_perp for v in w[1:]]
    return [mu_1, *perpendicular, math.sqrt(d) * mu_b]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("amplification", [1e-3, 0.3, 1.0, 30.0, 1e4])
def test_exact_form_agrees_with_quadrature(name, amplification):
    edges, first_sign = CASES[name]
    w, b = neurons(6, 4, seed=3)
    w[:, 0] = torch.sign(w[:, 0]) * amplification * w[:, 1:].norm(dim=1)
    b *= w[:, 0].abs().clamp(min=1)  # boundaries that cut the data at every amplification
    drift = stripe_drift(w, b, interfaces=edges, first_sign=first_sign)
    for n in range(6):
        expected = by_quadrature(w[n], b[n], edges, first_sign)
        found = [*drift.w[n].tolist(), float(drift.b[n])]
        assert found == pytest.approx(expected, abs=2e-11)


def test_no_weight_along_the_axis():
    """lambda = 0: x_1 is independent of the activation, mu_1 = <x y> Phi(q)."""
    w, b = torch.tensor([[0.0, 2.0, 1.0]]).double(), torch.tensor([0.4], dtype=torch.float64)
    drift = stripe_drift(w, b, interfaces=STRIPE)
    q = 3**0.5 * 0.4 / 5**0.5
    mean_x = float(stripe_constants(-50.0, 1, interfaces=STRIPE).c1)
    mean = float(stripe_constants(-50.0, 1, interfaces=STRIPE).cb)
    assert float(drift.w[0, 0]) == pytest.approx(mean_x * ndtr(q), abs=1e-15)
    assert float(drift.b[0]) == pytest.approx(3**0.5 * mean * ndtr(q), abs=1e-15)


@given(st.floats(-4, 4), st.sampled_from([1, -1]), st.integers(2, 10))
def test_an_aligned_neuron_sees_the_constants(z, side, d):
    w = torch.zeros(1, d).double()
    w[0, 0] = 3.0 * side
    b = torch.tensor([-3.0 * side * z / d**0.5], dtype=torch.float64)
    drift = stripe_drift(w, b, interfaces=STRIPE)
    # rounding of b moves the boundary; on an interface that changes nothing but C_perp
    expected = stripe_constants(z, side, interfaces=STRIPE)
    assert float(drift.w[0, 0]) == pytest.approx(float(expected.c1), abs=1e-13)
    assert float(drift.b[0]) == pytest.approx(d**0.5 * float(expected.cb), abs=1e-13)
    assert not drift.w[0, 1:].any()


@given(st.floats(-300, 300))
def test_only_the_direction_matters(exponent):
    w, b = neurons(4, 3, seed=5)
    scale = 10.0 ** (exponent / 2.5)
    one = stripe_drift(w, b, interfaces=STRIPE)
    other = stripe_drift(scale * w, scale * b, interfaces=STRIPE)
    torch.testing.assert_close(one.w, other.w, rtol=1e-11, atol=1e-13)
    torch.testing.assert_close(one.b, other.b, rtol=1e-11, atol=1e-13)


def test_edges_of_the_exact_form():
    """Zero bias, an interface at 0, both, a neuron without weights: no NaN, continuous values."""
    w = torch.tensor([[1.0, 1.0], [-1.0, 0.5], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]).double()
    for b in (0.0, -0.0):
        at = stripe_drift(w, torch.full((5,), b).double(), interfaces=[-1.0, 0.0])
        for side in (1e-13, -1e-13):
            near = stripe_drift(w, torch.full((5,), side).double(), interfaces=[-1.0, 0.0])
            torch.testing.assert_close(at.b, near.b, rtol=0, atol=1e-12)
            torch.testing.assert_close(at.w[:, 0], near.w[:, 0], rtol=0, atol=1e-12)
    no_weights = stripe_drift(torch.zeros(2, 2), torch.tensor([1.0, -1.0]), interfaces=[0.0])
    assert float(no_weights.w[0, 0]) == pytest.approx(-2 / math.sqrt(2 * np.pi))
    assert float(no_weights.b[0]) == pytest.approx(0, abs=1e-15)
    assert not no_weights.w[1].any()


def test_bad_input_is_refused():
    w, b = neurons(3, 2)
    with pytest.raises(ValueError, match=r"got w \(3, 2\), b \(2,\)"):
        stripe_drift(w, b[:2], interfaces=STRIPE)
    with pytest.raises(ValueError, match="d >= 2"):
        stripe_drift(w[:, :1], b, interfaces=STRIPE)
    with pytest.raises(ValueError, match="no boundary"):
        stripe_drift(0 * w, 0 * b, interfaces=STRIPE)
    with pytest.raises(ValueError, match="w holds NaN"):
        stripe_drift(w * math.nan, b, interfaces=STRIPE)
    with pytest.raises(ValueError, match="b must be a floating-point tensor"):
        stripe_drift(w, [1.0], interfaces=STRIPE)
