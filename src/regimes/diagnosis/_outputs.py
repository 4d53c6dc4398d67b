"""Accuracies, distances, and how far the first-order model follows the training."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regimes.diagnosis._accuracy import accuracy
from regimes.diagnosis._case import Case, Found, outputs_of
from regimes.diagnosis._networks import displacement
from regimes.diagnosis._number import over_batches
from regimes.diagnosis._words import MEANINGS
from regimes.tangent import linearize

_PARTS = 5  # of the probes, between which errors are taken
_COMMON = 0.6  # share of the most frequent label from which it is told
_ABOVE = 30  # times rounding that outputs must have moved for a relative error
_FEW = 5  # probes of a class, below which little is known of it


def outputs(case: Case, found: Found) -> None:
    """What both networks answer, how far the weights went, and what a linear model would say."""
    shown, last, first = case.shown, case.last, case.first
    after = outputs_of(last, shown, case.pick, "after")
    found.numbers["accuracy"] = accuracy(after, shown, MEANINGS["accuracy"])
    _frequencies(case, found)
    if first is None:
        found.add("output_scale_after", _size(after))
        return
    before = outputs_of(first, shown, case.pick, "before")
    found.numbers["accuracy_before"] = accuracy(before, shown, MEANINGS["accuracy_before"])
    moved = displacement(first, last)
    start = {name: p for name, p in first.named_parameters() if name in moved}
    size = math.sqrt(sum(float((p.detach().double() ** 2).sum()) for p in start.values()))
    step = math.sqrt(sum(float((d.double() ** 2).sum()) for d in moved.values()))
    found.add("weight_change", step / size if size > 0 else math.inf)
    found.add("output_scale_before", _size(before))
    found.add("output_scale_after", _size(after))
    model = linearize(first, origin=last.state_dict(), output=case.pick)
    linear = outputs_of(model, shown, None, "before")
    went, missed = ((after - each).double().square().sum(1) for each in (before, linear))
    rounding = torch.finfo(after.dtype).eps * _size(after) * math.sqrt(after.numel())
    if math.sqrt(float(went.sum())) > _ABOVE * rounding:
        found.linear_error = math.sqrt(float(missed.sum() / went.sum()))
        parts = torch.arange(len(went)).tensor_split(min(_PARTS, len(went)))
        ratios = [float((missed[k].sum() / went[k].sum()).sqrt()) for k in parts]
        error = over_batches(ratios, "").error if len(ratios) > 1 else None
        found.add("first_order_error", found.linear_error, error)
    name = "first_order_accuracy"
    found.numbers[name] = accuracy(linear, shown, MEANINGS[name])


def _size(values: Tensor) -> float:
    return float(values.double().square().mean().sqrt())


def _frequencies(case: Case, found: Found) -> None:
    """What always giving one answer would get right, and which classes are hardly seen."""
    probes = case.shown
    if probes.kind == "numbers":
        return
    counts = torch.unique(probes.y, return_counts=True)[1]
    share = float(counts.max()) / len(probes)
    found.add("most_frequent_label", share)
    if share > _COMMON:
        found.warnings.append(
            f"One label holds {share:.0%} of the probes: an accuracy near that says nothing, and "
            "agreement with the labels rests on the few others."
        )
    if probes.kind == "classes":
        rare = torch.bincount(case.known.y, minlength=case.outputs)
        few = int((rare < _FEW).sum())
        if few and len(case.known) >= 2 * _FEW * case.outputs:
            found.warnings.append(
                f"{few} of {case.outputs} classes have fewer than {_FEW} training probes each; "
                "nothing here is known of them."
            )
