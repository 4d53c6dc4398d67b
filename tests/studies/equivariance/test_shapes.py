"""What the verdict on shapes rests on."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import find

STUDY = "equivariance/shapes"


def accuracies(spherical=(0.99, 0.98), planar=(0.99, 0.5)):
    """Accuracies of five seeds, aligned and turned, that scatter by a hundredth."""
    noise = 0.01 * np.random.default_rng(0).standard_normal((2, 5, 2))
    values = np.array([spherical, planar])[:, None] + noise
    scores = np.broadcast_to(values[..., None, None], (2, 5, 2, 2, 5))
    return xr.Dataset(
        {
            "accuracy": (("network", "seed", "tested"), values),
            "scores": (("network", "seed", "tested", "mean", "score"), scores),
        },
        {"network": ["spherical", "planar"], "seed": np.arange(5)},
    )


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        (accuracies(), "reproduced"),
        (accuracies(spherical=(0.99, 0.85)), "not reproduced"),
        (accuracies(planar=(0.99, 0.9)), "not reproduced"),
        (accuracies(spherical=(0.4, 0.4)), "not reproduced"),
        (accuracies().isel(network=[0]), "inconclusive"),
    ],
)
def test_turning_is_to_cost_the_planar_network_alone(verdicts, made, verdict):
    assert verdicts(find(STUDY), made)["EQU-18"] == verdict


def test_both_networks_are_measured(smoke):
    data = smoke(STUDY).dataset
    assert data.accuracy.dims == ("network", "seed", "tested")
    assert bool(((data.accuracy >= 0) & (data.accuracy <= 1)).all())
