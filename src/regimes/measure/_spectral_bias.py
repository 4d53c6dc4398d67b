"""How gradient descent moves a function mode by mode of its tangent kernel."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import real
from regimes.measure._eigenpairs import gram_eigs
from regimes.measure._kernel import check_gram, check_tensor
from regimes.measure._spectrum import _check_eigenvalues


@dataclass(frozen=True)
class ModewiseUpdate:
    """One linearised gradient step, computed with the kernel and mode by mode."""

    from_kernel: Tensor  # like the outputs, -eta K grad
    from_modes: Tensor  # like the outputs, sum of the components times their eigenvectors
    components: Tensor  # (nc,), -eta lam_J (u_J . grad)
    values: Tensor  # (nc,), eigenvalues lam_J, decreasing
    difference: float  # |from_kernel - from_modes|


def modewise_update(K: Tensor, gradient: Tensor, eta: float) -> ModewiseUpdate:
    """Both sides of `delta f = -eta K grad_f L = -eta sum_J lam_J (u_J . grad_f L) u_J`.

    [Baratin 2021, eqs. 4, 43 and 48]: one gradient step in the linear approximation.

    Args:
        K: tangent kernel on the samples, (n, n) or (n, c, n, c).
        gradient: derivative of the loss by the outputs, (n,) or (n, c).
        eta: learning rate.

    >>> step = modewise_update(torch.diag(torch.tensor([3.0, 1.0])), torch.tensor([1.0, 1.0]), 0.1)
    >>> step.components, step.difference < 1e-6
    (tensor([-0.3000, -0.1000]), True)
    """
    K, gradient = check_gram("K", K), check_tensor("gradient", gradient)
    eta = real("eta", eta)
    if gradient.shape != K.shape[: K.ndim // 2]:
        raise ValueError(
            f"gradient must have the outputs' shape {tuple(K.shape[: K.ndim // 2])}, "
            f"got {tuple(gradient.shape)}"
        )
    pairs = gram_eigs(K, method="dense")
    rows = pairs.vectors.reshape(len(pairs.values), -1)
    flat = gradient.reshape(-1)
    components = -eta * pairs.values * (rows @ flat)
    from_kernel = -eta * K.reshape(len(flat), -1) @ flat
    from_modes = components @ rows
    return ModewiseUpdate(
        from_kernel.reshape(gradient.shape),
        from_modes.reshape(gradient.shape),
        components,
        pairs.values,
        float(torch.linalg.vector_norm(from_kernel - from_modes)),
    )


def regression_modes(
    start: Tensor, solution: Tensor, lam: Tensor, *, eta: float, steps: int | Tensor
) -> Tensor:
    """Modes of a linear model under gradient descent on the squared loss, after t steps.

    `f_jt = f*_j + (1 - eta lam_j)^t (f_j0 - f*_j)` [Baratin 2021, eqs. 49 and 51], for the
    loss `|f - y|^2 / 2`.

    Args:
        start: components at t = 0, (r,).
        solution: components of the solution, (r,).
        lam: eigenvalues, (r,).
        eta: learning rate.
        steps: t, a number or a tensor (T,) of them.

    Returns:
        Components (r,), or (T, r) for several t.

    >>> regression_modes(torch.zeros(2), torch.ones(2), torch.tensor([1.0, 0.5]), eta=1.0, steps=1)
    tensor([1.0000, 0.5000])
    """
    start, solution = check_tensor("start", start), check_tensor("solution", solution)
    lam = check_tensor("lam", lam)
    if not start.shape == solution.shape == lam.shape or lam.ndim != 1:
        raise ValueError(
            "start, solution and lam must share one shape (r,), got "
            f"{tuple(start.shape)}, {tuple(solution.shape)}, {tuple(lam.shape)}"
        )
    t = torch.as_tensor(steps, dtype=lam.dtype, device=lam.device)
    if bool((t < 0).any()) or bool((t != t.round()).any()):
        raise ValueError(f"steps must be whole numbers >= 0, got {steps}")
    decay = (1 - real("eta", eta) * lam) ** t[..., None]
    return solution + decay * (start - solution)


def time_constants(lam: Tensor) -> Tensor:
    """`tau_j = -1/log(1 - lam_j/lam_1)`: steps in which mode j decays by e at `eta = 1/lam_1`.

    [Baratin 2021, app. A.5.2], where the printed formula misses the reciprocal. The top mode
    converges in one step (tau = 0), a zero eigenvalue never (infinity).

    Args:
        lam: non-negative eigenvalues (r,).

    >>> time_constants(torch.tensor([2.0, 1.0, 0.0]))
    tensor([0.0000, 1.4427,    inf])
    """
    lam = _check_eigenvalues(lam)
    share = lam.double() / lam.double().max()
    return (-1 / torch.log1p(-share)).abs().to(lam.dtype)
