"""What training changed: kernels, weights, and the errors of an ensemble of runs."""

from __future__ import annotations

import torch
from torch import Tensor

from regimes._check import real
from regimes.measure._kernel import check_gram, check_tensor


def kernel_change(K: Tensor, K0: Tensor) -> Tensor:
    """`|K - K0| / |K0|`, Frobenius norms on one fixed set of points [Geiger 2020, sec. 5].

    Over seeds average it geometrically.

    Args:
        K: kernel (n, n) or (n, c, n, c), or a stack of R of them, (R, n, n) or (R, n, c, n, c), as
            `tangent.stacked_gram` makes.
        K0: kernel at the start, same shape.

    Returns:
        Shape () for one kernel, (R,) for a stack.

    >>> kernel_change(2 * torch.eye(3), torch.eye(3))
    tensor(1.)
    >>> kernel_change(torch.stack([2 * torch.eye(3), torch.eye(3)]), torch.eye(3).expand(2, 3, 3))
    tensor([1., 0.])
    """
    K, K0 = _kernels("K", K), _kernels("K0", K0)
    members = K.ndim % 2
    return _relative_change("kernels", K, K0, dims=tuple(range(members, K.ndim)))


def weight_change(w: Tensor, w0: Tensor) -> Tensor:
    """`|w - w0| / |w0|` over all parameters as one vector [Geiger 2020, eq. 29].

    Args:
        w: all parameters as one vector (P,), or those of a stack of networks, (R, P).
        w0: parameters at the start, same shape.

    Returns:
        Shape () for one network, (R,) for a stack.

    >>> weight_change(torch.tensor([3.0, 0.0]), torch.tensor([2.0, 0.0]))
    tensor(0.5000)
    >>> weight_change(torch.tensor([[3.0, 0.0], [0.0, 1.0]]), torch.tensor([[2.0, 0.0]] * 2))
    tensor([0.5000, 1.1180])
    """
    if check_tensor("w", w).ndim > 2:
        raise ValueError(
            "weights must be one vector (P,) or a stack of vectors (R, P), got "
            f"{tuple(w.shape)}; flatten them, or use layer_change for one layer"
        )
    return _relative_change("weights", w, check_tensor("w0", w0), dims=(-1,))


def gram_picture(K: Tensor, labels: Tensor) -> Tensor:
    """`K / |K| * P` with rows and columns sorted by label, as in [Geiger 2020, fig. 8].

    Args:
        K: Gram (P, P).
        labels: (P,); the order within a label is kept.

    >>> gram_picture(torch.eye(2), torch.tensor([1, -1]))
    tensor([[1.4142, 0.0000],
            [0.0000, 1.4142]])
    """
    K = _labelled_gram(K, labels)
    order = labels.to(K.device).argsort(stable=True)
    size = torch.linalg.vector_norm(K)
    if float(size) == 0:
        raise ValueError("the kernel is zero")
    return K[order][:, order] / size * len(K)


def block_contrast(K: Tensor, labels: Tensor) -> Tensor:
    """Mean same-label entry minus mean cross-label entry of `K / |K| * P`.

    See docs/themes/regimes.md, "Observables"; the diagonal counts as same-label.

    >>> y = torch.tensor([1.0, 1.0, -1.0, -1.0])
    >>> block_contrast(torch.outer(y, y), y)
    tensor(2.)
    """
    K = _labelled_gram(K, labels)
    labels = labels.to(K.device)
    same = labels[:, None] == labels
    if bool(same.all()):
        raise ValueError("all labels are equal, so there is no cross-label block")
    size = torch.linalg.vector_norm(K.double())
    if float(size) == 0:
        raise ValueError("K is zero, so it has no contrast; give the Gram of a network that is not")
    picture = K.double() / size * len(K)
    return (picture[same].mean() - picture[~same].mean()).to(K.dtype)


def test_error(F: Tensor, y: Tensor) -> Tensor:
    """Fraction of samples with `y F <= 0`, ties being errors.

    Args:
        F: predictions (..., P).
        y: labels +-1, (P,).

    Returns:
        Shape (...), one error for each member of a stack.

    >>> test_error(torch.tensor([0.3, -0.2, 0.0]), torch.tensor([1.0, 1.0, -1.0]))
    tensor(0.6667)
    """
    return (signed_margins(F, y) <= 0).to(F.dtype).mean(-1)


def ensemble_error(F: Tensor, y: Tensor) -> Tensor:
    """Error of the mean prediction over seeds [Geiger 2020, eq. 15].

    Args:
        F: predictions (R, ..., P); the first axis runs over the ensemble.
        y: labels +-1, (P,).

    >>> F = torch.tensor([[2.0, 1.0], [-1.0, 1.0]])
    >>> y = torch.ones(2)
    >>> test_error(F, y).mean(), ensemble_error(F, y)
    (tensor(0.2500), tensor(0.))
    """
    return test_error(_ensemble(F).mean(0), y)


def ensemble_variance(F: Tensor) -> Tensor:
    """Mean over samples of the seed variance of F, with 1/(R-1) [Geiger 2020, eq. 16].

    Args:
        F: predictions (R, ..., P); the first axis runs over the ensemble, R >= 2.

    >>> ensemble_variance(torch.tensor([[0.0, 1.0], [2.0, 1.0]]))
    tensor(1.)
    """
    F = _ensemble(F)
    if len(F) < 2:
        raise ValueError("a variance over seeds needs at least two of them")
    return F.var(0, correction=1).mean(-1)


def unfitted(F: Tensor, y: Tensor, *, margin: float = 1.0) -> Tensor:
    """`N_Delta`, the number of samples with `y F` below the margin [Geiger 2021, sec. 2].

    >>> unfitted(torch.tensor([1.5, 0.5]), torch.ones(2))
    tensor(1)
    """
    return (signed_margins(F, y) < real("margin", margin)).sum(-1)


def tangent_residual(change: Tensor, features: Tensor, *, cutoff: float = 1e-10) -> Tensor:
    """Share of a weight change outside the span of the tangent features [Geiger 2021b, fig. 5].

    `|(1 - P) (w - w0)| / |w - w0|`, P the projection on `span{grad f(w0, x_mu)}`; 0 in the lazy
    limit, where weights move along those gradients only.

    Args:
        change: `w - w0`, (P,).
        features: gradients of the outputs at w0 on the training samples, (n, P) or (n, c, P).
        cutoff: singular values below this share of the largest are not part of the span.

    >>> tangent_residual(torch.tensor([3.0, 4.0]), torch.tensor([[1.0, 0.0]]))
    tensor(0.8000)
    """
    change, features = check_tensor("change", change), check_tensor("features", features)
    rows = features.reshape(-1, features.shape[-1]).double()
    if change.shape != rows.shape[1:]:
        raise ValueError(
            f"change must have shape ({rows.shape[1]},) like a row of features, "
            f"got {tuple(change.shape)}"
        )
    step = change.double()
    size = torch.linalg.vector_norm(step)
    if float(size) == 0:
        raise ValueError("the weights did not change, so no share of the change is defined")
    _, s, right = torch.linalg.svd(rows, full_matrices=False)
    span = right[s > real("cutoff", cutoff) * s[0]]
    return (torch.linalg.vector_norm(step - span.T @ (span @ step)) / size).to(change.dtype)


def _kernels(name: str, K: Tensor) -> Tensor:
    """A Gram, or a stack of Grams along an axis in front."""
    if check_tensor(name, K).ndim % 2 == 0:
        return check_gram(name, K)
    if K.ndim not in (3, 5):
        raise ValueError(
            f"{name} must be a Gram (n, n) or (n, c, n, c), or a stack of them with the members "
            f"first, got shape {tuple(K.shape)}"
        )
    check_gram(f"a member of {name}", K[0])
    return K


def _relative_change(what: str, after: Tensor, before: Tensor, dims: tuple[int, ...]) -> Tensor:
    if after.shape != before.shape:
        raise ValueError(
            f"the two {what} must have one shape, got {tuple(after.shape)} and "
            f"{tuple(before.shape)}"
        )
    size = torch.linalg.vector_norm(before, dim=dims)
    if not bool((size > 0).all()):
        whose = f" of member {int((size == 0).nonzero()[0])}" if size.ndim else ""
        raise ValueError(f"the initial {what}{whose} are zero, so no relative change is defined")
    return torch.linalg.vector_norm(after - before, dim=dims) / size


def _labelled_gram(K: Tensor, labels: Tensor) -> Tensor:
    K = check_gram("K", K)
    if K.ndim != 2 or labels.shape != (len(K),):
        raise ValueError(
            f"K must have shape (P, P) and labels (P,), got {tuple(K.shape)} and "
            f"{tuple(labels.shape)}"
        )
    if not bool(labels.isfinite().all()):
        raise ValueError("labels hold NaN or infinite entries; give one class per sample")
    return K


def _ensemble(F: Tensor) -> Tensor:
    F = check_tensor("F", F)
    if F.ndim < 2:
        raise ValueError(f"F must have shape (R, ..., P) with R seeds first, got {tuple(F.shape)}")
    return F


def signed_margins(F: Tensor, y: Tensor) -> Tensor:
    """`y F`, (..., P), after a look at both."""
    F = check_tensor("F", F)
    if y.ndim == 0 or y.shape not in (F.shape, F.shape[-1:]) or bool((y.abs() != 1).any()):
        raise ValueError(
            f"F must have shape (..., P) and y be +-1 of shape (P,), or of that of F, got "
            f"{tuple(F.shape)} and {tuple(y.shape)}"
        )
    return F * y.to(F.device)
