"""What second-order stability asks of a jammed run: C0 of its Hp and N_c of its kinks."""

from __future__ import annotations

import numpy as np

import regimes as rg
from regimes.studies.landscape._runs import Trained


def stability(trained: Trained, classes: np.ndarray) -> dict[str, np.ndarray]:
    """C0, its share of all signs and beta of every jammed run, (R,) each; NaN for the others.

    `negative` is C0 = N_minus/N of Hp, `signs` is N_minus/(N_minus + N_plus), `cusps` is
    beta = N_c/N where the count of pre-activations at zero depends least on their width.
    """
    found = {name: np.full(len(classes), np.nan) for name in ("negative", "signs", "cusps")}
    loss = rg.flow.quadratic_hinge(trained.margin)
    for i in np.flatnonzero(classes == rg.measure.RunClass.JAMMED):
        x, y = trained.points_of(int(i))
        net = trained.ensemble.member(int(i)).double()
        assert isinstance(net, rg.nets.FullyConnected)
        x, y = x.double(), y.double()
        parts = rg.curvature.hessian(net, x, y, loss)
        signs = rg.measure.mode_counts(parts.spectrum("network"))
        found["negative"][i] = signs.negative / trained.weights
        found["signs"][i] = signs.negative_share
        hidden = [z.detach().unsqueeze(0) for z in net.preactivations(x)]
        found["cusps"][i] = float(rg.measure.cusp_count(hidden).total[0]) / trained.weights
    return found
