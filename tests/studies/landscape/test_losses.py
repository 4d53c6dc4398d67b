"""Verdicts on other losses, and the network with batch normalisation."""

import numpy as np
import pytest
import torch
import xarray as xr

from regimes.lab import find
from regimes.studies.landscape.losses import _batch_norm

WIDTHS = np.arange(4, 22)
SEEDS = 4
PLACE = {"dtype": "float64", "device": "cpu"}


@pytest.fixture(scope="module")
def study():
    return find("landscape/losses")


def known(entropy=200.0, rise=0.5, growth=0.05, rest=0.0):
    """N* of 200 with cross-entropy, 220 with the hinge, growing with the margin."""
    rows = [("entropy", "", np.nan, h, entropy) for h in WIDTHS]
    rows += [("hinge", "", np.nan, h, 220.0) for h in WIDTHS]
    rows += [
        ("norm", "", m, h, 100.0 * (1 + rise * m)) for m in (0.0, 0.1, 0.2, 0.4) for h in WIDTHS
    ]
    rows += [("growth", kind, np.nan, np.nan, np.nan) for kind in ("cross_entropy", "hinge")]
    n = np.array([11.0 * row[3] + row[3] ** 2 for row in rows])
    fails = n < np.array([row[4] for row in rows])
    ran = np.isfinite(n)
    norm = np.full((len(rows), SEEDS, 4), np.nan)
    octaves = np.arange(4)
    norm[-2] = np.exp(growth * octaves + 0.01 * np.arange(SEEDS)[:, None])
    norm[-1] = np.exp(rest * octaves)
    loss = np.full((len(rows), SEEDS), np.nan)
    loss[-2:] = [[1e-6] * SEEDS, [0.0] * SEEDS]

    def each(values):
        return ("trial", "seed"), np.repeat(np.where(ran, values, np.nan)[:, None], SEEDS, 1)

    return xr.Dataset(
        {
            "unmet": each(np.where(fails, np.round(n / 2), 0.0)),
            "classes": each(np.where(fails, 3.0, 0.0)),
            "norm": (("trial", "seed", "octave"), norm),
            "final_loss": (("trial", "seed"), loss),
            "wrong": (("trial", "seed"), 0 * loss),
            "weights": ("trial", n),
            "trial_state": ("trial", np.full(len(rows), 2)),
        },
        {"seed": range(SEEDS), "octave": [0.125, 0.25, 0.5, 1.0]}
        | {
            name: ("trial", np.array([row[k] for row in rows]))
            for k, name in enumerate(("block", "kind", "margin", "width"))
        },
    )


@pytest.mark.parametrize(
    ("change", "failing"),
    [
        ({}, set()),
        ({"entropy": 400.0}, {"LAND-13"}),
        ({"rise": -0.8}, {"LAND-65"}),
        ({"growth": 0.0}, {"LAND-16"}),
        ({"growth": -0.1}, {"LAND-16"}),
        ({"rest": 1e-3}, {"LAND-16"}),
    ],
)
def test_each_law_fails_its_claim(study, verdicts, change, failing):
    found = verdicts(study, known(**change))
    assert set(found) == {"LAND-13", "LAND-16", "LAND-65"}
    assert {id for id, verdict in found.items() if verdict == "not reproduced"} == failing
    assert sum(verdict == "reproduced" for verdict in found.values()) == 3 - len(failing)


def test_one_misclassified_point_counts_with_cross_entropy(study, verdicts):
    data = known()
    here = (data.block == "entropy") & (data.weights < 400)
    data["unmet"] = data.unmet.where(~here, 1.0)
    assert verdicts(study, data)["LAND-13"] == "not reproduced"


def test_hidden_layers_have_no_mean_and_unit_variance(dtype):
    name = str(dtype).removeprefix("torch.")
    net = _batch_norm.network(5, 6, 2, 3, dtype=name, device="cpu").eval()
    x = torch.randn(40, 5, generator=torch.Generator().manual_seed(0)).to(dtype)
    hidden = net[1](net[0](x))
    torch.testing.assert_close(hidden.mean(0), torch.zeros(6, dtype=dtype), atol=1e-5, rtol=0)
    torch.testing.assert_close(
        hidden.var(0, unbiased=False).median(), x.new_ones(()), rtol=1e-3, atol=0
    )


def test_seeds_give_networks():
    one, other, again = (_batch_norm.network(5, 6, 1, seed, **PLACE) for seed in (0, 1, 0))
    assert torch.equal(one[0].weight, again[0].weight)
    assert not torch.equal(one[0].weight, other[0].weight)
    assert one[0].weight.abs().max() <= 5**-0.5
