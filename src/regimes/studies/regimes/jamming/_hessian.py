"""Signs of the curvature of the outputs at initialisation: C0 of [Geiger 2019, sec. V]."""

from __future__ import annotations

import numpy as np

import regimes as rg
from regimes.studies._types import Dataset
from regimes.studies.regimes.jamming._training import network

ACTIVATIONS = ("relu", "tanh")
POINTS = 100  # the first training points


def negative_shares(data: Dataset, width: int, draws: int, dtype: str) -> np.ndarray:
    """Share of negative eigenvalues of -sum_mu y_mu Hessian f(x_mu) at initialisation.

    C0 of LAND-17, (activation, draw), with the Delta that weigh the points in H_p left out: all
    points are unfitted there and weigh alike. Exact zeros are not counted.
    """
    import torch

    x, y = data.x_train[:POINTS].cpu(), data.y_train[:POINTS].cpu()
    shares = np.empty((len(ACTIVATIONS), draws))
    for i, activation in enumerate(ACTIVATIONS):
        for seed in range(draws):
            net = network(x.shape[1], width, seed, dtype=dtype, activation=activation)
            values = torch.linalg.eigvalsh(-rg.tangent.output_hessian(net, x, y))
            shares[i, seed] = rg.measure.mode_counts(values).negative_share
    return shares
