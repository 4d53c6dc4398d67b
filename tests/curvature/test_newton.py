"""Newton's method: quadratic losses, saddles, several networks, what it leaves alone."""

import pytest
import torch

import regimes as rg
from regimes._random import generator
from regimes.curvature import hessian, newton
from regimes.curvature._newton import _minimum

WIDE = torch.float64


def drawn(*shape, stream="newton"):
    return torch.randn(shape, generator=generator(0, f"tests/{stream}"), dtype=WIDE)


def networks(count, depth=1, activation="tanh", width=3):
    return rg.nets.stack(
        lambda seed: rg.nets.FullyConnected(
            2, width, depth, parametrization="standard", bias=True, activation=activation,
            seed=seed, dtype=WIDE,
        ),
        range(count),
    )  # fmt: skip


def test_least_squares_are_solved():
    x, y = drawn(20, 2), drawn(20, stream="labels")
    found = newton(networks(2, depth=0), x, y, "mse", radius=100.0, steps=5)
    rows = torch.cat([x, torch.ones(20, 1, dtype=WIDE)], 1)
    best = torch.linalg.lstsq(rows, y).solution
    assert bool(found.converged.all())
    for member in range(2):
        w = found.ensemble.parameters
        own = torch.cat([w["layers.0.weight"][member, 0], w["layers.0.bias"][member]])
        torch.testing.assert_close(own, best)


def test_members_with_points_of_their_own_go_as_each_alone():
    x, y = drawn(3, 12, 2), drawn(3, 12, stream="labels").sign()
    loss, nets = rg.flow.quadratic_hinge(0.5), networks(3)
    found = newton(nets, x, y, loss, own=True, steps=12)
    assert bool((found.loss < hessian(nets, x, y, loss, own=True).loss).all())
    for i in range(3):
        alone = newton(nets.select([i]), x[i], y[i], loss, steps=12)
        torch.testing.assert_close(alone.loss[0], found.loss[i])
        assert alone.steps[0] == found.steps[i]


def test_a_minimum_has_no_negative_eigenvalue():
    x, y = drawn(8, 2), drawn(8, stream="labels")
    found = newton(networks(4), x, y, "mse", steps=300, tolerance=1e-9)
    assert int(found.converged.sum()) >= 2
    spectra = hessian(found.ensemble, x, y, "mse").spectrum()[found.converged]
    assert float(spectra.min()) > -1e-7 * float(spectra.max())


@pytest.mark.parametrize("radius", [1e-3, 0.5, 50.0])
def test_the_model_is_minimised_in_the_ball(radius):
    lam = torch.tensor([[-1.0, 0.5, 2.0], [0.1, 1.0, 3.0], [-1.0, 1.0, 2.0]], dtype=WIDE)
    slope = torch.tensor([[0.3, -0.2, 0.5], [0.01, 0.2, -0.1], [0.0, 0.1, 0.1]], dtype=WIDE)
    found = _minimum(lam, slope, torch.full((3,), radius, dtype=WIDE))
    assert bool((found.norm(dim=1) <= radius * (1 + 1e-9)).all())

    def model(s):
        return (slope[:, None] * s + lam[:, None] * s.square() / 2).sum(2)

    others = drawn(1, 4000, 3, stream="ball")
    others = radius * others / others.norm(dim=2, keepdim=True).clamp_min(1.0)
    others = torch.cat([others, others / others.norm(dim=2, keepdim=True) * radius], 1)
    least = model(others.expand(3, -1, -1)).amin(1)
    assert bool((model(found[:, None])[:, 0] <= least + 1e-9 * radius).all())


def test_what_is_given_stays_and_wrong_sizes_are_refused():
    nets, x, y = networks(2), drawn(6, 2), drawn(6, stream="labels")
    before = {name: t.clone() for name, t in nets.parameters.items()}
    newton(nets, x, y, "mse", steps=3)
    assert all(torch.equal(t, before[name]) for name, t in nets.parameters.items())
    with pytest.raises(ValueError, match="steps"):
        newton(nets, x, y, "mse", steps=0)
    with pytest.raises(ValueError, match="an Ensemble"):
        newton(nets.member(0), x, y, "mse")
