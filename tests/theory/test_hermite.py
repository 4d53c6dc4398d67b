import math

import numpy as np
import pytest
import torch

from regimes.theory._dual import make_dual
from regimes.theory._hermite import HermiteSeries

CPU = torch.device("cpu")


def softplus(b):
    return lambda u: torch.logaddexp(torch.zeros_like(u), b * u) / b


def panels(edges):
    """Gauss-Legendre nodes and weights on every interval between the edges."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    nodes, weights = torch.from_numpy(nodes), torch.from_numpy(weights)
    half = (edges[1:] - edges[:-1])[:, None] / 2
    return ((edges[:-1, None] + half) + half * nodes).flatten(), (half * weights).flatten()


def double_integral(f, q1, q2, rho):
    """E[f(u) f(v)] by nested panels with an edge at 0: the obvious slow way."""
    sd = math.sqrt(q2 * (1 - rho**2))
    reach1, reach2 = 9 * q1**0.5, 9 * q2**0.5
    steps = [2 * max(8, math.ceil(r / min(0.15 * r / 9, sd))) for r in (reach1, reach2)]
    u, wu = panels(torch.linspace(-reach1, reach1, steps[0] + 1, dtype=torch.float64))
    v, wv = panels(torch.linspace(-reach2, reach2, steps[1] + 1, dtype=torch.float64))
    mean = rho * (q2 / q1) ** 0.5 * u
    conditional = torch.exp(-((v - mean[:, None]) ** 2) / (2 * sd**2))
    inner = conditional @ (f(v) * wv) / (sd * math.sqrt(2 * math.pi))
    density = torch.exp(-(u**2) / (2 * q1)) / math.sqrt(2 * math.pi * q1)
    return float((f(u) * density * wu) @ inner)


FUNCTIONS = {
    "tanh": (torch.tanh, 1e-12),
    "gelu": (torch.nn.functional.gelu, 1e-12),
    "softplus_5": (softplus(5.0), 1e-12),
    "swish_10": (lambda u: u * torch.sigmoid(10 * u), 1e-11),
    "leaky": (lambda u: torch.where(u > 0, u, 0.1 * u), 1e-12),
    "elu": (torch.nn.functional.elu, 1e-9),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("q1", "q2", "rho"), [(1.0, 1.0, 0.9), (0.5, 2.0, -0.8), (1.5, 0.7, 0.3)])
def test_moments_agree_with_the_double_integral(name, q1, q2, rho):
    function, tolerance = FUNCTIONS[name]
    series = HermiteSeries(function, CPU)
    a, b = (torch.tensor([q], dtype=torch.float64) for q in (q1, q2))
    correlation = torch.tensor([[rho]], dtype=torch.float64)
    value = double_integral(function, q1, q2, rho)
    assert float(series.covariance(a, b, correlation)) == pytest.approx(value, abs=tolerance)
    slope = double_integral(series._slope, q1, q2, rho)
    assert float(series.slope_covariance(a, b, correlation)) == pytest.approx(slope, abs=tolerance)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equal_inputs_give_the_second_moment(name):
    series = HermiteSeries(FUNCTIONS[name][0], CPU)
    q = torch.tensor([0.3, 1.0, 2.0], dtype=torch.float64)
    one = torch.ones(3, 3, dtype=torch.float64)
    found = series.covariance(q, q, one).diagonal()
    torch.testing.assert_close(found, series.second_moment(q), rtol=1e-12, atol=0)


def test_slope_is_the_derivative_of_the_covariance():
    """Price's theorem: d E[s s] / d(covariance) = E[s' s']."""
    series = HermiteSeries(torch.tanh, CPU)
    q = torch.tensor([1.3], dtype=torch.float64)
    step = 1e-5
    low, middle, high = (
        torch.tensor([[0.4 + s / 1.3]], dtype=torch.float64) for s in (-step, 0.0, step)
    )
    rise = float(series.covariance(q, q, high) - series.covariance(q, q, low))
    found = float(series.slope_covariance(q, q, middle))
    assert rise / (2 * step) == pytest.approx(found, rel=1e-8)


def test_the_error_is_small_for_smooth_and_honest_for_kinked_functions():
    q = torch.tensor([1.0], dtype=torch.float64)
    rho = torch.tensor([[0.9]], dtype=torch.float64)
    errors = {}
    for name, function in (("tanh", torch.tanh), ("hardtanh", torch.nn.functional.hardtanh)):
        series = HermiteSeries(function, CPU)
        found = float(series.slope_covariance(q, q, rho))
        edges = torch.linspace(-9, 9, 181, dtype=torch.float64)  # has edges at -1 and 1
        u, w = panels(edges)
        sd = math.sqrt(1 - 0.81)
        inner = torch.exp(-((u - 0.9 * u[:, None]) ** 2) / (2 * sd**2)) @ (series._slope(u) * w)
        density = torch.exp(-(u**2) / 2) / (2 * math.pi * sd)
        exact = float((series._slope(u) * density * w) @ inner)
        errors[name] = series.unresolved
        assert abs(found - exact) <= series.unresolved + 1e-12
    assert errors["tanh"] < 1e-12
    assert 1e-4 < errors["hardtanh"] < 0.05


def test_tiles_do_not_change_the_result(monkeypatch):
    numbers = torch.Generator().manual_seed(0)
    x = torch.randn(11, 3, generator=numbers, dtype=torch.float64)
    q = (x**2).sum(1)
    rho = x @ x.T / torch.outer(q.sqrt(), q.sqrt())
    series = HermiteSeries(torch.tanh, CPU)
    whole = series.covariance(q, q.clone(), rho)
    monkeypatch.setattr("regimes.theory._hermite._TILE", 4)
    monkeypatch.setattr("regimes.theory._hermite._ROWS", 3)
    torch.testing.assert_close(series.covariance(q, q.clone(), rho), whole, rtol=1e-13, atol=0)
    torch.testing.assert_close(series.covariance(q, q, rho), whole, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("name", "factor"),
    [("tanh", 1.59254), ("softplus_5", 1.40438), ("swish_10", 1.41595), ("softplus", 1.40438)],
)
def test_normalising_factors_of_the_table(name, factor):
    """The factor makes E sigma(g)^2 = 1."""
    dual = make_dual(name, CPU)
    assert dual._scale == pytest.approx(factor**2, rel=1e-5)
    one = torch.ones(1, dtype=torch.float64)
    assert float(dual.second_moment(one)) == pytest.approx(1, rel=1e-12)
    assert make_dual("silu", CPU)._scale == make_dual("swish_1", CPU)._scale
