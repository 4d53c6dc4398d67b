"""What is given: losses of points against their formulas, and what is refused."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from regimes import data, flow, nets
from regimes._random import generator
from regimes.curvature._losses import point_loss
from regimes.curvature._problem import pose

SIGNS = torch.tensor([1.0, -1.0, 1.0, -1.0], dtype=torch.float64)
CLASSES = torch.tensor([0, 2, 1, 2])


def outputs(c, seed=0):
    return torch.randn(4, c, generator=generator(seed, "tests/curvature"), dtype=torch.float64)


def net(out=1):
    return nets.FullyConnected(3, 4, 2, out, bias=True, dtype=torch.float64)


def inputs(n=4):
    return torch.randn(n, 3, generator=generator(1, "tests/curvature"), dtype=torch.float64)


LOSSES = [
    ("cross_entropy", 1, SIGNS), ("cross_entropy", 3, CLASSES), ("qhinge", 1, SIGNS),
    ("qhinge", 3, CLASSES), ("softhinge_5", 1, SIGNS), ("hinge", 1, SIGNS), ("mse", 1, SIGNS),
    ("mse", 3, outputs(3, seed=2)), (flow.quadratic_hinge(0.3), 1, SIGNS),
    (F.cross_entropy, 3, CLASSES), (nn.MSELoss(), 1, SIGNS[:, None]),
    (lambda f, y: f.exp() * y, 1, SIGNS), (lambda f, y: (f[:, 0] * f[:, 1]).pow(2), 3, CLASSES),
]  # fmt: skip


@pytest.mark.parametrize(("loss", "c", "y"), LOSSES)
def test_slopes_and_second_derivatives_are_those_of_single_points(loss, c, y):
    found, at = point_loss(loss, c, y), outputs(c)
    slopes, second = found.slopes(at, y), found.second(at, y)
    directions = torch.stack([at + 1, at.square()], -1)
    along = found.second_times(at, y, directions)
    for i in range(4):

        def one(f, i=i):
            return found.total(f[None], y[i : i + 1])

        torch.testing.assert_close(slopes[i], torch.func.grad(one)(at[i]))
        torch.testing.assert_close(second[i], torch.func.hessian(one)(at[i]))
        torch.testing.assert_close(along[i], second[i] @ directions[i])


def test_a_mean_and_its_points_are_one_loss():
    each = point_loss(lambda f, y: F.cross_entropy(f, y, reduction="none"), 3, CLASSES)
    for loss in (F.cross_entropy, nn.CrossEntropyLoss(), "cross_entropy"):
        found = point_loss(loss, 3, CLASSES)
        torch.testing.assert_close(found.second(outputs(3), CLASSES),
                                   each.second(outputs(3), CLASSES))  # fmt: skip


def test_at_its_kink_a_hinge_is_flat():
    at, y = torch.ones(1, 1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    for name in ("hinge", "qhinge"):
        found = point_loss(name, 1, y)
        assert float(found.slopes(at, y)) == 0.0
        assert float(found.second(at, y)) == 0.0


def test_vectors_are_cut_and_joined():
    problem = pose(net(), inputs(), SIGNS, "mse")
    v = torch.arange(3.0 * problem.size).view(3, -1)
    parts = problem.split(v)
    assert {name: part.shape[1:] for name, part in parts.items()} == problem.shapes
    assert torch.equal(problem.join(parts), v)
    assert torch.equal(v[0, problem.slices["layers.1.bias"]], parts["layers.1.bias"][0])


def test_a_loader_brings_its_labels():
    x, y = inputs(), SIGNS
    loaded = pose(net(), [(x[:3], y[:3]), (x[3:], y[3:])].__iter__(), None, "mse")
    assert torch.equal(loaded.x, x)
    assert torch.equal(loaded.y, y)
    named = pose(net(), iter([{"x": x, "labels": y}]), None, "mse")
    assert torch.equal(named.x["x"], x)


class Unused(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.spare = nn.Parameter(torch.ones(3, 1)), nn.Parameter(torch.ones(2))

    def forward(self, x):
        return x @ self.used


class Complex(nn.Module):
    def __init__(self):
        super().__init__()
        self.modes = nn.Parameter(torch.ones(3, 1, dtype=torch.complex128))

    def forward(self, x):
        return (x @ self.modes.real).square()


REFUSED = [
    (lambda: pose(net(), inputs(), SIGNS, lambda f, y: ((f - y) ** 2).sum()), "no mean over"),
    (lambda: pose(net(), inputs(), SIGNS, lambda f, y: f[:, None] - y), "it returned (3, 3)"),
    (lambda: pose(net(), inputs(), SIGNS, lambda f, y: (-f.square()).log()), "at these outputs"),
    (lambda: pose(net(), inputs(), SIGNS, lambda f, y: f @ y[:2]), "failed on outputs"),
    (lambda: pose(net(), inputs(), SIGNS, lambda f: f), "loss failed on outputs of shape (3,)"),
    (lambda: pose(net(), inputs(), SIGNS, lambda f, y: f.detach()), "does not depend on"),
    (lambda: pose(net(), inputs(), SIGNS, 3), "a function l(F, y), got 3"),
    (lambda: pose(net(), inputs(), SIGNS, "squar"), "unknown loss 'squar'"),
    (lambda: pose(net(), inputs(), CLASSES, "mse"), "needs real targets"),
    (lambda: pose(net(3), inputs(), CLASSES + 1, "cross_entropy"), "class indices 0..2"),
    (lambda: pose(net(), inputs(), SIGNS[:3], "mse"), "4 inputs and 3 labels"),
    (lambda: pose(net(), inputs(), SIGNS * torch.nan, "mse"), "labels contain NaN"),
    (lambda: pose(net(), inputs() * torch.inf, SIGNS, "mse"), "inputs contain NaN"),
    (lambda: pose(net(), inputs(), None, "mse"), "labels y are missing"),
    (lambda: pose(net(), data.digits(n_train=3), None, "mse"), "give ds.x_train, ds.y_train"),
    (lambda: pose(net(), iter([inputs()]), None, "mse"), "batches (inputs, labels)"),
    (lambda: pose(net(), iter([(inputs(), SIGNS)]), SIGNS, "mse"), "leave out y"),
    (lambda: pose(net(), inputs(), SIGNS, "mse", dtype="float64"), "dtype must be"),
    (lambda: pose(Unused().double(), inputs(), SIGNS, "mse"), "does not depend on spare"),
    (lambda: pose(Complex(), inputs(), SIGNS, "mse"), "are complex"),
    (lambda: pose(nn.Sequential(net(), nn.Dropout()), inputs(), SIGNS, "mse"), "eval()"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refused(number):
    call, words = REFUSED[number]
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the words differ
        call()
    assert words in str(caught.value)
