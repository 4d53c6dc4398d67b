"""Parity of digits at the smallest size, and its verdicts on known curves."""

import numpy as np
import pytest

from regimes.lab import InlineExecutor, find, run
from regimes.studies.compression.digit_parity import PAPER_P
from regimes.studies.compression.digit_parity._claims import CURVES, KERNELS


@pytest.fixture(scope="module")
def study():
    return find("compression/digit-parity")


@pytest.fixture(scope="module")
def summary(study, smoke_store):
    return run(study, store=smoke_store, executor=InlineExecutor())


def test_errors_are_fractions(summary):
    error = summary.dataset.error
    assert error.sizes["curve"] == len(CURVES)
    assert bool(((error >= 0) & (error <= 0.7)).all())


def test_every_third_size_of_the_paper():
    assert PAPER_P[:3] == (51, 87, 151)
    assert (PAPER_P[-1], len(PAPER_P)) == (6944, 10)


def known(dataset, slopes, p):
    """Curves that are powers of p in place of the measured ones."""
    made = dataset.assign_coords(p=np.array(p))
    values = np.stack([np.array(p, dtype=float) ** -slopes[name] for name in CURVES], axis=-1)
    error = np.broadcast_to(values[:, None], made.error.shape).copy()
    network = np.broadcast_to(values[:, None, 0], made.paired_error.shape).copy()
    return made.assign(
        error=made.error.copy(data=error), paired_error=made.paired_error.copy(data=network)
    )


SLOPES = {
    "network": 0.5,
    "initial NTK": 0.3,
    "final NTK": 0.5,
    "initial last layer": 0.1,
    "final last layer": 0.45,
}


def test_known_curves_reproduce(study, summary):
    exponents, final, last, *_ = study.claims(known(summary.dataset, SLOPES, (200, 400)))
    assert exponents.measured == pytest.approx(0.2)
    assert (exponents.verdict, final.verdict, last.verdict) == ("reproduced",) * 3


def test_curves_in_the_wrong_order_do_not(study, summary):
    wrong = SLOPES | {"network": 0.3, "final NTK": 0.2, "initial NTK": 0.5, "final last layer": 0.2}
    claims = study.claims(known(summary.dataset, wrong, (200, 400)))
    assert [claim.verdict.value for claim in claims[:3]] == ["not reproduced"] * 3


def test_images_of_mnist_are_held_to_the_paper(study, summary):
    data = known(summary.dataset, SLOPES, (200, 6944))
    data = data.assign(pixels=data.pixels * 0 + 784)
    exponents, _, last, _, dimension, _, _ = study.claims(data)
    assert "beta of the initial NTK in [0.22, 0.38]" in exponents.expected
    assert exponents.verdict.value == "reproduced"
    assert "share of all p with the last layer behind the network >= 0.5" in last.expected
    assert "dimension of the last layer in [4, 8]" in dimension.expected


@pytest.mark.parametrize(
    ("dimension", "verdict"),
    [
        ((5.5, 6.5), "reproduced"),
        ((1.4, 1.6), "not reproduced"),
        ((9.0, 10.0), "not reproduced"),
        ((4.0, 5.0), "reproduced"),
        ((3.0, 5.5), "inconclusive"),
    ],
)
def test_six_dimensions_are_asked_of_mnist(study, summary, verdicts, dimension, verdict):
    data = summary.dataset.copy(deep=True)
    data["dimension"][:] = np.array(dimension)[None, :, None]
    assert verdicts(study, data)["COMP-46"] == "reported"
    data = data.assign(pixels=data.pixels * 0 + 784)
    assert verdicts(study, data)["COMP-46"] == verdict


@pytest.mark.parametrize(
    ("factor", "spread", "verdict"),
    [
        (1.0, 0.01, "reproduced"),
        (0.9, 0.01, "not reproduced"),
        (1.1, 0.01, "not reproduced"),
        (1.08, 0.01, "inconclusive"),
    ],
)
def test_the_estimator_is_tried_on_cubes(study, summary, verdicts, factor, spread, verdict):
    data = summary.dataset.copy(deep=True)
    noise = 1 + spread * np.array([-1, 1])[None, :, None]
    data["cube_dimension"][:] = factor * noise * np.array([2, 5])
    found = verdicts(study, data)
    assert found["COMP-46b"] == verdict
    assert found["COMP-46"] == "reported"  # whatever the cubes say


def test_information_is_judged_by_the_first_mode(study, summary):
    info = summary.dataset.information.copy(deep=True)
    info[{"kernel": KERNELS.index("initial NTK"), "mode": 0}] = 0.1
    info[{"kernel": KERNELS.index("final NTK"), "mode": 0}] = 0.6
    claim = study.claims(summary.dataset.assign(information=info))[3]
    assert claim.measured == pytest.approx(0.5)
    assert claim.verdict.value == "reproduced"


def test_without_a_slope_the_exponents_are_not_judged(study, summary):
    def why(data):
        return {claim.id: claim.why for claim in study.claims(data)}["COMP-42"]

    assert why(summary.dataset.isel(p=[0])) == "only p = [40] has run"
    assert "one seed" in why(summary.dataset.isel(seed=[0]))
    faultless = summary.dataset.copy(deep=True)
    faultless.error[{"curve": CURVES.index("network")}] = 0.0
    assert "zero" in why(faultless)
