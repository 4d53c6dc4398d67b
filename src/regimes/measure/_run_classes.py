"""How a run ended that was to fit all its points: constraints left unmet, and the class of the run.

N_Delta counts `Delta_mu = margin - y_mu F_mu > 0` [Geiger 2019, eq. 9]; the classes are ours, see
docs/themes/regimes.md, "Fits that stop, and jamming".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from regimes._check import real
from regimes.measure._kernel import check_tensor
from regimes.measure._observables import signed_margins


class RunClass(IntEnum):
    """How a run ended."""

    NOT_RUN = -1
    SAT = 0  # every margin is reached
    PRECISION = 1  # short of some by rounding alone: as good as SAT
    DEAD = 2  # no gradient of the weights reaches what is not fitted
    JAMMED = 3  # many unmet constraints for each parameter
    UNCONVERGED = 4  # the rest


@dataclass(frozen=True, eq=False)
class UnmetConstraints:
    """Numbers of points short of their margin, one for each run; all of shape (...)."""

    unfitted: Tensor  # N_Delta: points with Delta > 0
    far: Tensor  # those whose Delta is not negligible
    reached: Tensor  # those of them that a gradient of the weights reaches
    unreached: Tensor  # points with Delta > 0 that none reaches


def unmet_constraints(
    F: Tensor,
    y: Tensor,
    active: Tensor,
    *,
    margin: float = 1.0,
    negligible: float = 0.01,
    own: Tensor | None = None,
) -> UnmetConstraints:
    """Count the points short of their margin, `Delta = margin - y F > 0` [Geiger 2019, eq. 9].

    Where a point has no active unit in some hidden layer, F is constant near it and no gradient of
    the weights pulls on it.

    Args:
        F: predictions (..., P).
        y: labels +-1, (P,) or (..., P).
        active: whether a point has an active unit in every hidden layer, (..., P).
        margin: what y F should reach.
        negligible: share of the margin below which Delta does not count as far.
        own: which points a run was trained on, (..., P); None: all. The others are not counted.

    >>> F, active = torch.tensor([2.0, 0.999, 0.5, -0.5]), torch.tensor([True, True, True, False])
    >>> found = unmet_constraints(F, torch.ones(4), active)
    >>> [int(n) for n in (found.unfitted, found.far, found.reached, found.unreached)]
    [3, 2, 1, 1]
    """
    short = real("margin", margin) - signed_margins(F, y)
    if active.shape != short.shape or active.dtype != torch.bool:
        raise ValueError(
            f"active must be truth values of the shape {tuple(short.shape)} of F, got "
            f"{active.dtype} of shape {tuple(active.shape)}"
        )
    unmet = (short > 0) & own_points(own, short)
    far = unmet & (short > real("negligible", negligible) * margin)
    return UnmetConstraints(
        unmet.sum(-1), far.sum(-1), (far & active).sum(-1), (unmet & ~active).sum(-1)
    )


def own_points(own: Tensor | None, values: Tensor) -> Tensor:
    """Truth values of the shape of `values` (..., P): all true, or those that are given."""
    if own is None:
        return torch.ones_like(values, dtype=torch.bool)
    if own.dtype != torch.bool or own.shape not in (values.shape, values.shape[-1:]):
        raise ValueError(
            f"own must be truth values of shape {tuple(values.shape)}, the points that belong to "
            f"each run, got {own.dtype} of shape {tuple(own.shape)}"
        )
    return own.expand(values.shape)


def active_points(hidden: Sequence[Tensor]) -> Tensor:
    """Whether a point has an active unit in every hidden layer, (..., P); a unit of relu.

    Args:
        hidden: pre-activations of each hidden layer, (..., P, h).

    >>> active_points([torch.tensor([[1.0, -1.0], [-1.0, -2.0]])])
    tensor([ True, False])
    """
    layers = [check_tensor(f"hidden[{i}]", layer) for i, layer in enumerate(hidden)]
    if not layers or any(z.ndim < 2 or z.shape[:-1] != layers[0].shape[:-1] for z in layers):
        raise ValueError(
            "hidden must be a list of pre-activations (..., P, h), one for each hidden layer, got "
            f"shapes {[tuple(z.shape) for z in layers]}"
        )
    return torch.stack([(z > 0).any(-1) for z in layers]).all(0)


def late_fall(losses: Tensor) -> Tensor:
    """Share of its loss that a run lost in the last tenth of its records.

    A run that ends at zero loss lost all of it.

    Args:
        losses: (..., times), evenly spaced.

    Returns:
        `1 - loss(end)/loss(0.9 end)`, shape (...).

    >>> late_fall(torch.tensor([[4.0] + [2.0] * 9 + [1.0], [1.0] * 10 + [0.0]]))
    tensor([0.5000, 1.0000])
    """
    losses = check_tensor("losses", losses)
    end, before = losses[..., -1], losses[..., int(0.9 * (losses.shape[-1] - 1))]
    return torch.where(end > 0, 1 - end / before, torch.ones_like(end))


def run_classes(
    unfitted: ArrayLike,
    parameters: ArrayLike,
    loss: ArrayLike,
    far: ArrayLike,
    reached: ArrayLike,
    falling: ArrayLike | None = None,
    *,
    jammed: float = 0.1,
    rounding: float = 1e-25,
    stuck: float = 1e-10,
    settled: float = 0.01,
) -> np.ndarray:
    """Tell runs apart by what they left unmet.

    In this order: SAT with N_Delta = 0; PRECISION with a loss that rounding explains; DEAD when
    there are points far from their margin, none of them reached by a gradient, and more loss than
    `stuck`; JAMMED with `N_Delta > 0.1 N`, if its loss has settled; UNCONVERGED otherwise. A dead
    run usually has N_Delta < 0.1 N; it is the cause that decides here.

    Args:
        unfitted: N_Delta; NaN where nothing ran. All arrays broadcast against each other.
        parameters: N.
        loss: at the end.
        far: points short of their margin by more than a negligible amount.
        reached: those of them that a gradient of the weights reaches.
        falling: fall of the loss over the last tenth of a run; None takes every run as settled.
        jammed: N_Delta/N above which a run is jammed.
        rounding: loss that rounding at the margin explains.
        stuck: loss above which a run may be dead.
        settled: largest fall of a run that has converged.

    Returns:
        Values of `RunClass`, int8.

    >>> found = run_classes([0, 3, 3, 50, 5], 100, [0, 1e-26, 0.1, 0.1, 0.1], [0, 0, 3, 40, 5],
    ...                     [0, 0, 0, 30, 5])
    >>> [RunClass(each).name for each in found]
    ['SAT', 'PRECISION', 'DEAD', 'JAMMED', 'UNCONVERGED']
    """
    given = (unfitted, parameters, loss, far, reached, 0.0 if falling is None else falling)
    short, size, left, distant, pulled, fell = np.broadcast_arrays(
        *(np.asarray(each, dtype=float) for each in given)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        held = (short / size > jammed) & ~(fell > settled)
    return np.select(
        [
            np.isnan(short),
            short == 0,
            left <= rounding,
            (distant > 0) & (pulled == 0) & (left > stuck),
            held,
        ],
        [
            RunClass.NOT_RUN,
            RunClass.SAT,
            RunClass.PRECISION,
            RunClass.DEAD,
            RunClass.JAMMED,
        ],
        RunClass.UNCONVERGED,
    ).astype(np.int8)
