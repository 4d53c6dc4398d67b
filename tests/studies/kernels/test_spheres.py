"""Curves on spheres and the circle: the laws are reproduced, what breaks one is told alone."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import find

SEEDS = np.exp(0.02 * np.linspace(-1, 1, 8))
SIZES = np.array([64, 128, 256, 512, 1024])
D = np.array([1, 2, 3, 5])
ROUGH, SMOOTH = (0.99, 0.50, 0.345, 0.235), (3.9, 2.95, 2.58, 2.34)


def known(rough=ROUGH, smooth=SMOOTH, lengths=(0.0, 0.0), bent=0.05):
    """Local slopes come to the exponents as 1/log n; `lengths`: those of length 10 beside them."""
    x = np.log(SIZES / 1024)
    limits = {1: (1.0, 4.0), 2: (0.5, 3.0), 3: (1 / 3, 8 / 3), 5: (0.2, 2.4)}
    mse = np.empty((4, 2, 2, 8, 5))
    for i, d in enumerate(D):
        for j, found in enumerate((rough[i], smooth[i])):
            for k in range(2):
                slope = found + (lengths[j] if k else 0.0)
                away = np.sign(found - limits[int(d)][j])
                # the curve bends towards the limit as n grows
                curve = -slope * x + bent * away * 0.05 * x**2
                mse[i, j, k] = 1e-3 * np.exp(curve) * SEEDS[:, None]
    return xr.Dataset(
        {"mse": (("d", "teacher", "scale", "seed", "size"), mse)},
        {"d": D, "teacher": ["laplace", "gaussian"], "scale": [0.0, 10.0],
         "seed": np.arange(8), "size": SIZES},
    )  # fmt: skip


def unlike(found):
    return {id for id, verdict in found.items() if verdict != "reproduced"}


@pytest.mark.parametrize(
    ("changed", "failed"),
    [
        ({}, set()),
        ({"rough": (0.99, 0.58, 0.345, 0.235)}, {"KER-07"}),
        ({"rough": (0.8, 0.50, 0.345, 0.235)}, {"KER-07", "KER-21"}),
        ({"smooth": (3.9, 2.5, 2.45, 2.34)}, {"KER-08"}),
        ({"bent": -0.05}, {"KER-09"}),
        ({"lengths": (0.05, 0.0)}, {"KER-10"}),
        ({"lengths": (0.0, 0.4)}, {"KER-10"}),
    ],
)
def test_spheres(verdicts, changed, failed):
    assert unlike(verdicts(find("kernels/spheres"), known(**changed))) == failed


def test_a_large_scan_is_fitted_from_where_the_paper_fits():
    sizes = np.array([64, 256, 1024, 4096, 16_384])
    curve = np.where(sizes < 700, 0.1, sizes.astype(float) ** -0.5)
    mse = np.broadcast_to(curve, (1, 1, 1, 8, 5)) * SEEDS[:, None]
    data = xr.Dataset(
        {"mse": (("d", "teacher", "scale", "seed", "size"), mse)},
        {"d": [2], "teacher": ["laplace"], "scale": [0.0], "seed": np.arange(8), "size": sizes},
    )
    from regimes.studies.kernels.spheres._claims import errors, exponent
    from regimes.studies.kernels.spheres._claims import sizes as kept

    curve = errors(data, 2, "laplace")
    assert kept(curve).tolist() == [1024, 4096, 16_384]
    assert abs(exponent(curve).value - 0.5) < 1e-9


@pytest.mark.parametrize(
    ("slopes", "verdict"),
    [
        ((1.0, 1.95, 2.8, 3.65, 3.9), "reproduced"),
        ((1.2, 1.95, 2.8, 3.65, 3.9), "not reproduced"),
        ((1.0, 1.95, 2.8, 3.65, 6.0), "not reproduced"),  # the student's own limit is missed
    ],
)
def test_the_circle(verdicts, slopes, verdict):
    sizes = np.array([32, 64, 128, 256, 512])
    mse = np.stack([sizes.astype(float) ** -slope * SEEDS[:, None] for slope in slopes])
    data = xr.Dataset(
        {"mse": (("nu", "seed", "size"), mse)},
        {"nu": [0.5, 1.0, 1.5, 2.5, 4.0], "seed": np.arange(8), "size": sizes},
    )
    assert verdicts(find("kernels/circle"), data) == {"KER-14": verdict}
