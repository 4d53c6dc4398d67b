"""What one batch of probes says: kernels before and after, whole and by layer."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from regimes.diagnosis._probes import Probes
from regimes.measure import cka, effective_rank, label_alignment, layer_alignment, spectrum

MOST = 500  # rows of a Gram of all outputs; beyond, the sum over outputs is taken


def trace(gram: Tensor) -> float:
    """Of a Gram (n, n) or (n, c, n, c)."""
    rows = gram.shape[0] if gram.ndim == 2 else gram.shape[0] * gram.shape[1]
    return float(torch.trace(gram.reshape(rows, rows)))


def of_one(layers: Mapping[str, Tensor], probes: Probes, outputs: int) -> dict[str, float]:
    """Alignment with the labels and effective rank, of the whole kernel."""
    whole, own = total(layers), next(iter(layers.values())).dtype
    # rounding is that of the layers' Grams
    rank = float(effective_rank(spectrum(whole.to(own)))) if bool(whole.any()) else math.nan
    return {"label_alignment": alignment(whole, probes, outputs), "effective_rank": rank}


def of_two(before: Mapping[str, Tensor], after: Mapping[str, Tensor]) -> dict[str, float]:
    """How far the whole kernel has moved, and how much of that is growth alone."""
    first, last = total(before), total(after)
    same = math.nan
    if bool(first.any()) and bool(last.any()):
        same = float(cka(first, last, centering=None))
    return {"kernel_change": change(first, last), "kernel_similarity": same}


def by_layer(layers: Mapping[str, Tensor], probes: Probes, outputs: int) -> dict[str, float]:
    """Alignment with the labels of each layer's kernel; NaN where it is not defined."""
    if _square(layers):
        return {name: alignment(own, probes, outputs) for name, own in layers.items()}
    return layer_alignment(layers, probes.labels(), _centering(probes))


def total(layers: Mapping[str, Tensor]) -> Tensor:
    """The Gram of the whole network."""
    return torch.stack([own.double() for own in layers.values()]).sum(0)


def change(first: Tensor, last: Tensor) -> float:
    """`|last - first| / |first|`, by Frobenius norms [Geiger 2020, sec. 5]."""
    size = torch.linalg.vector_norm(first.double())
    moved = torch.linalg.vector_norm(last.double() - first.double())
    return float(moved / size) if float(size) > 0 else math.nan


def alignment(gram: Tensor, probes: Probes, outputs: int) -> float:
    """Alignment of a kernel with the labels [Baratin 2021, sec. 3.3]; NaN where it is undefined."""
    try:
        if gram.ndim == 2 and outputs > 1:  # a mean over outputs: against the labels' own kernel
            Y = probes.targets(outputs).to(gram.device)
            return float(cka(gram.double(), Y @ Y.mT, centering="global"))
        return float(label_alignment(gram, probes.labels(), _centering(probes)))
    except ValueError:  # labels or kernel are constant over these few probes
        return math.nan


def _centering(probes: Probes) -> str:
    """Class frequencies are taken off where there are classes, else the mean."""
    return "class" if probes.kind == "classes" else "global"


def _square(layers: Mapping[str, Tensor]) -> bool:
    return all(own.ndim == 2 for own in layers.values())
