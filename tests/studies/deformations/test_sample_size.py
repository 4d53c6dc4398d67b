"""Verdicts on training-set sizes, where the laws are known."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import find

SIZES = {"mnist": (100, 300, 500, 1000, 2000, 3000, 10_000), "cifar": (100, 250, 800, 2500, 8000)}
OWN = {"fc4": (500, 2000, 10_000), "mini8": (100, 300, 1000, 3000, 10_000)}


@pytest.fixture(scope="module")
def study():
    return find("deformations/sample-size")


def known(*, kind="cifar", slope=-1.0, slower=-0.5, noise=0.3, loss=1e-3, full=0.05, apart=1.0):
    """Laws of P; `slower` is EfficientNet's, `noise` that of G_f, `full` that of the FC network."""
    P = np.array(SIZES[kind], dtype=float)
    names = ("fc4", "mini8") if kind == "mnist" else ("lenet", "resnet18", "efficientnet_b0")
    powers = {"mini8": slope, "resnet18": slope, "efficientnet_b0": slower, "fc4": full}
    seeds = np.exp(0.02 * np.array([-1.0, 0.0, 1.0]))
    shape = (3, len(names), len(P))
    data = {name: np.full((*shape, 2), np.nan) for name in "RDG"}
    lost = np.full(shape, np.nan)
    for k, name in enumerate(names):
        ran = np.isin(P, OWN.get(name, P))
        R = (P[ran] / 100) ** powers.get(name, -0.1)
        R *= 2.0 if name == "fc4" else apart if name == "lenet" else 1.0
        G = (P[ran] / 100) ** noise
        for letter, values in (("R", R), ("G", G), ("D", R * G)):
            data[letter][:, k, ran, 0] = 1.0
            data[letter][:, k, ran, 1] = seeds[:, None] * values
        lost[:, k, ran] = loss
    return xr.Dataset(
        {name: (("seed", "network", "n_train", "when"), each) for name, each in data.items()}
        | {"train_loss": (("seed", "network", "n_train"), lost)},
        {"seed": range(3), "network": list(names), "n_train": P.astype(int)},
    )


LARGE = ("DEF-17", "DEF-18", "DEF-19", "DEF-30", "DEF-36")
SMALL = ("DEF-15", "DEF-17", "DEF-30")


@pytest.mark.parametrize(("kind", "judged"), [("cifar", LARGE), ("mnist", SMALL)])
def test_what_follows_the_laws_is_reproduced(study, verdicts, kind, judged):
    found = verdicts(study, known(kind=kind))
    assert {id for id in found if found[id] == "reproduced"} == set(judged)
    assert found["DEF-31"] == "reported"


@pytest.mark.parametrize(
    ("kind", "change", "fails"),
    [
        ("cifar", {"slope": -0.55}, {"DEF-18"}),
        ("cifar", {"slope": 0.1}, {"DEF-17", "DEF-18", "DEF-19"}),
        ("cifar", {"slower": -1.3}, {"DEF-19"}),
        ("cifar", {"noise": -0.2}, {"DEF-30"}),
        ("cifar", {"apart": 4.0}, {"DEF-36"}),
        ("mnist", {"full": 0.5}, {"DEF-15"}),
        ("mnist", {"slope": 0.1}, {"DEF-17"}),
    ],
)
def test_each_distortion_fails_its_own_claims(study, verdicts, kind, change, fails):
    found = verdicts(study, known(kind=kind, **change))
    assert {id for id in found if found[id] == "not reproduced"} == fails


def test_networks_that_were_not_fitted_do_not_tell_how_rough_they_are(study, verdicts):
    claim = next(each for each in study.claims(known(loss=0.1)) if each.id == "DEF-30")
    assert claim.verdict.value == "inconclusive"
    assert "not fitted" in claim.why
