"""Verdicts on small networks, on augmentation, on transfer and on networks before training."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import find

NAMES = ("fc2", "fc4", "fc6", "lenet", "mini4", "mini8")
IMAGES = ("mnist", "fashion_mnist")
ERRORS = np.array([0.08, 0.07, 0.075, 0.06, 0.03, 0.02])
STABLE = np.array([4.0, 3.0, 3.5, 2.5, 0.4, 0.2])
WIGGLE = np.exp(0.02 * np.array([-1.0, 0.0, 1.0]))


def networks(*, power=1.0, sign=1.0, mean=1.1, robust=1.0, small=1.05):
    """Six networks on two sets of images; errors grow with R_f and D_f, and fall with G_f."""
    R = STABLE**power
    D, G = R**0.5, R ** (-0.5 * sign)
    shape = (2, 6, 3, 2)
    data = {
        name: (
            ("images", "network", "seed", "when"),
            np.broadcast_to(
                np.stack([np.ones((6, 3)), values[:, None] * WIGGLE], -1), shape
            ).copy(),
        )
        for name, values in (("R", R), ("D", D), ("G", G), ("V", np.ones(6)))
    }
    errors = ERRORS[:, None] * WIGGLE[::-1]
    profile = np.stack([np.full(6, 1.0), np.geomspace(1.0, 0.1, 6)])
    delta, noise = (0.1, 1.0, 2.0), np.array([0.01, 0.0316, 0.1, 0.316, 1.0, 3.16, 10.0])
    smooth = np.where(noise > 0.3, noise**2.6 * 0.3**-0.6, noise**2)

    def each(*values):
        """Values by network (6, ...) repeated over images and seeds."""
        dims, found = values
        whole = np.broadcast_to(found[None, :, None], (2, 6, 3, *found.shape[1:]))
        return ("images", "network", "seed", *dims), whole * WIGGLE.reshape(
            1, 1, 3, *[1] * (found.ndim - 1)
        )

    elsewhere = np.stack([R**robust, R**robust], -1)
    bent = np.stack([[[1.6, small, 1.0], [1.0, 1.0, 1.0]]] * 6)
    data |= {
        "error": (("images", "network", "seed"), np.stack([errors, errors])),
        "R_mean": each((), mean * R),
        "R_elsewhere": each(("setting",), elsewhere),
        "R_interpolated": each(("interpolation", "delta"), bent),
        "profile": each(("when", "layer"), np.stack([profile] * 6)),
        "shaken": each(("when", "noise"), np.stack([np.stack([smooth, smooth])] * 6)),
        "image_norm": (("images", "network", "seed"), np.full((2, 6, 3), 9.0)),
    }
    dataset = xr.Dataset(
        data,
        {"images": list(IMAGES), "network": list(NAMES), "seed": range(3), "delta": list(delta)},
    )
    return dataset.assign(noise=("noise", noise))


JUDGED = ("11", "13", "14", "16", "21", "22", "25", "28", "29", "32")


def test_small_networks_that_follow_the_paper(verdicts):
    found = verdicts(find("deformations/networks"), networks())
    assert {id: found[id] for id in found if id[4:] in JUDGED} == {
        f"DEF-{number}": "reproduced" for number in JUDGED
    }
    assert {found[f"DEF-{number}"] for number in (37, 38, 44)} == {"inconclusive"}


@pytest.mark.parametrize(
    ("change", "fails"),
    [
        ({"power": -1.0}, {"DEF-13", "DEF-14", "DEF-16", "DEF-22", "DEF-25", "DEF-29"}),
        ({"sign": -1.0}, {"DEF-25"}),
        ({"mean": 2.0}, {"DEF-28"}),
        ({"robust": -1.0}, {"DEF-29"}),
        ({"small": 1.6}, {"DEF-11"}),
    ],
)
def test_each_distortion_of_small_networks_fails_its_own_claims(verdicts, change, fails):
    found = verdicts(find("deformations/networks"), networks(**change))
    assert {id for id in found if found[id] == "not reproduced"} == fails


def augmented(deformed=0.3, shifted=0.8):
    end = np.array([1.0, shifted, deformed])[:, None] * 0.3 * WIGGLE[[0, 2, 1]]
    return xr.Dataset(
        {
            "R": (("augment", "seed", "when"), np.stack([np.ones_like(end), end], -1)),
            "points": (("augment", "seed"), np.full((3, 3), 2000.0)),
        },
        {"augment": ["none", "shift", "deformation"], "seed": range(3)},
    )


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, "reproduced"),
        ({"deformed": 1.5}, "not reproduced"),
        ({"shifted": 0.1}, "not reproduced"),
    ],
)
def test_augmentation(verdicts, change, verdict):
    assert verdicts(find("deformations/augmentation"), augmented(**change))["DEF-20"] == verdict


@pytest.mark.parametrize(
    ("slow", "fast"), [((0.8, 0.8), (1.2, 0.8)), ((0.8, 1.2), (0.8, 0.8)), ((1.2, 1.2),) * 2]
)
def test_transfer_needs_both_to_fall(verdicts, slow, fast):
    starts = np.array([(1.0, 1.0), slow, fast])
    dataset = xr.Dataset(
        {
            "error": (("seed", "start"), WIGGLE[:, None] * starts[:, 0]),
            "R": (("seed", "start"), WIGGLE[:, None] * starts[:, 1]),
            "points": ("seed", [1000.0] * 3),
        },
        {"seed": range(3)},
    )
    found = verdicts(find("deformations/transfer"), dataset)
    for id, pair in (("DEF-27", slow), ("DEF-27b", fast)):
        assert found[id] == ("reproduced" if max(pair) < 1 else "not reproduced")


@pytest.mark.parametrize(("R", "gaussian"), [(1.0, 1.0), (3.0, 1.0), (1.0, 1.2)])
def test_before_training(verdicts, R, gaussian):
    names, images = ["fc4", "lenet", "mini8"], ["mnist", "cifar10"]
    ratio = np.broadcast_to(gaussian * WIGGLE**0.1, (2, 3, 3))
    dataset = xr.Dataset(
        {
            "R": (("images", "network", "seed", "c"), np.broadcast_to(R, (2, 3, 3, 1))),
            "gaussian": (("images", "network", "seed"), ratio),
        },
        {"images": images, "network": names, "seed": range(3), "c": [3.0]},
    )
    found = verdicts(find("deformations/initial"), dataset)
    assert found["DEF-12"] == ("reproduced" if R == 1 else "not reproduced")
    assert found["DEF-34"] == ("reproduced" if gaussian == 1 else "not reproduced")
