"""Everything that is read off trained networks that were to fit all their points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes.measure._kernel import check_tensor
from regimes.measure._observables import signed_margins
from regimes.measure._run_classes import (
    active_points,
    late_fall,
    own_points,
    run_classes,
    unmet_constraints,
)


@dataclass(frozen=True, eq=False)
class FitOutcomes:
    """How runs ended, with the numbers that tell; every array of shape (R,)."""

    classes: np.ndarray  # values of `RunClass`
    unfitted: np.ndarray  # N_Delta, points with Delta > 0
    share: np.ndarray  # N_Delta/N
    misclassified: np.ndarray  # points with y F <= 0
    unreached: np.ndarray  # points with Delta > 0 that no gradient of the weights reaches
    loss: np.ndarray
    falling: np.ndarray  # share of its loss that a run lost in the last tenth
    closest: np.ndarray  # smallest |Delta|


def fit_outcomes(
    F: Tensor,
    y: Tensor,
    losses: Tensor,
    hidden: Sequence[Tensor] | None = None,
    *,
    parameters: int,
    margin: float = 1.0,
    own: Tensor | None = None,
    negligible: float = 0.01,
) -> FitOutcomes:
    """Class and constraints of R trained networks.

    The classes are those of docs/themes/regimes.md, "Fits that stop, and jamming".
    `run.outputs_train[..., 0]`, `run.losses` and `net.layers_stacked(run.parameters, x)` have what
    is asked for.

    Args:
        F: predictions on the training points, (R, P).
        y: labels +-1, (P,) or (R, P).
        losses: mean loss at evenly spaced steps, (R, times).
        hidden: pre-activations of the hidden layers, (R, P, h) each, for relu; None where every
            unit has a slope everywhere, as tanh has: then no run is dead.
        parameters: N, weights without biases.
        margin: what y F should reach.
        own: which points each run was trained on, (R, P); None: all.
        negligible: share of the margin below which Delta does not count as far.

    >>> F = torch.tensor([[2.0, 1.5, 1.0], [0.5, -0.5, 0.2]])
    >>> found = fit_outcomes(F, torch.ones(3), torch.tensor([[0.1, 0.0], [0.5, 0.5]]), parameters=9)
    >>> found.classes.tolist(), found.unfitted.tolist(), found.misclassified.tolist()
    ([0, 3], [0, 3], [0, 1])
    """
    if check_tensor("F", F).ndim != 2 or check_tensor("losses", losses).shape[:1] != F.shape[:1]:
        raise ValueError(
            f"F must have shape (R, P) and losses (R, times), got {tuple(F.shape)} and "
            f"{tuple(losses.shape)}"
        )
    if losses.ndim != 2:
        raise ValueError(f"losses must have shape (R, times), got {tuple(losses.shape)}")
    weights = positive_int("parameters", parameters)
    reached = torch.ones_like(F, dtype=torch.bool) if hidden is None else active_points(hidden)
    unmet = unmet_constraints(F, y, reached, margin=margin, negligible=negligible, own=own)
    products, mine = signed_margins(F, y), own_points(own, F)
    gaps = (real("margin", margin) - products).abs().masked_fill(~mine, torch.inf)
    told = {name: count.cpu().numpy() for name, count in vars(unmet).items()}
    last, fall = (t.double().cpu().numpy() for t in (losses[:, -1], late_fall(losses)))
    classes = run_classes(told["unfitted"], weights, last, told["far"], told["reached"], fall)
    return FitOutcomes(
        classes,
        told["unfitted"],
        told["unfitted"] / weights,
        ((products <= 0) & mine).sum(-1).cpu().numpy(),
        told["unreached"],
        last,
        fall,
        gaps.amin(-1).double().cpu().numpy(),
    )
