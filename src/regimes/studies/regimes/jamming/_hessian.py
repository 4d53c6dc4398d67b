"""Signs of the curvature of the outputs at initialisation: C0 of [Geiger 2019, sec. V]."""

from __future__ import annotations

import numpy as np

from regimes.studies._types import Dataset, Module, Tensor
from regimes.studies.regimes.jamming._training import network

ACTIVATIONS = ("relu", "tanh")
POINTS = 100  # the first training points


def negative_shares(data: Dataset, width: int, draws: int, dtype: str) -> np.ndarray:
    """Share of negative eigenvalues of -sum_mu y_mu Hessian f(x_mu) at initialisation.

    C0 of LAND-17, (activation, draw), with the Delta that weigh the points in H_p left out: all
    points are unfitted there and weigh alike. Exact zeros are not counted.
    """
    import torch

    from regimes.measure import mode_counts

    x, y = data.x_train[:POINTS].cpu(), data.y_train[:POINTS].cpu()
    shares = np.empty((len(ACTIVATIONS), draws))
    for i, activation in enumerate(ACTIVATIONS):
        for seed in range(draws):
            net = network(x.shape[1], width, seed, dtype=dtype, activation=activation)
            values = torch.linalg.eigvalsh(_pull_hessian(net, x, y))
            shares[i, seed] = mode_counts(values).negative_share
    return shares


def _pull_hessian(net: Module, x: Tensor, y: Tensor) -> Tensor:
    """Hessian of -mean_mu y_mu f(x_mu) in all parameters as one vector."""
    import torch
    from torch.func import functional_call, hessian

    names = [name for name, _ in net.named_parameters()]
    shapes = [value.shape for value in net.parameters()]

    def pulled(w: Tensor) -> Tensor:
        parts = w.split([shape.numel() for shape in shapes])
        named = {n: p.view(s) for n, p, s in zip(names, parts, shapes, strict=True)}
        outputs: Tensor = functional_call(net, named, (x,))[:, 0]
        return -(outputs * y).mean()

    flat = torch.cat([value.detach().flatten() for value in net.parameters()])
    found: Tensor = hessian(pulled)(flat)
    return found
