"""What is recorded of the tangent kernel on one probe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from regimes._check import positive_int
from regimes.measure import (
    center,
    effective_rank,
    flatten_kernel,
    label_alignment,
    layer_alignment,
    spectrum,
    spectrum_summary,
    trace_ratio,
)


@final
@dataclass(frozen=True)
class Wanted:
    """Which numbers of a kernel are recorded.

    Attributes:
        centering: of the kernel whose spectrum and alignment are meant: "class", "global" or None,
            see `measure.center`.
        ratios: k of the shares T_k of the trace that the k largest eigenvalues hold; those beyond
            the number of eigenvalues are left out.
        layers: whether alignment and trace are also those of every layer.
        layer_spectra: whether every layer has its largest eigenvalue and effective rank, too: one
            diagonalisation more per layer.
        eigenvalues: record so many of the largest.
    """

    centering: str | None = "class"
    ratios: Sequence[int] = (40, 80, 160)
    layers: bool = True
    layer_spectra: bool = False
    eigenvalues: int = 0

    def __post_init__(self) -> None:
        if self.centering not in ("class", "global", None):
            raise ValueError(f"centering must be 'class', 'global' or None, got {self.centering!r}")
        if not isinstance(self.ratios, Sequence):
            raise ValueError(f"ratios must be several k, such as (40, 80), got {self.ratios!r}")
        for k in self.ratios:
            positive_int("ratios", k)
        positive_int("eigenvalues", self.eigenvalues, least=0)
        if self.layer_spectra and not self.layers:
            raise ValueError("layer_spectra=True needs layers=True")


def kernel_numbers(
    grams: Mapping[str, Tensor], labels: Tensor, wanted: Wanted | None = None
) -> dict[str, Tensor]:
    """Spectrum, effective rank, trace and label alignment of a kernel, whole and by layer.

    Args:
        grams: layer name -> kernel, (n, n) or (n, c, n, c), as `TangentKernel.by_layer` gives them
            from one pass; they sum to the whole.
        labels: (n,), as for `measure.label_alignment`.
        wanted: which numbers; None for all but the spectra of layers.

    Returns:
        Name -> number (), or (layers,) for names that begin with "layer_", on the CPU in float64.
        "trace" is that of the kernel as it is; "max", "mean", "median", "effective_rank" and
        "trace_ratio_k" are those of the centred kernel [Baratin 2021, eqs. 5 to 7, figs. 2 and 3];
        "alignment" is the CKA with the labels, "alignment_uncentred" the same without centring.
        What is undefined, as the alignment of a kernel that is zero, is NaN.

    >>> y = torch.tensor([1.0, -1.0, 1.0])
    >>> found = kernel_numbers({"only": torch.outer(y, y) + 1e-3 * torch.eye(3)}, y)
    >>> {name: round(float(found[name]), 2) for name in ("alignment", "effective_rank", "trace")}
    {'alignment': 1.0, 'effective_rank': 1.0, 'trace': 3.0}
    """
    wanted = wanted or Wanted()
    whole = _whole(grams)
    matrix = flatten_kernel(whole)
    lam = spectrum(center(whole, wanted.centering)).double()
    summary = spectrum_summary(lam)
    numbers: dict[str, object] = {
        "max": summary.max,
        "mean": summary.mean,
        "median": summary.median,
        "effective_rank": effective_rank(lam),
        "trace": matrix.diagonal().sum(dtype=torch.float64),
        **{f"trace_ratio_{k}": trace_ratio(lam, k) for k in wanted.ratios if k <= len(lam)},
        "alignment": label_alignment(whole, labels, wanted.centering),
        "alignment_uncentred": label_alignment(whole, labels, None),
    }
    if wanted.eigenvalues:
        numbers["eigenvalues"] = lam[: wanted.eigenvalues]
    if wanted.layers:
        aligned = layer_alignment(grams, labels, wanted.centering)
        numbers["layer_alignment"] = _row(aligned[name] for name in grams)
        traces = [
            flatten_kernel(gram).diagonal().sum(dtype=torch.float64) for gram in grams.values()
        ]
        numbers["layer_trace"] = torch.stack(traces)
    if wanted.layer_spectra:
        spectra = [_layer_spectrum(gram, wanted.centering) for gram in grams.values()]
        numbers["layer_max"] = _row(top for top, _ in spectra)
        numbers["layer_effective_rank"] = _row(rank for _, rank in spectra)
    return {
        name: torch.as_tensor(value, dtype=torch.float64).cpu() for name, value in numbers.items()
    }


def _row(values: Iterable[float]) -> Tensor:
    return torch.tensor([*values], dtype=torch.float64)


def _whole(grams: Mapping[str, Tensor]) -> Tensor:
    first, *others = grams.values()
    whole = first.clone()
    for gram in others:
        whole += gram
    return whole


def _layer_spectrum(gram: Tensor, centering: str | None) -> tuple[float, float]:
    """Largest eigenvalue and effective rank; NaN for the rank of a kernel that is zero."""
    lam = spectrum(center(gram, centering)).double()
    return float(lam[0]), float(effective_rank(lam)) if bool(lam[0] > 0) else float("nan")
