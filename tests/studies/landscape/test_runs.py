"""What the theme shares: tasks, trainers, ends of runs, and what stability asks of them."""

from itertools import pairwise

import numpy as np
import pytest
import torch

import regimes as rg
from regimes.studies.landscape import _networks, _runs, _stability, _tasks, _training
from regimes.studies.landscape.transition._ranks import ranks


@pytest.fixture(scope="module")
def trained():
    """Small networks on few points, which fit, and on many, which do not."""
    return _runs.train(5, 6, 2, [5, 150], [0, 1, 2], steps=1200, rate=5e-3)


def deltas(trained, member):
    x, y = trained.points_of(member)
    net = trained.ensemble.member(member)
    return (trained.margin - y * net(x)[:, 0]).detach(), net, x


def test_smaller_sets_are_the_beginnings_of_larger_ones():
    small, large = (_tasks.random_task(p, 6, 3) for p in (50, 900))
    assert torch.equal(small.x_train, large.x_train[:50])
    assert torch.equal(small.y_train, large.y_train[:50])
    torch.testing.assert_close(small.x_train.square().sum(1), torch.full((50,), 6.0).double())
    assert not torch.equal(small.x_train, _tasks.random_task(50, 6, 4).x_train)


def test_digits_of_a_draw():
    small, large = (_tasks.parity_task("digits", p, 100, 2) for p in (50, 600))
    assert torch.equal(small.x_train, large.x_train[:50])
    assert torch.equal(small.x_test, large.x_test)
    assert not torch.equal(small.x_test, _tasks.parity_task("digits", 50, 100, 3).x_test)
    every = torch.cat([large.x_train, large.x_test])
    assert len(torch.unique(every, dim=0)) == 700
    with pytest.raises(ValueError, match="holds 1797 images"):
        _tasks.parity_task("digits", 1700, 100)


def test_bad_tasks():
    with pytest.raises(ValueError, match="labels must be one of random, parity"):
        _tasks.tasks("fair", (0,), 10)
    with pytest.raises(ValueError, match="images must be one of"):
        _tasks.parity_task("cats", 10, 10)


def test_networks_repeat_with_their_seeds():
    one = _networks.networks(5, 4, 2, [0, 1, 0])
    weight = one.parameters["layers.0.weight"]
    assert torch.equal(weight[0], weight[2])
    assert not torch.equal(weight[0], weight[1])
    norms = weight.square().sum(-1)
    torch.testing.assert_close(norms, torch.ones_like(norms))


def test_members_train_as_they_would_alone():
    together = _runs.train(5, 4, 2, [8, 30], [0, 1], steps=60)
    for i, (p, seed) in enumerate([(8, 0), (8, 1), (30, 0), (30, 1)]):
        alone = _runs.train(5, 4, 2, [p], [seed], steps=60)
        for name, value in together.run.parameters.items():
            torch.testing.assert_close(value[i], alone.run.parameters[name][0])


def test_schedule_of_the_papers(monkeypatch):
    seen = {}
    monkeypatch.setattr(rg.flow, "descend", lambda *_, **options: seen.update(options))
    _training.adam_decay(None, None, steps=10_000_000)
    factors = [seen["schedule"](k) for k in (0, 249_999, 250_000, 600_000, 5_000_000)]
    assert seen["rate"] == 1e-4
    assert factors == pytest.approx([1.0, 1.0, 0.1, 0.01, 1e-3])


def test_ends_against_each_member_by_itself(trained):
    ends = {name: array.values.ravel() for name, array in _runs.ends(trained).items()}
    for i in range(6):
        delta, net, x = deltas(trained, i)
        assert ends["unfitted"][i] == int((delta > 0).sum())
        assert ends["misclassified"][i] == int((delta >= trained.margin).sum())
        assert ends["share"][i] == pytest.approx(float((delta > 0).sum()) / 72)
        assert ends["closest"][i] == pytest.approx(float(delta.abs().min()))
        loss = float(delta.clamp_min(0).square().mean() / 2)
        assert ends["loss"][i] == pytest.approx(loss, rel=1e-9, abs=1e-30)
        alive = torch.stack([(z > 0).any(1) for z in net.preactivations(x)]).all(0)
        assert ends["unreached"][i] == int(((delta > 0) & ~alive).sum())
    assert (ends["classes"][:3] == rg.measure.RunClass.SAT).all()
    assert (ends["unfitted"][3:] > 4).all()


def test_tanh_has_no_dead_runs():
    trained = _runs.train(3, 2, 1, [40], [0], steps=20, activation="tanh")
    assert _runs.ends(trained)["unreached"].values.item() == 0


def test_unmet_points_along_the_way(trained):
    read = _runs.unfitted_at(trained, [0, 300, 1200]).reshape(6, 3)
    history = trained.run.history
    for i in range(6):
        for k, moment in enumerate((0, 300, 1200)):
            last = int((history["step"][i] <= moment).sum()) - 1
            p = trained.counts[i]
            assert read[i, k] == round(p * (1 - float(history["satisfied"][i, last])))
    assert (read[3:, 2] == _runs.ends(trained)["unfitted"].values[1]).all()


def test_stability_against_automatic_differentiation(trained):
    jammed = np.full(6, int(rg.measure.RunClass.JAMMED))
    jammed[:3] = int(rg.measure.RunClass.SAT)
    found = _stability.stability(trained, jammed)
    assert np.isnan(found["negative"][:3]).all()
    delta, net, x = deltas(trained, 4)
    weights = delta.clamp_min(0)
    y = trained.points_of(4)[1]
    names, values = zip(*net.named_parameters(), strict=True)
    sizes = [value.numel() for value in values]

    def pulled(flat):
        parts = dict(zip(names, flat.split(sizes), strict=True))
        shaped = {k: v.view_as(dict(net.named_parameters())[k]) for k, v in parts.items()}
        f = torch.func.functional_call(net, shaped, (x,))[:, 0]
        return -(weights * y * f).mean()

    flat = torch.cat([value.detach().flatten() for value in values])
    lam = torch.linalg.eigvalsh(torch.func.hessian(pulled)(flat))
    negative = int((lam < -1e-10 * lam.abs().max()).sum())
    assert found["negative"][4] == pytest.approx(negative / trained.weights)
    assert 0.4 < found["signs"][4] < 0.6


def test_rank_of_h0_is_that_of_the_gradients(trained):
    found = ranks(trained)
    assert (found["rank"][:3] == 0).all()
    assert (found["network_part"][:3] == 0).all()
    delta, net, x = deltas(trained, 5)
    features = rg.tangent.TangentKernel(net).features(x[delta > 0])[:, 0]
    rank = int(torch.linalg.matrix_rank(features, rtol=1e-5))
    assert found["rank"][5] == pytest.approx(rank / features.shape[1])
    assert found["network_part"][5] > 0


@pytest.mark.parametrize("c", [0.25, 4.0])
def test_margin_sets_the_scale_alone(trained, c):
    # LAND-38: last layer and margin times c: Delta times c, the loss times c^2
    for i in range(6):
        delta, net, x = deltas(trained, i)
        y = trained.points_of(i)[1]
        with torch.no_grad():
            net.layers[-1].weight *= c
            net.layers[-1].bias *= c
        scaled = (c * trained.margin - y * net(x)[:, 0]).detach()
        torch.testing.assert_close(scaled, c * delta, rtol=1e-12, atol=1e-12)
        assert int((scaled > 0).sum()) == int((delta > 0).sum())
        losses = [
            rg.flow.quadratic_hinge(margin).value(f, y[None]).mean()
            for margin, f in (
                (trained.margin, net(x)[None] / c),
                (c * trained.margin, net(x)[None]),
            )
        ]
        torch.testing.assert_close(losses[1], c**2 * losses[0], rtol=1e-12, atol=1e-15)


def test_cross_entropy_grows_on_and_the_hinge_rests():
    # LAND-16, at a size for a test
    data = _tasks.tasks("random", (0, 1), 10, d=5)
    start = _networks.networks(5, 8, 1, [0, 1])
    runs = [
        _training.adam(start, data, steps=1600, rate=1e-2, loss=loss, until=None)
        for loss in (rg.flow.binary_cross_entropy(), rg.flow.quadratic_hinge(0.5))
    ]
    entropy, hinge = runs
    y = torch.stack([each.y_train for each in data])
    assert (entropy.outputs_train[..., 0] * y > 0).all()
    assert (entropy.losses[:, -1] > 0).all()
    steps = entropy.history["step"][0]
    norms = [entropy.history["weight"][:, steps <= k][:, -1] for k in (200, 400, 800, 1600)]
    assert all((b > a).all() for a, b in pairwise(norms))
    assert (hinge.losses[:, -1] == 0).all()
    assert (hinge.history["gradient"][:, -1] == 0).all()
    last = hinge.history["weight"][:, steps >= 1500]
    torch.testing.assert_close(last, last[:, :1].expand_as(last), rtol=1e-10, atol=0)


def test_runs_that_come_home_are_the_same(trained):
    home = _runs._at_home(trained)
    before, after = (_runs.ends(each) for each in (trained, home))
    for name, array in before.items():
        np.testing.assert_array_equal(after[name].values, array.values)
    for i in (0, 5):
        assert torch.equal(deltas(home, i)[0], deltas(trained, i)[0])
    assert {p.device.type for p in home.start.template.parameters()} == {"cpu"}
    read = (_runs.unfitted_at(each, [300]) for each in (trained, home))
    assert np.array_equal(*read)
