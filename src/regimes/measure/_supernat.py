"""SuperNat: gradient descent of a linear model that rescales its own features at every step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import choose, positive_int, real
from regimes.measure._kernel import check_tensor

_RESCALE = {name: name for name in ("contract", "keep_top", "none", "off")}


@dataclass(frozen=True)
class SuperNatRun:
    """Trajectory of a linear model in its original coordinates."""

    weights: Tensor  # (steps + 1, ..., P), f = Phi w with the features as they were given
    eigenvalues: Tensor  # (steps + 1, ..., r), lam_jt of the rescaled features
    left: Tensor  # (..., n, r), u_j
    right: Tensor  # (..., r, P), v_j


def supernat_factors(lam: Tensor, g: Tensor, *, rescale: str = "contract") -> Tensor:
    """Eigenvalues after step 2: `lam_{j,t+1} ~ |g_j| lam_jt`, `g_j = u_j.grad_f L`.

    [Baratin 2021, eqs. 16 and 17]. The isotropic factor that the equation leaves open decides the
    outcome:

    * "contract": factors `|g_j|/max_k |g_k|`, so eigenvalues only shrink and directions that have
      nothing left to learn freeze for good. The default.
    * "keep_top": the largest eigenvalue stays; noise directions are inflated again once the signal
      is fitted, and the run ends where gradient descent does.
    * "none": factors `|g_j|` as they are; where they exceed 1 the run can diverge.
    * "off": no rescaling, plain gradient descent, for comparison.

    Args:
        lam: eigenvalues (..., r).
        g: components of the gradient (..., r).
        rescale: one of the above.

    >>> supernat_factors(torch.tensor([2.0, 1.0]), torch.tensor([0.5, -1.0]))
    tensor([1., 1.])
    """
    lam, g = check_tensor("lam", lam), check_tensor("g", g)
    if lam.shape != g.shape:
        raise ValueError(
            f"lam and g must have one shape (..., r), got {tuple(lam.shape)} and {tuple(g.shape)}"
        )
    return _rescaled(lam, g, choose(rescale, _RESCALE, "rescale"))


def _rescaled(lam: Tensor, g: Tensor, mode: str) -> Tensor:
    """`supernat_factors` without a look at its arguments: a run may diverge."""
    if mode == "off":
        return lam
    size = g.abs()
    top = size.amax(-1, keepdim=True)
    if mode == "contract":
        # A vanished gradient has nothing to say about the features: they stay.
        return torch.where(top > 0, lam * size / torch.where(top > 0, top, 1.0), lam)
    scaled = lam * size
    if mode == "none":
        return scaled
    largest = scaled.amax(-1, keepdim=True)
    safe = torch.where(largest > 0, largest, 1.0)
    return torch.where(largest > 0, scaled * (lam.amax(-1, keepdim=True) / safe), lam)


def supernat_step(
    features: Tensor, weights: Tensor, gradient: Tensor, *, eta: float, rescale: str = "contract"
) -> tuple[Tensor, Tensor]:
    """One SuperNat iteration in reparametrised coordinates [Baratin 2021, fig. 5].

    (1) `w <- w - eta Phi^T grad`; (2) choose `A`; (3) `w <- A^T w`, `Phi(x) <- A^{-1} Phi(x)`,
    which leaves every output as step (1) made it.

    Args:
        features: current features (n, P).
        weights: current weights (P,).
        gradient: derivative of the loss by the outputs, (n,), at these weights.
        eta: learning rate.
        rescale: see `supernat_factors`.

    Returns:
        The new features and weights.
    """
    features, weights = check_tensor("features", features), check_tensor("weights", weights)
    left, s, right = torch.linalg.svd(features, full_matrices=False)
    moved = weights - real("eta", eta, above=0) * features.T @ gradient
    lam = s**2
    new = supernat_factors(lam, left.T @ gradient, rescale=rescale)
    root = (lam / new).sqrt()  # the eigenvalues sqrt(nu_j) of A
    if not bool(root.isfinite().all()):
        raise ValueError(
            "a direction was rescaled to exactly zero, which no invertible A does; follow the run "
            "in original coordinates with `supernat`"
        )
    along = right @ moved
    return (left * new.sqrt()) @ right, moved + right.T @ ((root - 1) * along)


def supernat(
    features: Tensor,
    gradient: Callable[[Tensor], Tensor],
    *,
    eta: float | Tensor,
    steps: int,
    rescale: str = "contract",
    cutoff: float = 1e-10,
) -> SuperNatRun:
    """Follow SuperNat from w = 0 in the original coordinates of a linear model `f = Phi w`.

    [Baratin 2021, sec. 4.1.2]: natural gradient with metric `A_t A_t^T`, that is
    `delta f_j = -eta lam_jt u_j.grad_f L` with the singular vectors fixed and the eigenvalues
    updated by `supernat_factors`. The function values equal those of iterated `supernat_step`.

    Args:
        features: (..., n, P); leading axes are independent runs.
        gradient: outputs (..., n) -> derivative of the loss by them, e.g. `lambda f: f - y`.
        eta: learning rate, a number or one per run.
        steps: number of iterations.
        rescale: see `supernat_factors`.
        cutoff: singular values below this share of the largest carry no update.

    Returns:
        The trajectory; infinite or NaN from where a run diverges, as it does for a large eta.

    >>> phi, y = torch.diag(torch.tensor([1.0, 0.5])), torch.tensor([1.0, 1.0])
    >>> run = supernat(phi, lambda f: f - y, eta=1.0, steps=50, rescale="off")
    >>> run.weights[-1]                                        # plain gradient descent
    tensor([1.0000, 2.0000])
    """
    features = check_tensor("features", features)
    if features.ndim < 2:
        raise ValueError(f"features must have shape (..., n, P), got {tuple(features.shape)}")
    steps, mode = positive_int("steps", steps), choose(rescale, _RESCALE, "rescale")
    cutoff = real("cutoff", cutoff)
    rate = torch.as_tensor(eta, dtype=features.dtype, device=features.device)[..., None]
    left, s, right = torch.linalg.svd(features, full_matrices=False)
    kept = s > cutoff * s[..., :1]
    inverse = torch.where(kept, 1 / torch.where(kept, s, 1.0), 0.0)
    lam = torch.where(kept, s**2, 0.0)
    modes = torch.zeros_like(s)  # components of w along v_j
    path, eigenvalues = [modes], [lam]
    for _ in range(steps):
        outputs = (left @ (s * modes)[..., None])[..., 0]
        g = (left.mT @ gradient(outputs)[..., None])[..., 0]
        modes = modes - rate * lam * g * inverse
        lam = _rescaled(lam, torch.where(kept, g, 0.0), mode)
        path.append(modes)
        eigenvalues.append(lam)
    weights = (torch.stack(path)[..., None, :] @ right)[..., 0, :]
    return SuperNatRun(weights, torch.stack(eigenvalues), left, right)
