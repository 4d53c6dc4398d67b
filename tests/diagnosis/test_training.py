"""What is trained and watched: recipes, functions, interruptions, the course of training."""

import copy

import pytest
import torch
from torch import nn

import regimes as rg


@pytest.fixture(autouse=True)
def own_draws():
    """Layers and loaders of torch draw from its global generator."""
    with torch.random.fork_rng():
        yield


def sgd(rate, **more):
    return lambda parameters: torch.optim.SGD(parameters, lr=rate, **more)


@pytest.fixture
def points():
    draws = torch.Generator().manual_seed(0)
    x = torch.randn(120, 4, generator=draws)
    return x, (x[:, 0] > 0).long()


@pytest.fixture
def small():
    return rg.nets.FullyConnected(4, 30, out_dim=2, depth=2, seed=0)


def test_an_optimiser_is_enough(points, small):
    state = copy.deepcopy(small.state_dict())
    found = rg.diagnose(small, points, optimizer=sgd(0.5), epochs=5)
    assert [each.step for each in found.course] == [1, 2, 4, 8, 16]  # 120 points, 4 steps an epoch
    assert found.numbers["accuracy"].value > 0.9 > found.numbers["accuracy_before"].value
    assert found.course[-1].kernel_change > found.course[0].kernel_change > 0
    assert any("by step" in sentence for sentence in found.reasons)
    assert all(torch.equal(state[name], value) for name, value in small.state_dict().items())
    again = rg.diagnose(small, points, optimizer=sgd(0.5), epochs=5)
    assert again.course == found.course


def test_the_course_ends_where_the_networks_are_compared(points, small):
    """Watched after its last step, the weights have moved as far as the diagnosis says."""
    found = rg.diagnose(small, points, optimizer=sgd(0.5), epochs=2, probes=50)
    assert found.course[-1].step == 8
    assert found.course[-1].weight_change == pytest.approx(found.numbers["weight_change"].value)


@pytest.mark.parametrize(
    ("kind", "loss"),
    [("classes", "cross_entropy"), ("signs", "hinge"), ("numbers", "mse"), ("signs", None)],
)
def test_losses_suit_their_labels(points, kind, loss):
    x, y = points
    labels = {"classes": y, "signs": 2 * y - 1, "numbers": x[:, 0]}[kind]
    net = rg.nets.FullyConnected(4, 30, out_dim=2 if kind == "classes" else 1, seed=0)
    found = rg.diagnose(net, (x, labels), optimizer=sgd(0.5), loss=loss, epochs=10)
    assert found.numbers["accuracy"].value > 0.8


def test_curvature_is_that_of_the_hessian_written_out(points):
    """A linear model under squares: the Hessian is x^T x / n."""
    x, y = points[0].double(), points[0][:, :1].double()
    net = nn.Linear(4, 1, bias=False).double()
    before = copy.deepcopy(net)
    net.weight.data += 0.1
    found = rg.diagnose(net, (x, y), before=before, loss="mse", step_size=0.1, probes=50)
    rows = torch.randperm(120, generator=rg._random.generator(0, "probes train"))[:50]
    top = float(torch.linalg.eigvalsh(x[rows].T @ x[rows] / 50)[-1])
    assert found.numbers["sharpness"].value == pytest.approx(top, rel=0.01)
    against = found.numbers["sharpness_against_step"].value
    assert against == pytest.approx(top * 0.05, rel=0.01)


def test_the_step_size_is_seen(points, small):
    plain = rg.diagnose(small, points, optimizer=sgd(0.2), epochs=1)
    heavy = rg.diagnose(small, points, optimizer=sgd(0.2, momentum=1e-9), epochs=1)
    ratio = plain.numbers["sharpness_against_step"].value / plain.numbers["sharpness"].value
    assert ratio == pytest.approx(0.1)
    assert heavy.numbers["sharpness_against_step"].value == pytest.approx(
        plain.numbers["sharpness_against_step"].value, rel=1e-3
    )
    adam = rg.diagnose(small, points, optimizer=lambda p: torch.optim.Adam(p, lr=0.01), epochs=1)
    assert "sharpness_against_step" not in adam.numbers
    assert len(adam.course) > 1


def test_another_networks_steps_are_not_counted(points, small):
    def fit(network, train):
        other = nn.Linear(2, 1)
        steps = torch.optim.SGD(other.parameters(), lr=0.1)
        other(torch.ones(1, 2)).sum().backward()
        steps.step()
        network.layers[0].weight.data += 0.01

    assert rg.diagnose(small, points, fit=fit).course == ()


def test_an_interrupted_training_is_diagnosed_as_it_is(points, small):
    def fit(network, train):
        network.layers[0].weight.data += 0.01
        raise KeyboardInterrupt

    found = rg.diagnose(small, points, fit=fit)
    assert any("Training was interrupted" in sentence for sentence in found.warnings)
    assert found.numbers["weight_change"].value > 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"optimizer": 0.1}, "optimizer must be a function"),
        ({"optimizer": lambda p: 3}, "optimizer must make"),
        ({"optimizer": sgd(0.1), "epochs": 0}, "epochs must be an integer"),
        ({"optimizer": sgd(0.1), "fit": print}, "not both fit and optimizer"),
        ({"optimizer": sgd(1e20), "loss": "mse"}, "diverged|not all finite"),
        ({"optimizer": sgd(0.1), "loss": "square"}, "square"),
        ({"step_size": 0.0}, "step_size"),
    ],
)
def test_bad_recipes(points, change, message):
    x, _ = points
    net = rg.nets.FullyConnected(4, 10, seed=0)
    with pytest.raises(ValueError, match=message):
        rg.diagnose(net, (x, x[:, 0] ** 2), **change)


def test_an_iterator_cannot_be_read_twice(points, small):
    x, y = points
    once = iter([(x, y)])
    with pytest.raises(ValueError, match="can be read once"):
        rg.diagnose(small, once, optimizer=sgd(0.1))
    assert rg.diagnose(small, iter([(x, y)])).probes == (120, 0)
