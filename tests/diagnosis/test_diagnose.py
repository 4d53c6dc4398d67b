"""Verdicts on networks whose regime is known, forms of data, and what is said of bad input."""

import copy
import json
import math

import pytest
import torch
from torch import nn

import regimes as rg
from regimes._random import generator

RATES = {"mlp": 0.5, "cnn": 0.02, "attention": 0.05}


@pytest.fixture(autouse=True)
def own_draws():
    """Layers and loaders of torch draw from its global generator."""
    with torch.random.fork_rng():
        yield


@pytest.mark.parametrize("name", RATES)
@pytest.mark.parametrize(("alpha", "regime"), [(100.0, "lazy"), (1.0, "unclear"), (0.3, "feature")])
def test_the_scale_of_the_outputs_decides(trained, digits, name, alpha, regime):
    before, after = trained(name, alpha, rate=RATES[name])
    found = rg.diagnose(after, digits, before=before, probes=100)
    assert found.regime == regime
    assert (found.confidence > 0.95) == (regime != "unclear")
    assert found.numbers["kernel_change"].error < 0.25 * found.numbers["kernel_change"].value


def test_few_probes_do_not_decide(trained, digits):
    for alpha in (100.0, 0.3):
        before, after = trained("mlp", alpha)
        found = rg.diagnose(after, digits, before=before, probes=8)
        assert found.regime == "unclear"
        assert any("too few" in sentence for sentence in found.reasons)


def test_numbers_are_what_they_say(trained, digits):
    """Against a Jacobian written out, on one batch."""
    before, after = (each.double() for each in trained("mlp", 1.0))
    x, y = digits.x_train[:20].double(), digits.y_train[:20]
    x_test, y_test = digits.x_test[:30].double(), digits.y_test[:30]
    found = rg.diagnose(after, (x, y), (x_test, y_test), before=before, seed=1).numbers

    def jacobian(network, x):
        names = [n for n, p in network.named_parameters() if p.requires_grad]
        values = {n: dict(network.named_parameters())[n].detach() for n in names}
        J = torch.func.jacrev(lambda p: torch.func.functional_call(network, p, (x,)))(values)
        return torch.cat([J[n].flatten(2) for n in names], -1), values

    rows = torch.randperm(20, generator=generator(1, "probes train"))
    changes = []
    for part in rows.tensor_split(2):
        (J0, _), (J1, _) = jacobian(before, x[part]), jacobian(after, x[part])
        K0, K1 = (torch.einsum("iap,jbp->iajb", J, J) for J in (J0, J1))
        changes.append(float((K1 - K0).norm() / K0.norm()))
    assert found["kernel_change"].value == pytest.approx(sum(changes) / 2, rel=1e-8)
    assert found["kernel_change"].error == pytest.approx(
        1.84 * abs(changes[0] - changes[1]) / 2, rel=1e-6
    )
    J, start = jacobian(before, x_test)
    _, end = jacobian(after, x_test)
    step = torch.cat([(end[n] - start[n]).flatten() for n in start])
    linear = (before(x_test) + J @ step).detach()
    went = (after(x_test) - before(x_test)).detach()
    missed = (after(x_test).detach() - linear).norm() / went.norm()
    assert found["first_order_error"].value == pytest.approx(float(missed), rel=1e-8)
    size = torch.cat([value.flatten() for value in start.values()]).norm()
    assert found["weight_change"].value == pytest.approx(float(step.norm() / size), rel=1e-10)
    right = (after(x_test).argmax(1) == y_test).double().mean()
    assert found["accuracy"].value == pytest.approx(float(right))


def test_all_ways_to_give_the_same_points_agree(trained, digits):
    """A data set, pairs, lists of batches, a loader; the order of a loader is its own."""
    before, after = trained("mlp", 10.0)
    pairs = (
        (digits.x_train[:120], digits.y_train[:120]),
        (digits.x_test[:80], digits.y_test[:80]),
    )
    batches = [list(zip(x.split(64), y.split(64), strict=True)) for x, y in pairs]
    loaders = [
        torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*pair), batch_size=50)
        for pair in pairs
    ]
    arrays = [(x.numpy(), y.numpy()) for x, y in pairs]
    values = []
    for train, test in (pairs, batches, loaders, arrays):
        found = rg.diagnose(after, train, test, before=before, probes=120)
        values.append([found.numbers[name].value for name in ("accuracy", "linear_accuracy_end")])
        assert found.probes == (120, 80)
    for other in values[1:]:
        assert other == pytest.approx(values[0], abs=0.03)


def test_fit_trains_a_copy(trained, digits):
    before, after = trained("mlp", 100.0, steps=30)
    state = copy.deepcopy(before.state_dict())

    def fit(network, train):
        assert train is digits
        network.load_state_dict(after.state_dict())

    found = rg.diagnose(before, digits, fit=fit, probes=100)
    assert found.regime == "lazy"
    assert all(torch.equal(state[name], value) for name, value in before.state_dict().items())


def test_a_trained_network_alone_says_what_it_can(trained, digits):
    _, after = trained("cnn", 1.0)
    found = rg.diagnose(after, digits, probes=60)
    assert found.regime == "unclear"
    assert found.confidence == 0.5
    assert "before=" in found.reasons[0]
    assert {"accuracy", "effective_rank_after", "linear_accuracy_end"} <= set(found.numbers)
    assert not any("before" in name or "start" in name for name in found.numbers)
    assert all(math.isnan(each.kernel_change) for each in found.by_layer)


def test_nothing_trained_is_told(trained, digits):
    before, _ = trained("mlp", 1.0, steps=0)
    found = rg.diagnose(before, digits, before=before, probes=60)
    assert found.regime == "unclear"
    assert "nothing was trained" in found.reasons[0]


class Named(nn.Module):
    """Takes inputs by name and returns a mapping, as classifiers of texts do."""

    def __init__(self, seed, outputs=3):
        super().__init__()
        draws = torch.Generator().manual_seed(seed)
        self.words = nn.Parameter(torch.randn(11, 8, generator=draws))
        self.out = nn.Parameter(torch.randn(8, outputs, generator=draws) / 8**0.5)

    def forward(self, ids, mask):
        seen = torch.nn.functional.one_hot(ids, 11).to(self.words) @ self.words
        mean = (seen * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return {"logits": torch.tanh(mean) @ self.out, "loss": mean.sum()}


def test_batches_with_names_and_a_frozen_part():
    draws = generator(0, "texts")
    ids = torch.randint(11, (120, 6), generator=draws)
    batches = [
        {"ids": part, "mask": torch.ones(part.shape), "labels": part[:, 0] % 3}
        for part in ids.split(40)
    ]
    before = Named(0)
    before.words.requires_grad_(False)  # as with adapters on a frozen base
    after = copy.deepcopy(before)
    after.out.data += 0.01
    found = rg.diagnose(after, batches, batches[:1], before=before)
    assert found.regime == "lazy"  # the rest is linear
    assert [each.parameters for each in found.by_layer] == [24]
    assert found.numbers["first_order_error"].value < 1e-5


@pytest.mark.parametrize("kind", ["signs", "zero and one", "numbers", "two numbers"])
def test_one_output_and_regression(kind):
    draws = generator(0, "points")
    x = torch.randn(100, 4, generator=draws)
    y = {
        "signs": x[:, 0].sign(),
        "zero and one": (x[:, 0] > 0).long(),
        "numbers": x[:, 0] * x[:, 1],
        "two numbers": x[:, :2],
    }[kind]
    outputs = 2 if kind == "two numbers" else 1
    before = rg.nets.FullyConnected(4, 30, out_dim=outputs, seed=0)
    after = copy.deepcopy(before)
    for p in after.parameters():
        p.data *= 1.02
    found = rg.diagnose(after, (x[:60], y[:60]), (x[60:], y[60:]), before=before)
    assert found.regime == "lazy"
    assert found.numbers["linear_accuracy_end"].value > (
        0.7 if "n" in kind[:1] or "s" in kind[:1] else 0.4
    )
    assert ("variance" in found.numbers["accuracy"].meaning) == ("numbers" in kind)


def test_short_budgets_are_told(trained, digits):
    before, after = trained("cnn", 100.0)
    found = rg.diagnose(after, digits, before=before, probes=400, budget="0.001s")
    assert any("budget" in sentence for sentence in found.warnings)
    assert found.regime in ("lazy", "unclear")


def test_an_interruption_keeps_what_was_measured(trained, digits):
    before, after = trained("mlp", 100.0)
    said = []

    def progress(sentence):
        said.append(sentence)
        if sentence.startswith("kernels of batch 3"):
            raise KeyboardInterrupt

    found = rg.diagnose(after, digits, before=before, probes=300, progress=progress)
    assert "Interrupted" in found.warnings[0]
    assert "kernel_change" in found.numbers
    assert "linear_accuracy_end" not in found.numbers


def test_a_network_in_training_mode_is_measured_in_evaluation_mode(digits):
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 8), nn.BatchNorm1d(8), nn.Linear(8, 10))
    found = rg.diagnose(net, digits, before=net, probes=60)
    assert net.training
    assert any("evaluation mode" in sentence for sentence in found.warnings)


def test_results_can_be_kept_and_shown(trained, digits, tmp_path):
    before, after = trained("mlp", 0.3)
    found = rg.diagnose(after, digits, before=before, probes=60)
    kept = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert kept["regime"] == "feature"
    assert kept["numbers"]["kernel_change"]["value"] == found.numbers["kernel_change"].value
    text = found.to_html(tmp_path / "new" / "page.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "http" not in text  # nothing is fetched
    assert all(sentence[:20] in text for sentence in found.warnings)
    assert "network.1.layers.0" in text
    assert "Feature learning" in found._repr_html_()
    assert "kernel_change" in str(found)
    assert "feature" in repr(found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "net"}, "model must be a torch.nn.Module"),
        ({"before": nn.Linear(64, 10)}, "one architecture at two moments"),
        ({"fit": print}, "not both"),
        ({"before": None, "fit": 3}, "fit must be a function"),
        ({"budget": "soon"}, "budget must be seconds or text"),
        ({"probes": 1}, "probes must be an integer >= 2"),
        ({"train": "digits"}, "train must be a Dataset, a pair"),
        ({"train": []}, "gave no batch"),
        ({"train": iter([])}, "gave no batch"),
        ({"train": [{"pixels": torch.ones(3, 64)}]}, "has no labels"),
        ({"train": [torch.ones(3, 64)]}, "must be a pair"),
        ({"train": (torch.ones(3, 64), torch.zeros(2))}, "3 inputs and 2 labels"),
        ({"train": (torch.ones(0, 64), torch.zeros(0))}, "train is empty"),
        ({"train": (torch.ones(3, 64), torch.tensor([0, 1, 10]))}, "must lie in 0 to 9"),
        ({"train": (torch.ones(3, 64), torch.full((3, 10), torch.nan))}, "not all finite"),
        ({"train": (torch.ones(3, 64), torch.ones(3, 4))}, r"shape \(3, 4\)"),
        ({"train": (torch.full((3, 64), torch.inf), torch.zeros(3).long())}, "not all finite"),
    ],
)
def test_bad_input(change, message):
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    given = {"model": net, "train": (torch.ones(3, 64), torch.tensor([0, 1, 2])), "before": net}
    given |= change
    model, train = given.pop("model"), given.pop("train")
    with pytest.raises(ValueError, match=message):
        rg.diagnose(model, train, **given)
