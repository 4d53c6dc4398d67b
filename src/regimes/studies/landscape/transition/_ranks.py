"""Ranks of H0 and size of Hp along a scan of widths [Geiger 2019, sec. V]."""

from __future__ import annotations

import numpy as np

import regimes as rg
from regimes.studies.landscape._runs import Trained


def ranks(trained: Trained) -> dict[str, np.ndarray]:
    """Rank of H0 over n_total, and the largest entry of Hp in modulus, of every run.

    Both are sums over the unmet points, so they are 0 where there is none.
    """
    found = {"rank": np.zeros(trained.start.size), "network_part": np.zeros(trained.start.size)}
    loss = rg.flow.quadratic_hinge(trained.margin)
    for i in range(trained.start.size):
        if not bool((trained.unmet(i) > 0).any()):
            continue
        x, y = (each.double() for each in trained.points_of(i))
        net = trained.ensemble.member(i).double()
        parts = rg.curvature.hessian(net, x, y, loss)
        found["network_part"][i] = float(parts.network.abs().max())
        spectrum = parts.spectrum("gauss_newton")
        found["rank"][i] = rg.measure.mode_counts(spectrum).rank / len(spectrum)
    return found
