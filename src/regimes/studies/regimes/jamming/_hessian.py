"""Signs of the curvature of the outputs at initialisation: C0 of [Geiger 2019, sec. V]."""

from __future__ import annotations

from functools import partial

import numpy as np

import regimes as rg
from regimes.studies._types import Dataset, Tensor
from regimes.studies.regimes.jamming._training import network

ACTIVATIONS = ("relu", "tanh")
POINTS = 100  # the first training points


def negative_shares(data: Dataset, width: int, draws: int, dtype: str) -> np.ndarray:
    """Share of negative eigenvalues of -sum_mu y_mu Hessian f(x_mu) at initialisation.

    C0 of LAND-17, (activation, draw), with the Delta that weigh the points in H_p left out: all
    points are unfitted there and weigh alike. Exact zeros are not counted.
    """
    x, y = data.x_train[:POINTS].cpu(), data.y_train[:POINTS].cpu()
    shares = np.empty((len(ACTIVATIONS), draws))
    for i, activation in enumerate(ACTIVATIONS):
        networks = rg.nets.stack(
            partial(network, x.shape[1], width, dtype=dtype, activation=activation), range(draws)
        )
        found = rg.curvature.hessian(networks, x, y, _output_against_label)
        counts = map(rg.measure.mode_counts, found.spectrum("network"))
        shares[i] = [each.negative_share for each in counts]
    return shares


def _output_against_label(f: Tensor, y: Tensor) -> Tensor:
    """A loss of slope -y wherever the output is, so that its Hp is that sum."""
    return -y * f
