"""What the kernel studies share: eigenvectors of a Gram against a binary label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Array

if TYPE_CHECKING:
    from torch import Tensor


MODES = 10  # eigenvectors looked at (Fig. 9)
PER_KERNEL: dict[str, tuple[str, ...]] = {  # what is stored of `Modes`, with its dimensions
    "information": ("mode",),
    "information_centered": ("mode",),
    "projection": ("mode",),
    "projection_centered": ("mode",),
    "norm": ("ridge",),
    "share": (),
    "plane_error": (),
}


@dataclass(frozen=True)
class Modes:
    """One kernel on one set of labelled points (spec `compression` S11, S13, S18)."""

    information: np.ndarray  # (MODES,), bits, raw Gram, estimate with its floor
    information_centered: np.ndarray  # (MODES,), the same for the double-centred Gram
    projection: np.ndarray  # (MODES,), omega^2 of the label, raw Gram
    projection_centered: np.ndarray  # (MODES,)
    share: float  # of the top eigenvalue in the trace, raw Gram
    norm: np.ndarray  # (ridges,), RKHS norm of the label, trace-one operator, ridge added
    plane_error: float  # cross-validated 5-NN error in the plane of the first two eigenvectors
    functions: np.ndarray  # (2, p), the first two eigenvectors, mean square 1


def modes(gram: Tensor, y: Tensor, ridges: Sequence[float]) -> Modes:
    """Everything Figs 9 and 10 show of a kernel, raw and centred."""
    from regimes.measure import kernel_pca

    gram, y = gram.double(), y.double().to(gram.device)
    raw, centred = kernel_pca(gram), kernel_pca(gram, MODES, centered=True)
    plane = raw.functions[:2].cpu().numpy()
    norms = [float(raw.rkhs_norm(y, ridge=ridge, trace_one=True)) for ridge in ridges]
    return Modes(
        information=_information(raw.functions, y),
        information_centered=_information(centred.functions, y),
        projection=raw.projections(y)[:MODES].cpu().numpy(),
        projection_centered=centred.projections(y).cpu().numpy(),
        share=float(raw.values[0]) / raw.trace,
        norm=np.array(norms),
        plane_error=plane_error(plane, y.cpu().numpy()),
        functions=plane,
    )


def plane_error(functions: np.ndarray, y: np.ndarray, *, neighbours: int = 5) -> float:
    """Five-fold cross-validated error of nearest neighbours in the plane (2, p) of two functions.

    >>> y = np.tile([1.0, -1.0], 50)
    >>> plane_error(np.stack([y, np.arange(100) / 100]), y)
    0.0
    """
    from sklearn.model_selection import cross_val_score
    from sklearn.neighbors import KNeighborsClassifier

    score = cross_val_score(KNeighborsClassifier(neighbours), functions.T, y > 0, cv=5)
    return float(1 - score.mean())


def mode_arrays(found: Sequence[Sequence[Modes]]) -> dict[str, Array]:
    """What is stored of all kernels of all members; of the first member also their planes."""
    arrays = {
        name: Array(
            ("seed", "kernel", *dims), [[getattr(one, name) for one in each] for each in found]
        )
        for name, dims in PER_KERNEL.items()
    }
    arrays["plane"] = Array(("kernel", "axis", "sample"), [one.functions for one in found[0]])
    return arrays


def _information(functions: Tensor, y: Tensor) -> np.ndarray:
    from regimes.measure import mutual_information

    return np.array([mutual_information(phi, y).value for phi in functions[:MODES]])
