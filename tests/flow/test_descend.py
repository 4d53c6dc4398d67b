"""Discrete descent against torch's own optimisers."""

from inspect import signature

import pytest
import torch

from regimes import data, flow, nets

OPTIMISERS = {
    "gd": (flow.SGD(), lambda p: torch.optim.SGD(p, lr=0.1)),
    "momentum": (flow.SGD(0.9), lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)),
    "adam": (flow.Adam(), lambda p: torch.optim.Adam(p, lr=0.1)),
}


def setting(p=30, seed=0):
    ds = data.stripe(n_train=p, n_test=20, d=3, seed=seed, dtype=torch.float64)
    return nets.FullyConnected(3, 16, 2, activation="tanh", seed=seed, dtype=torch.float64), ds


@pytest.mark.parametrize("name", OPTIMISERS)
def test_full_batches_follow_torch(name):
    net, ds = setting()
    ours, theirs = OPTIMISERS[name]
    how = {"loss": "cross_entropy", "subtract_init": False, "max_steps": 15}
    run = flow.descend(net, ds, rate=0.1, optimiser=ours, ensemble=2, **how)
    reference = net.reseeded(1)
    optimiser = theirs(reference.parameters())
    for _ in range(15):
        optimiser.zero_grad()
        torch.nn.functional.softplus(-ds.y_train * reference(ds.x_train)[:, 0]).mean().backward()
        optimiser.step()
    torch.testing.assert_close(
        run.outputs_test[1], reference(ds.x_test).detach(), rtol=1e-9, atol=1e-9
    )
    assert run.status == (flow.Status.REACHED,) * 2


def test_what_means_the_same_has_the_same_default():
    both, frozen = signature(flow.gradient_flow).parameters, signature(flow.kernel_flow).parameters
    descent = signature(flow.descend).parameters
    assert {"loss", "alpha", "subtract_init", "divide_by", "grid", "events"} <= descent.keys()
    own = {"until", "max_steps"}  # steps of a length that is given end by their number
    for one, other, left in ((both, frozen, set()), (both, descent, own)):
        for name in (one.keys() & other.keys()) - left:
            assert one[name].default == other[name].default, name


def test_an_epoch_visits_every_point_once_and_members_alone_are_the_same():
    net, ds = setting(p=32)
    options = {"rate": 0.2, "batch_size": 8, "max_steps": 12, "check_every": 4, "seed": 3}
    together = flow.descend(net, ds, ensemble=[5, 6], **options)
    alone = flow.descend(net.reseeded(5), ds, **options)
    torch.testing.assert_close(
        alone.outputs_test[0], together.outputs_test[0], rtol=1e-9, atol=1e-9
    )
    from regimes.flow._batches import Batches

    batches = Batches(torch.tensor([32]), 8, [0])
    epoch = torch.cat([batches.next([0])[0] for _ in range(4)])
    assert epoch.sort().values.tolist() == list(range(32))


def test_schedules_set_the_rate():
    net, ds = setting()
    run = flow.descend(net, ds, rate=1.0, schedule=flow.linear_decay(10), max_steps=10)
    assert run.times[0, -1] == pytest.approx(sum(1 - i / 10 for i in range(10)))
    run = flow.descend(net, ds, rate=1.0, schedule=flow.drops([5], 0.1), max_steps=10)
    assert run.times[0, -1] == pytest.approx(5.5)


def test_decay_pulls_towards_the_start():
    net, ds = setting()
    free = flow.descend(net, ds, rate=0.5, max_steps=60)
    held = flow.descend(net, ds, rate=0.5, max_steps=60, weight_decay=1.0)
    start = dict(net.named_parameters())

    def moved(run):
        return sum((run.parameters[k][0] - start[k]).square().sum() for k in start)

    assert moved(held) < 0.2 * moved(free)


def test_stops_when_the_event_comes_and_says_when_it_does_not():
    net, ds = setting(p=10)
    run = flow.descend(net, ds, rate=1.0, until="correct", max_steps=2000)
    assert run.status == (flow.Status.REACHED,)
    assert run.steps < 2000
    short = flow.descend(net, ds, rate=1e-6, until="correct", max_steps=3)
    assert short.status == (flow.Status.OUT_OF_STEPS,)


def test_a_diverged_member_is_named_and_the_others_go_on():
    net, ds = setting()
    run = flow.descend(net, ds, loss="mse", rate=[0.05, 1e200], ensemble=2, max_steps=20)
    assert run.status == (flow.Status.REACHED, flow.Status.DIVERGED)


def test_bad_input():
    net, ds = setting()
    with pytest.raises(ValueError, match="rate must be"):
        flow.descend(net, ds, rate=0.0)
    with pytest.raises(ValueError, match="larger than the 30"):
        flow.descend(net, ds, rate=0.1, batch_size=31)
    with pytest.raises(ValueError, match="unknown optimiser"):
        flow.descend(net, ds, rate=0.1, optimiser="adan")
    with pytest.raises(ValueError, match="2 of rate, 3 of ensemble"):
        flow.descend(net, ds, rate=[0.1, 0.1], ensemble=3)
    with pytest.raises(ValueError, match="must not be negative"):
        flow.descend(net, ds, rate=0.1, weight_decay=-1.0)
