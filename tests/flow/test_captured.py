"""Steps that are recorded together are the steps that are taken one by one."""

import pytest
import torch

import regimes as rg
from regimes.flow import _captured as captured
from regimes.flow import _descend as descent


def descended(dtype, device="cpu", **options):
    data = rg.data.random_labels(40, 0, 5, seed=1, dtype=dtype).pipe(rg.data.sphere())
    networks = rg.nets.stack(
        lambda seed: rg.nets.FullyConnected(
            5, 4, 2, parametrization="standard", bias=True, seed=seed, dtype=dtype, device=device
        ),
        range(4),
    )
    own = {
        "rate": 3e-2,
        "optimiser": "adam",
        "schedule": rg.flow.hold_then_lower(230),
        "loss": rg.flow.quadratic_hinge(0.5),
        "until": "fitted",
        "n_train": [2, 5, 30, 40],
        "max_steps": 230,
        "check_every": 20,
    }
    moved = data.to(dtype, device)
    return rg.flow.descend(networks, moved, subtract_init=False, divide_by="1", **(own | options))


def same(one, other, **tolerance):
    assert one.status == other.status
    torch.testing.assert_close(one.times, other.times, rtol=0, atol=0)
    for name, value in one.parameters.items():
        torch.testing.assert_close(value.cpu(), other.parameters[name].cpu(), **tolerance)
    torch.testing.assert_close(one.losses, other.losses, **tolerance)


@pytest.mark.parametrize("optimiser", ["adam", "momentum", "sgd"])
def test_places_are_overwritten_by_the_same_steps(monkeypatch, dtype, optimiser):
    whole = descended(dtype, optimiser=optimiser)
    asked = []

    def always(batch, optimiser, steps):
        asked.append((len(batch.ids), steps))
        return True

    monkeypatch.setattr(descent, "worth_capturing", always)
    same(descended(dtype, optimiser=optimiser), whole, rtol=0, atol=0)
    assert {steps for _, steps in asked} == {20, 10}
    if optimiser == "adam":  # members that fit have left
        assert len({members for members, _ in asked}) > 1


def test_what_is_kept_of_a_look_does_not_change_later(monkeypatch):
    monkeypatch.setattr(descent, "worth_capturing", lambda *_: True)
    seen = []

    def watch(snapshot):
        seen.append((snapshot.parameters["layers.0.weight"], snapshot.parameters))
        return snapshot.parameters["layers.0.weight"].clone()

    descended(torch.float64, until=None, observe={"w": rg.flow.Observer(watch)})
    first, last = seen[1][0], seen[-1][0]
    assert not torch.equal(first, last)


def test_nothing_is_recorded_on_a_cpu(monkeypatch):
    def recorded(*_):
        raise AssertionError("a graph on a CPU")

    monkeypatch.setattr(descent, "Captured", recorded)
    descended(torch.float64)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_graph_agrees_with_single_steps_on_a_gpu(monkeypatch, optimiser):
    recorded = descended(torch.float64, "cuda", optimiser=optimiser)
    monkeypatch.setattr(captured, "ENABLED", False)
    plain = descended(torch.float64, "cuda", optimiser=optimiser)
    same(recorded, plain, rtol=1e-6, atol=1e-9)
