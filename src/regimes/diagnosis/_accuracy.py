"""How often outputs are right, or how much of numbers they explain."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regimes.diagnosis._number import Number, share
from regimes.diagnosis._probes import Probes

_EXPLAINED = " (labels are numbers: the share of their variance that is explained)"


def accuracy(outputs: Tensor, probes: Probes, meaning: str) -> Number:
    """Share of probes that are right; for numbers the share of variance explained.

    Args:
        outputs: of the network or of a model in its place, (n, c).
        probes: with their labels.
        meaning: what the number says.
    """
    found = outputs.detach().double().to(probes.y.device)
    if probes.kind == "numbers":
        missed = ((found - probes.y) ** 2).sum(1)
        spread = ((probes.y - probes.y.mean(0)) ** 2).sum(1)
        whole = float(spread.mean())
        if not whole > 0:
            return Number(math.nan, None, meaning + _EXPLAINED)
        error = float(missed.std()) / whole / math.sqrt(len(missed)) if len(missed) > 1 else None
        return Number(1 - float(missed.mean()) / whole, error, meaning + _EXPLAINED)
    right = found.argmax(1) == probes.y if probes.kind == "classes" else None
    if right is None:
        right = torch.sign(found[:, 0]) == probes.y
    return share(int(right.sum()), len(right), meaning)
