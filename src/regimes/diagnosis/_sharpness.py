"""How sharply the loss curves at the end, and what that means for the size of a step."""

from __future__ import annotations

import torch
from torch import Tensor

from regimes.curvature import Curvature
from regimes.curvature._losses import LossLike
from regimes.diagnosis._case import Case, Found
from regimes.diagnosis._number import over_batches
from regimes.diagnosis._probes import Probes

_PART, _PARTS = 50, 3  # probes of a batch, and batches
_TOLERANCE, _MOST = 0.02, 40  # of an eigenvalue, and products it may take


def sharpness(case: Case, found: Found) -> None:
    """The largest eigenvalue of the loss's Hessian, against the step size where it is known."""
    loss = case.loss or usual_loss(case.known)
    values: list[float] = []
    for rows in torch.arange(len(case.known)).split(_PART)[:_PARTS]:
        if values and case.watch.left <= 0:
            break
        case.watch.say(f"curvature of the loss on {len(rows)} probes")
        probes = case.known.part(rows)
        try:
            curve = Curvature(
                case.last, probes.x, labels_for(probes, case.last), loss,
                memory=case.memory, output=case.pick,
            )  # fmt: skip
            pairs = curve.top_eigenpairs(1, tolerance=_TOLERANCE, most=_MOST, repeats=False)
        except (ValueError, RuntimeError, NotImplementedError) as problem:
            found.warnings.append(f"The curvature of the loss could not be measured: {problem}")
            return
        values.append(float(pairs.values[0]))
    told = f" The loss is {loss if isinstance(loss, str) else getattr(loss, '__name__', 'yours')}."
    measured = over_batches(values, "")
    found.add("sharpness", measured.value, measured.error, told)
    if case.step_size is not None:
        half = case.step_size / 2
        error = None if measured.error is None else measured.error * half
        found.add("sharpness_against_step", measured.value * half, error)


def usual_loss(probes: Probes) -> LossLike:
    """The loss that is usual for labels of this kind."""
    usual: dict[str, LossLike] = {"classes": "cross_entropy", "signs": logistic, "numbers": "mse"}
    return usual[probes.kind]


def logistic(F: Tensor, y: Tensor) -> Tensor:
    """`log(1 + exp(-y F))` of every point, for signs y."""
    return torch.nn.functional.softplus(-F * y)


def labels_for(probes: Probes, network: torch.nn.Module) -> Tensor:
    """Labels as losses take them: numbers in the precision of the network."""
    y = probes.labels()
    return y if probes.kind == "classes" else y.to(next(network.parameters()).dtype)
