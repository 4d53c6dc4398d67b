"""Training by Adam instead of gradient flow (docs/themes/regimes.md, "Other trainers")."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import regimes as rg
from regimes.studies._types import Dataset, Ensemble, Run

BATCH = 32
NEARLY = 0.04  # share of points that may lack their margin, as in the papers' programs


def adam(
    start: Ensemble,
    data: Dataset,
    alpha: float | Sequence[float],
    *,
    rate: float,
    max_steps: int,
    look: int,
) -> Run:
    """Batches of the hinge loss until all points fit; `look` steps between looks at all of them."""
    return rg.flow.descend(
        start,
        data,
        rate=rate,
        optimiser="adam",
        batch_size=min(BATCH, len(data.x_train)),
        loss="hinge",
        alpha=alpha,
        subtract_init=True,
        divide_by="alpha",  # Adam's epsilon is then as small beside every gradient
        until="fitted",
        check_every=look,
        max_steps=max_steps,
    )


def unfitted(run: Run) -> np.ndarray:
    """Share of the training points without their margin at the end, for each member."""
    return 1.0 - run.history["satisfied"][:, -1].numpy()


def nearly_fitted(run: Run) -> np.ndarray:
    """1 for the members that count, those with few such points; 0 for the others."""
    return (unfitted(run) < NEARLY).astype(float)
