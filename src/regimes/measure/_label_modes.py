"""What the leading eigenvectors of a kernel tell about a binary label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import positive_int
from regimes.measure._kernel import check_gram, check_tensor
from regimes.measure._kernel_pca import kernel_pca
from regimes.measure._mutual_information import mutual_information


@dataclass(frozen=True, eq=False)
class LabelModes:
    """One kernel on p labelled points, seen through its first r eigenvectors.

    Tensors are float64 on the CPU.
    """

    information: Tensor  # (r,), bits, raw Gram, estimate with its floor
    information_centered: Tensor  # (r,), the same for the double-centred Gram
    projection: Tensor  # (r,), omega^2 of the label, raw Gram
    projection_centered: Tensor  # (r,)
    share: float  # of the top eigenvalue in the trace, raw Gram
    norm: Tensor  # (ridges,), RKHS norm of the label, trace-one operator, ridge added
    plane_error: float  # of neighbours in the plane of the first two eigenvectors
    plane: Tensor  # (2, p), these two, mean square 1


def label_modes(
    G: Tensor, y: Tensor, r: int = 10, *, ridges: Sequence[float] = (0.01,)
) -> LabelModes:
    """Information, projections and norm of a label on a kernel [Paccolat 2021, sec. 5.1].

    The source's formulas are those of the raw kernel, whose first mode is nearly constant; what the
    double-centred one gives is reported beside them.

    Args:
        G: Gram (p, p).
        y: labels +-1, (p,), nearly balanced.
        r: eigenvectors looked at, at least two.
        ridges: added to the eigenvalues of the trace-one operator in the norm, one value for each.

    >>> y = torch.tensor([1.0, -1.0]).repeat(20)
    >>> x = torch.stack([3 * y + torch.linspace(-1, 1, 40), torch.linspace(-2, 2, 40)], 1)
    >>> found = label_modes(x @ x.T, y, 2)
    >>> found.projection.round(decimals=2), found.plane_error
    (tensor([0.9500, 0.0500], dtype=torch.float64), 0.0)
    """
    G = check_gram("G", G)
    y = check_tensor("y", y.double()).to(G)
    if (r := positive_int("r", r, least=2)) > len(G):
        raise ValueError(f"r must not exceed the number of points, got r={r} for {len(G)} points")
    raw, centred = kernel_pca(G), kernel_pca(G, r, centered=True)
    norms = [float(raw.rkhs_norm(y, ridge=ridge, trace_one=True)) for ridge in ridges]
    plane = raw.functions[:2].double().cpu()
    return LabelModes(
        information=_information(raw.functions[:r], y),
        information_centered=_information(centred.functions, y),
        projection=raw.projections(y)[:r].double().cpu(),
        projection_centered=centred.projections(y).double().cpu(),
        share=float(raw.values[0]) / raw.trace,
        norm=torch.tensor(norms, dtype=torch.float64),
        plane_error=neighbour_error(plane.T, y),
        plane=plane,
    )


def neighbour_error(points: Tensor, y: Tensor, k: int = 5, *, folds: int = 5) -> float:
    """Cross-validated error of the vote of the k nearest neighbours.

    Args:
        points: (p, D).
        y: labels +-1, (p,).
        k: neighbours that vote.
        folds: parts of the points, each classified by the others.

    >>> y = torch.tensor([1.0, -1.0]).repeat(50)
    >>> neighbour_error(torch.stack([y, torch.linspace(0, 1, 100)], 1), y)
    0.0
    """
    from sklearn.model_selection import cross_val_score
    from sklearn.neighbors import KNeighborsClassifier

    points, y = check_tensor("points", points), check_tensor("y", y.double())
    k, folds = positive_int("k", k), positive_int("folds", folds, least=2)
    if points.ndim != 2 or y.shape != points.shape[:1] or bool((y.abs() != 1).any()):
        raise ValueError(
            "points must have shape (p, D) and y be +-1 of shape (p,), got "
            f"{tuple(points.shape)} and {tuple(y.shape)}"
        )
    positive = (y > 0).cpu().numpy()
    fewest = min(positive.sum(), (~positive).sum())
    if fewest < folds or len(y) - -(-len(y) // folds) < k:
        raise ValueError(
            f"{folds} folds need as many points of each label, and {k} neighbours in the rest of "
            f"them; the rarer label has {fewest} of {len(y)} points: use fewer folds or more points"
        )
    score = cross_val_score(KNeighborsClassifier(k), points.cpu().numpy(), positive, cv=folds)
    return float(1 - score.mean())


def _information(functions: Tensor, y: Tensor) -> Tensor:
    found = [mutual_information(phi, y).value for phi in functions]
    return torch.tensor(found, dtype=torch.float64)
