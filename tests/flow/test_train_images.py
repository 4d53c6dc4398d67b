"""Image networks trained in place: against a plain loop of torch, stopped and resumed."""

import math

import pytest
import torch
from tests.flow.test_checkpoint import Memory, PowerCutError
from torch import nn
from torch.nn import functional as F

from regimes import data, flow, nets


def network(seed=0, dropout=0.0):
    net = nets.make("lenet5", (1, 8, 8), 10, features=(4, 4, 16, 16), seed=seed)
    return nn.Sequential(net, nn.Dropout(dropout)) if dropout else net


def residual(seed=0):
    return nets.make("resnet10", (1, 8, 8), 10, base=2, seed=seed)


def digits(n=256):
    return data.digits(n_train=n, n_test=64)


def weights(net):
    return torch.cat([p.detach().flatten() for p in net.state_dict().values()])


@pytest.mark.parametrize("kind", ["sgd", "adam"])
def test_it_is_the_loop_of_torch(kind):
    ds, net, plain = digits(64), residual(), residual()
    flow.train_images(
        net, ds, steps=4, rate=0.05, optimiser=kind, batch_size=64, weight_decay=0.01,
        channels_last=False,
    )  # fmt: skip
    groups = [
        {"params": [p for p in plain.parameters() if p.ndim > 1], "weight_decay": 0.01},
        {"params": [p for p in plain.parameters() if p.ndim == 1]},
    ]
    options = {"momentum": 0.9} if kind == "sgd" else {}
    rule = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[kind](groups, lr=0.05, **options)
    plain.train()
    for step in range(4):
        for group in rule.param_groups:
            group["lr"] = 0.05 * (1 + math.cos(math.pi * step / 4)) / 2
        rule.zero_grad()
        F.cross_entropy(plain(ds.x_train), ds.y_train).backward()
        rule.step()
    assert torch.allclose(weights(net), weights(plain), atol=2e-3 if kind == "adam" else 1e-4)
    assert not net.training


def test_what_it_says_of_the_run():
    ds, net = digits(), residual()
    seen = []
    run = flow.train_images(
        net, ds, steps=20, look_every=8, batch_size=64, rate=0.05,
        progress=lambda *each: seen.append(each),
    )  # fmt: skip
    assert run.status == "reached"
    assert run.looks.tolist() == [8, 16, 20] == [each[0] for each in seen]
    assert run.losses[-1] < run.losses[0]
    assert run.validation_errors.isnan().all()
    assert (run.kept, run.held_out) == (20, 0)
    with torch.no_grad():
        found = net(ds.x_train)
    assert run.train_loss == pytest.approx(float(F.cross_entropy(found, ds.y_train)), rel=1e-4)
    assert run.train_error == pytest.approx(float((found.argmax(1) != ds.y_train).float().mean()))
    assert run.steps_per_second > 0


def test_the_weights_that_validate_best_are_kept():
    ds, net = digits(), network()
    run = flow.train_images(net, ds, steps=30, look_every=3, rate=0.3, validation=0.25, seed=3)
    assert run.held_out == 64
    best = int(run.validation_errors.argmin())
    assert run.kept == int(run.looks[best])
    probe = data.Points(ds.x_test, ds.y_test)
    run = flow.train_images(net, ds, steps=6, look_every=2, rate=1e-3, validation=probe)
    assert run.test_error == pytest.approx(float(run.validation_errors.min()))


def test_constant_steps_for_every_training_set():
    net = network()
    small = flow.train_images(net, digits(20), steps=5)  # below the batch size
    assert small.steps == 5
    assert math.isfinite(small.train_loss)


def test_rates_by_name():
    ds, net = digits(64), network()
    before = {name: p.detach().clone() for name, p in net.named_parameters()}
    flow.train_images(
        net, ds, steps=2, rate=0.1, rates={"features": 0.0, "features.3": 1.0}, weight_decay=0.0
    )
    moved = {name for name, p in net.named_parameters() if not torch.equal(p, before[name])}
    assert moved == {name for name in before if not name.startswith("features.0")}


@pytest.mark.parametrize("augment", [None, data.DeformationAugment(1e-2, 1), data.ShiftAugment(1)])
def test_a_stopped_run_goes_on_bit_for_bit(augment):
    def run(net, checkpoint=None):
        fresh = None if augment is None else type(augment)(*_settings(augment))
        return flow.train_images(
            net, digits(96), steps=9, look_every=2, batch_size=32, rate=0.1, validation=0.25,
            augment=fresh, checkpoint=checkpoint, seed=2,
        )  # fmt: skip

    whole, stopped, again = (network(dropout=0.3) for _ in range(3))
    expected = run(whole)
    memory = Memory(every=2, stop_at=3)
    with pytest.raises(PowerCutError):
        run(stopped, memory)
    found = run(again, Memory(saved=memory.saved))
    assert torch.equal(weights(again), weights(whole))
    assert torch.equal(found.losses, expected.losses)
    assert torch.equal(found.validation_errors, expected.validation_errors)
    assert found.kept == expected.kept


def _settings(augment):
    return (1e-2, 1) if isinstance(augment, data.DeformationAugment) else (1,)


def test_divergence_is_said():
    run = flow.train_images(network(), digits(64), steps=20, rate=1e6, look_every=4)
    assert run.status == "diverged"
    assert run.steps < 20


def test_half_precision_passes():
    net = residual()
    run = flow.train_images(net, digits(64), steps=3, rate=0.05, precision="bfloat16")
    assert math.isfinite(run.train_loss)
    assert next(net.parameters()).dtype == torch.float32


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps must be"),
        ({"rate": 0.0}, "rate must be"),
        ({"optimiser": "lbfgs"}, "unknown optimiser 'lbfgs'"),
        ({"precision": "float8"}, "unknown precision"),
        ({"schedule": "linear"}, "unknown schedule"),
        ({"validation": 1.5}, "share of the training images"),
        ({"validation": "test"}, "a share such as 0.1, or Points"),
        ({"rates": {"head": 2.0}}, "no parameter's name begins with 'head'"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        flow.train_images(network(), digits(64), **({"steps": 3} | options))


def test_only_classes_can_be_learned():
    with pytest.raises(ValueError, match=r"labels must be classes.*flow\.descend"):
        flow.train_images(network(), digits(64).pipe(data.parity()), steps=1)
