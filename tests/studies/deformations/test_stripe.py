"""Verdicts on the stripe, and the network its R_f is measured on."""

import numpy as np
import pytest
import torch
import xarray as xr

from regimes.lab import find
from regimes.studies import _stripe
from regimes.studies.deformations import stripe

P = (128, 512, 2048)


@pytest.fixture(scope="module")
def study():
    return find("deformations/stripe")


def known(*, amplification=0.5, R=-1.0, error=-0.5, start=1.0, reached=1.0):
    seeds = np.exp(0.05 * np.cos(np.arange(6)))
    sizes = np.array(P, dtype=float)

    def law(power, scale=1.0):
        values = scale * seeds * (sizes[:, None] / 100) ** power
        return ("d", "p", "seed"), np.stack([values, values])

    return xr.Dataset(
        {
            "amplification": law(amplification),
            "R": law(R),
            "error": law(error, 0.1),
            "R_start": (("d", "p", "seed"), np.full((2, 3, 6), start) * seeds**0.5),
            "reached": (("d", "p", "seed"), np.full((2, 3, 6), reached)),
        },
        {"d": [5, 10], "p": list(P), "seed": range(6)},
    )


def test_what_follows_the_laws_is_reproduced(study, verdicts):
    assert set(verdicts(study, known()).values()) == {"reproduced"}


@pytest.mark.parametrize(
    ("change", "fails"),
    [
        ({"amplification": 0.3}, {"DEF-40"}),
        ({"R": -0.5}, {"DEF-41"}),
        ({"error": 0.5}, {"DEF-42"}),
        ({"start": 1.6}, {"DEF-43"}),
    ],
)
def test_each_distortion_fails_its_own_claim(study, verdicts, change, fails):
    found = verdicts(study, known(**change))
    assert {id for id in found if found[id] == "not reproduced"} == fails


def test_runs_that_were_stopped_decide_nothing(study, verdicts):
    found = verdicts(study, known(reached=0.0))
    assert {found[id] for id in ("DEF-40", "DEF-41", "DEF-42")} == {"inconclusive"}


def test_the_output_is_that_of_the_network():
    net = _stripe.network(4, 7, 3, dtype="float64")
    own = stripe._member({name: value[None] for name, value in net.state_dict().items()}, 0)
    x = torch.randn(11, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert torch.allclose(stripe._output(own, x), net(x)[:, 0])


def test_a_linear_function_has_the_r_f_of_its_weight():
    """Mean R_f = d/(d-1) |w_perp|^2/|w|^2, where no neuron is ever off."""
    w = torch.tensor([[3.0, 1.0, 2.0]], dtype=torch.float64)
    on = (w, torch.tensor([50.0], dtype=torch.float64), torch.ones(1, dtype=torch.float64))
    x = torch.randn(200, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert stripe._relative(on, None, x, 50, 0) == pytest.approx(1.5 * 5 / 14, rel=0.03)
