"""Networks and data that make numbers doubtful, and what is said of them."""

import copy

import pytest
import torch
from torch import nn

import regimes as rg
from regimes.diagnosis._words import MEANINGS


@pytest.fixture(autouse=True)
def own_draws():
    """Layers and loaders of torch draw from its global generator."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


class Centred(nn.Module):
    """Takes the mean of the batch off: samples interact in any mode."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 2)

    def forward(self, x):
        made = self.linear(x)
        return made - made.mean(0)


def moved(network, by=0.01):
    after = copy.deepcopy(network)
    with torch.no_grad():
        for p in after.parameters():
            p += by
    return after


@pytest.fixture
def points():
    x = torch.randn(100, 4, generator=torch.Generator().manual_seed(0))
    return x, (x[:, 0] > 0).long()


def test_samples_that_interact_are_refused(points):
    net = Centred()
    with pytest.raises(ValueError, match="samples interact even in evaluation mode"):
        rg.diagnose(moved(net), points, before=net)
    norm = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8, track_running_stats=False))
    with pytest.raises(ValueError, match="track_running_stats=True"):
        rg.diagnose(norm, (points[0], points[1]))


def test_batch_norm_that_saw_no_data_takes_its_statistics_from_the_probes(points):
    """Then both moments are normalised, and a network that only saw data has not changed."""
    x, y = points
    before = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
    before[0].weight.data *= 10
    after = copy.deepcopy(before)
    after[1].momentum = None
    after.train()(x)
    after[3].weight.data += 1e-4
    found = rg.diagnose(after, (x, y), before=before, probes=100)
    assert any("had seen no data" in sentence for sentence in found.warnings)
    assert found.numbers["kernel_change"].value < 0.01
    assert int(before[1].num_batches_tracked) == 0  # the user's own is as it was


def test_half_precision_is_measured_in_single(points):
    x, y = points
    net = nn.Sequential(nn.Linear(4, 20), nn.ReLU(), nn.Linear(20, 2))
    found = rg.diagnose(moved(net).bfloat16(), (x.bfloat16(), y), before=net.bfloat16())
    assert any("half precision" in sentence for sentence in found.warnings)
    assert found.numbers["kernel_change"].error < found.numbers["kernel_change"].value


def test_a_frozen_network_has_no_kernel(points):
    net = nn.Linear(4, 2).requires_grad_(False)
    with pytest.raises(ValueError, match="no parameter of the network requires a gradient"):
        rg.diagnose(net, points)


def test_imbalance_is_told(points):
    x, _ = points
    y = (torch.arange(100) < 8).long()
    net = nn.Sequential(nn.Linear(4, 20), nn.ReLU(), nn.Linear(20, 2))
    found = rg.diagnose(moved(net), (x, y), before=net)
    assert found.numbers["most_frequent_label"].value == pytest.approx(0.92)
    assert any("One label holds 92%" in sentence for sentence in found.warnings)
    assert 0 < found.numbers["label_alignment_after"].value < 1
    three = nn.Linear(4, 3)
    found = rg.diagnose(moved(three), (x, y), before=three)
    assert any("1 of 3 classes have fewer than 5" in sentence for sentence in found.warnings)


def test_a_training_without_gain_is_told(points):
    net = nn.Sequential(nn.Linear(4, 20), nn.ReLU(), nn.Linear(20, 2))
    found = rg.diagnose(moved(net, 1e-4), points, before=net)
    assert found.regime == "lazy"
    assert any("did not clearly improve" in sentence for sentence in found.warnings)


def test_a_loader_that_shuffles_is_told(points):
    data = torch.utils.data.TensorDataset(*points)
    net = nn.Linear(4, 2)
    state = torch.get_rng_state()
    loader = torch.utils.data.DataLoader(data, batch_size=20, shuffle=True)
    found = rg.diagnose(moved(net), loader, before=net, probes=40)
    assert any("loader of training points shuffles" in each for each in found.warnings)
    assert torch.equal(torch.get_rng_state(), state)
    own = torch.Generator().manual_seed(0)
    loader = torch.utils.data.DataLoader(data, batch_size=20, shuffle=True, generator=own)
    found = rg.diagnose(moved(net), loader, before=net, probes=40)
    assert not any("shuffles" in each for each in found.warnings)


def test_texts_of_many_lengths_must_be_padded():
    net = nn.Linear(4, 2)
    ragged = [(torch.ones(3, 4), torch.zeros(3).long()), (torch.ones(3, 5), torch.zeros(3).long())]
    with pytest.raises(ValueError, match="padded to one length"):
        rg.diagnose(net, ragged)


def test_a_small_memory_changes_the_way_and_not_the_verdict(points):
    net = nn.Sequential(nn.Linear(4, 50), nn.ReLU(), nn.Linear(50, 2))
    after = moved(net, 0.003)
    much, little = (
        rg.diagnose(after, points, before=net, memory=memory) for memory in ("1GiB", "150kB")
    )
    assert much.regime == little.regime == "lazy"
    ratio = much.numbers["kernel_change"].value / little.numbers["kernel_change"].value
    assert 0.5 < ratio < 2


def test_what_the_budget_leaves_out_is_named(points):
    net = nn.Sequential(nn.Linear(4, 20), nn.ReLU(), nn.Linear(20, 2))
    found = rg.diagnose(moved(net), points, before=net, budget=1e-6)
    assert "kernel_change" in found.numbers
    assert "sharpness" not in found.numbers
    assert any("left no time for" in each and "curvature" in each for each in found.warnings)


def test_what_cannot_be_measured_is_named(points):
    net = nn.Linear(4, 2)

    def weighted(outputs, labels):
        return (outputs.logsumexp(1) - outputs[:, 0]).sum()

    found = rg.diagnose(moved(net), points, before=net, loss=weighted)
    assert any("could not be measured" in each for each in found.warnings)
    assert found.numbers["kernel_change"].value == pytest.approx(0, abs=1e-6)


def test_deformations_are_those_of_the_measure(digits):
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10))
    found = rg.diagnose(moved(net), digits, before=net, probes=100)
    assert 0.2 < found.numbers["deformation_stability_before"].value < 5
    flat = nn.Sequential(nn.Linear(64, 10))
    pair = (digits.x_test.flatten(1), digits.y_test)
    assert "deformation_stability_after" not in rg.diagnose(flat, pair, probes=50).numbers


def test_every_number_has_a_heading_in_the_manual():
    from pathlib import Path

    page = Path(__file__).parents[2] / "docs" / "ideas" / "diagnosis.md"
    heads = {
        line[3:] for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("## ")
    }
    assert heads == {*MEANINGS, "The verdict"}


@pytest.mark.parametrize(
    ("loss", "told"),
    [
        ("cross-entropy", r"^unknown loss 'cross-entropy'; use one of: cross_entropy"),
        (nn.CrossEntropyLoss, "^loss must be a name, a Loss or a function"),
    ],
)
def test_an_unknown_loss_is_refused_before_anything_is_trained(digits, loss, told):
    net = rg.nets.FullyConnected(64, 4, out_dim=10)
    with pytest.raises(ValueError, match=told):
        rg.diagnose(net, digits, loss=loss)
