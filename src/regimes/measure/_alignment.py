"""Alignment of kernels with each other and with labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes.measure._centering import center, center_targets
from regimes.measure._kernel import check_gram, check_tensor


@dataclass(frozen=True)
class EasyDifficult:
    """Label alignment on easy and on difficult samples."""

    easy: float
    difficult: float
    ratio: float  # easy / difficult


def cka(G: Tensor, H: Tensor, centering: str | None = "class") -> Tensor:
    """Centred kernel alignment `Tr[G_c H_c] / (|G_c|_F |H_c|_F)` [Baratin 2021, eq. 7].

    In [0, 1] for positive semi-definite kernels, 1 exactly when they are proportional, unchanged
    when either is rescaled.

    Args:
        G: kernel (n, n) or (n, c, n, c).
        H: kernel of the same shape.
        centering: "class", "global" or None; see `center`.

    Returns:
        A tensor with one value.

    >>> K = torch.tensor([[1.0, 0.5], [0.5, 2.0]])
    >>> cka(K, 3 * K)
    tensor(1.)
    """
    G, H = check_gram("G", G), check_gram("H", H)
    if G.shape != H.shape:
        raise ValueError(
            f"the two kernels must have one shape, got {tuple(G.shape)} and {tuple(H.shape)}"
        )
    G_c, H_c = center(G, centering).double(), center(H, centering).double()
    overlap = torch.dot(G_c.flatten(), H_c.flatten())
    return (overlap / (_norm(G_c, centering, G) * _norm(H_c, centering, H))).to(G.dtype)


def label_alignment(G: Tensor, labels: Tensor, centering: str | None = "class") -> Tensor:
    """`Y_c^T G_c Y_c / (|G_c|_F |Y_c|^2)`, the CKA of the kernel with `Y Y^T`.

    [Cortes 2012], [Baratin 2021, sec. 3.3]. With several outputs Y holds the one-hot labels; the
    default centring takes the class frequencies of the batch from its columns.

    Args:
        G: kernel (n, n), or (n, c, n, c) with c outputs.
        labels: class indices (n,) for c > 1 outputs; +-1 or real targets (n,) for one output.
            Real targets (n, c) are taken as they are.
        centering: "class", "global" or None; see `center`.

    Returns:
        A tensor with one value in [0, 1].

    >>> y = torch.tensor([1.0, 1.0, -1.0])
    >>> label_alignment(torch.outer(y, y), y, centering=None)
    tensor(1.)
    """
    value = _label_alignment(G, labels, centering)
    if value is None:
        raise ValueError(_undefined(centering))
    return value


def _label_alignment(G: Tensor, labels: Tensor, centering: str | None) -> Tensor | None:
    """The alignment, or None where nothing is left of the kernel."""
    G = check_gram("G", G)
    outputs = 1 if G.ndim == 2 else G.shape[1]
    Y = center_targets(_targets(labels, len(G), outputs).to(G.device), centering)
    G_c = center(G, centering).double()
    size = torch.linalg.vector_norm(Y)
    if float(size) < 1e-12 * len(G) ** 0.5:
        raise ValueError(
            "labels are constant, so nothing of them is left after centring; give points of two "
            "classes at least"
        )
    flat = Y.reshape(-1)
    if not _remains(G_c, centering, G):
        return None
    scale = torch.linalg.vector_norm(G_c) * size**2
    return (flat @ G_c.reshape(len(flat), -1) @ flat / scale).to(G.dtype)


def layer_alignment(
    grams: Mapping[str, Tensor], labels: Tensor, centering: str | None = "class"
) -> dict[str, float]:
    """Label alignment of each layer's kernel [Baratin 2021, fig. 3].

    Args:
        grams: layer name -> kernel, as the layer-wise kernels of a network come.
        labels: as in `label_alignment`.
        centering: as in `label_alignment`.

    Returns:
        Layer name -> alignment; NaN where it is undefined, because the layer's kernel is zero or
        nothing but rounding is left of it after centring, as of the bias of a linear readout.

    >>> y = torch.tensor([1.0, -1.0])
    >>> layer_alignment({"readout": torch.outer(y, y), "its bias": torch.ones(2, 2)}, y)
    {'readout': 1.0, 'its bias': nan}
    """
    found = {name: _label_alignment(K, labels, centering) for name, K in grams.items()}
    return {name: float("nan") if value is None else float(value) for name, value in found.items()}


def easy_difficult_alignment(
    G_easy: Tensor,
    labels_easy: Tensor,
    G_difficult: Tensor,
    labels_difficult: Tensor,
    centering: str | None = "class",
) -> EasyDifficult:
    """Label alignment on a batch of easy and one of difficult samples, and their ratio.

    [Baratin 2021, sec. 3.4].

    >>> y, noise = torch.tensor([1.0, -1.0, 1.0, -1.0]), torch.eye(4)
    >>> pair = easy_difficult_alignment(torch.outer(y, y), y, torch.outer(y, y) + noise, y)
    >>> round(pair.easy, 6), pair.easy > pair.difficult, pair.ratio > 1
    (1.0, True, True)
    """
    easy = float(label_alignment(G_easy, labels_easy, centering))
    difficult = float(label_alignment(G_difficult, labels_difficult, centering))
    ratio = easy / difficult if difficult else float("inf")
    return EasyDifficult(easy, difficult, ratio)


def _norm(centred: Tensor, centering: str | None, original: Tensor) -> Tensor:
    if not _remains(centred, centering, original):
        raise ValueError(_undefined(centering))
    return torch.linalg.vector_norm(centred)


def _remains(centred: Tensor, centering: str | None, original: Tensor) -> bool:
    """Whether more is left of a kernel than rounding, which centring leaves instead of zeros."""
    floor = 0.0 if centering is None else 4 * torch.finfo(original.dtype).eps
    size = float(torch.linalg.vector_norm(centred))
    return size > floor * float(torch.linalg.vector_norm(original))


def _undefined(centering: str | None) -> str:
    after = "" if centering is None else " after centring"
    return f"a kernel is zero{after}, so its alignment is undefined"


def _targets(labels: Tensor, samples: int, outputs: int) -> Tensor:
    """Labels as float64 targets, (n,) for one output and (n, c) for several."""
    if not isinstance(labels, Tensor) or labels.shape[:1] != (samples,):
        given = tuple(labels.shape) if isinstance(labels, Tensor) else type(labels).__name__
        raise ValueError(f"labels must be a tensor of {samples} entries, got {given}")
    if labels.ndim == 2 and outputs > 1 and labels.shape[1] == outputs:
        return check_tensor("labels", labels).double()
    if labels.ndim != 1:
        raise ValueError(
            f"labels must have shape ({samples},) or real targets ({samples}, {outputs}), "
            f"got {tuple(labels.shape)}"
        )
    if outputs == 1:
        if not labels.is_floating_point() and bool((labels.abs() != 1).any()):
            raise ValueError(
                "a kernel of one output needs labels +-1 or real targets; for class indices give "
                "the kernel of all outputs, or use cka with the Gram of the one-hot labels"
            )
        return check_tensor("labels", labels.double())
    if labels.is_floating_point() or labels.dtype == torch.bool:
        raise ValueError(f"a kernel of {outputs} outputs needs integer class labels")
    if int(labels.min()) < 0 or int(labels.max()) >= outputs:
        raise ValueError(
            f"class labels must lie in 0..{outputs - 1}, "
            f"got {int(labels.min())}..{int(labels.max())}"
        )
    return torch.nn.functional.one_hot(labels.long(), outputs).double()
