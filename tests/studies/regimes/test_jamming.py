"""Jamming, on scans that are known and on networks worked out by hand."""

import numpy as np
import pytest
import torch
import xarray as xr

from regimes.data import Dataset
from regimes.lab import find
from regimes.nets import FullyConnected, stack
from regimes.studies.regimes.jamming import _scans as scans
from regimes.studies.regimes.jamming import _training as training
from regimes.studies.regimes.jamming._ends import ends
from regimes.studies.regimes.jamming._hessian import negative_shares


@pytest.fixture(scope="module")
def study():
    return find("regimes/jamming")


def known(
    slope=0.75, random_slope=1.0, held=0.6, relu=0.5, short=0.0, gap=1e8, exponent=-0.8, far=1.0
):
    """N* as powers of P on a fine grid of widths; at a constant rate |f| diverges at N = 150."""
    p, width = np.array([250, 500, 1000, 2000]), np.arange(2, 42)
    weights = 11.0 * width + width**2
    shape = (2, 2, 4, len(width), 4)  # labels, trainer, n_train, width, seed
    fit = np.full(shape, np.nan)
    for i, (scale, power) in enumerate(((50, slope), (120, random_slope))):
        stars = scale * (p / 250) ** power
        fit[i, 0] = (weights > stars[:, None])[..., None]
    fit[0, 1, 2] = (weights > 150)[:, None]
    ran = ~np.isnan(fit)
    jammed = np.where(ran, 1 - fit, np.nan)
    unfitted = jammed * np.round(held * weights)[:, None]
    excess = np.abs(weights / 150 - 1)
    norm = 10 * excess**exponent
    norm[weights <= 150] = norm[weights > 150].max()
    norm[weights > 900] *= far
    error = np.broadcast_to(0.2 - 0.03 * np.arange(4)[:, None, None], shape)
    negative = np.broadcast_to(np.array([[relu], [0.45]]), (*shape[:4], 2, 5)).copy()
    negative += 1e-4 * np.arange(5)
    dims = ("labels", "trainer", "n_train", "width", "seed")
    some = ran[..., 0]
    values = {
        "unfitted": unfitted,
        "far": unfitted.copy(),
        "reached": unfitted.copy(),
        "unreached": 0 * unfitted,
        "loss": 1e-3 * jammed,
        "falling": 0 * unfitted,
        "error": np.where(ran, error, np.nan),
        "output_norm": np.where(ran, norm[:, None] * (1 + 0.01 * np.arange(4)), np.nan),
        "rank": unfitted - jammed * short,
        "gap": jammed * gap,
    }
    return xr.Dataset(
        {name: (dims, each) for name, each in values.items()}
        | {
            "parameters": (dims[:4], np.where(some, weights, np.nan)),
            "margin": (dims[:4], np.where(some, 0.5, np.nan)),
            "negative": ((*dims[:4], "activation", "draw"), negative),
        },
        {
            "labels": ["parity", "random"],
            "trainer": ["fast", "constant"],
            "n_train": p,
            "width": width,
            "seed": range(4),
        },
    )


def verdicts(study, dataset):
    return {claim.id: claim.verdict.value for claim in study.claims(dataset)}


def test_half_of_the_curvature_of_relu_is_negative():
    data = training.task("random", "digits", 100, 10)
    relu, tanh = negative_shares(data, 4, 3, "float64")
    assert np.abs(relu - 0.5).max() < 0.1
    assert tanh.shape == (3,)


def test_weights_are_counted():
    assert training.weights_of(5) == 5 * 10 + 25 + 5


def test_a_known_n_star_is_found():
    stars = scans.n_star(known(), "parity")
    np.testing.assert_allclose(stars.middle, 50 * (stars.p / 250) ** 0.75, rtol=0.15)
    assert np.all((stars.low < stars.middle) & (stars.middle < stars.high))
    assert np.all(stars.high / stars.low < 1.5)


def test_n_star_needs_half_of_the_living_runs_to_jam(study):
    dataset = known()
    at = {"labels": "parity", "trainer": "fast", "n_train": 1000}
    before = scans.n_star(dataset, "parity").low[2]
    # three of the four runs at the next width jam: it is the last that does
    wide = dataset.width.values[np.searchsorted(dataset.parameters.sel(at), before) + 1]
    for name, value in (("unfitted", 100.0), ("far", 90.0), ("reached", 90.0), ("loss", 1e-3)):
        dataset[name].loc[at | {"width": wide, "seed": [0, 1, 2]}] = value
    assert scans.n_star(dataset, "parity").low[2] > before
    # no gradient reaches their points: they are dead, the one that is left fits
    dataset["reached"].loc[at | {"width": wide, "seed": [0, 1, 2]}] = 0.0
    assert scans.n_star(dataset, "parity").low[2] == before
    assert "3 runs left out as dead" in study.claims(dataset)[1].why


def test_runs_are_told_apart():
    names = ("unfitted", "far", "reached", "loss")
    rows = [
        (0, 0, 0, 0.0),
        (3, 0, 0, 1e-26),  # short by rounding only
        (3, 2, 0, 0.01),  # both that are far are out of reach
        (50, 40, 30, 0.01),
        (50, 0, 0, 1e-8),  # close to jamming all are short by little
        (5, 5, 5, 0.01),
    ]
    made = xr.Dataset({n: ("run", [float(r[i]) for r in rows]) for i, n in enumerate(names)})
    found = scans.outcomes(made.assign(parameters=100.0))
    assert found.fit.values.tolist() == [1, 1, 0, 0, 0, 0]
    assert found.dead.values.tolist() == [0, 0, 1, 0, 0, 0]
    assert found.jammed.values.tolist() == [0, 0, 0, 1, 1, 0]


def test_known_scans_reproduce(study):
    assert set(verdicts(study, known()).values()) == {"reproduced"}


@pytest.mark.parametrize(
    ("changed", "id"),
    [({"slope": 1.6}, "REG-60"), ({"random_slope": 0.5}, "REG-60"), ({"held": 1.4}, "REG-59"),
     ({"held": 0.15}, "REG-59"), ({"relu": 0.4}, "REG-59"), ({"short": 5}, "REG-59"),
     ({"gap": 1e3}, "REG-59"), ({"exponent": -0.2}, "REG-58"), ({"exponent": -2.0}, "REG-58"),
     ({"far": 300.0}, "REG-58")],
)  # fmt: skip
def test_others_do_not(study, changed, id):
    assert verdicts(study, known(**changed))[id] == "not reproduced"


def test_the_exponent_of_a_known_divergence_is_found():
    found = scans.norms(known(exponent=-1.0))
    assert found.bracket[0] <= 150 < found.bracket[1]
    assert found.exponent(150.0)[0] == pytest.approx(-1.0, abs=1e-6)


def test_scans_that_do_not_hold_n_star_are_not_judged(study):
    wide = known().isel(width=slice(38, None))
    assert set(verdicts(study, wide).values()) == {"inconclusive"}
    part = known()
    part["unfitted"][:, :, 1:] = np.nan
    found = verdicts(study, part)
    assert (found["REG-58"], found["REG-60"]) == ("inconclusive", "inconclusive")
    assert verdicts(study, known().sel(trainer=["fast"]))["REG-58"] == "inconclusive"
    narrow = known().isel(width=slice(0, 25))  # does not reach 10 N*
    assert verdicts(study, narrow)["REG-58"] == "inconclusive"


@pytest.mark.parametrize(
    "asked", [{"labels": ["random"]}, {"labels": ["parity"]}, {"trainer": ["constant"]}]
)
def test_parts_of_the_scan_are_shown_and_what_is_missing_is_not_judged(study, asked):
    dataset = known().sel(asked)
    found = verdicts(study, dataset)
    assert (found["REG-59"], found["REG-60"]) == ("inconclusive", "inconclusive")
    assert len(study.figures(dataset)) == 3


def test_inputs_are_whitened_and_on_the_sphere():
    for labels in training.LABELS:
        x = training.task(labels, "digits", 400, 200).x_train
        torch.testing.assert_close(x.norm(dim=1), torch.full((400,), 10**0.5, dtype=torch.float64))
        torch.testing.assert_close(x.std(0), torch.ones(10, dtype=torch.float64), atol=0.3, rtol=0)


def test_unknown_images_are_refused():
    with pytest.raises(ValueError, match="images must be one of digits, mnist"):
        training.task("parity", "cifar10", 10, 10)


def test_ends_of_networks_worked_out_by_hand():
    """One unit a layer: f = relu(relu(w x)) - 1/4 is dead where x < 0."""

    class Ended:
        pass

    x = torch.tensor([[2.0], [0.5], [-1.0], [-2.0]], dtype=torch.float64)
    y = torch.tensor([1.0, 1.0, 1.0, -1.0], dtype=torch.float64)
    data = Dataset(x, y, x, y, name="line")
    net = FullyConnected(1, 1, 2, parametrization="standard", bias=True, dtype=torch.float64)
    start = stack([net])
    values = {name: torch.zeros_like(v) for name, v in start.parameters.items()}
    for i in range(3):
        values[f"layers.{i}.weight"] += 1.0
    values["layers.2.bias"] -= 0.25
    ended = Ended()
    ended.parameters = values
    ended.outputs_train = ended.outputs_test = start.forward(values, x)
    ended.losses = torch.tensor([[4.0] + [2.0] * 9 + [1.0]], dtype=torch.float64)
    ended.test_predictions = ended.outputs_test[..., 0]
    ended.test_errors, ended.steps = torch.zeros(1), torch.ones(1)
    found = ends(start, ended, data, margin=0.5)
    # f = 1.75, 0.25, -0.25, -0.25: the last three are short, the last two without an active unit
    assert [found[n][0] for n in ("unfitted", "far", "reached", "unreached")] == [3, 3, 1, 2]
    assert found["falling"][0] == 0.5
    # gradients of the two dead points are the same: the output bias alone
    assert found["rank"][0] == 2
    assert found["gap"][0] > 1e5
