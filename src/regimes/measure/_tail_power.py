"""Power of a target in the modes from the n-th on."""

from __future__ import annotations

from torch import Tensor

from regimes.measure._kernel import check_tensor


def tail_power(projections: Tensor, y: Tensor) -> Tensor:
    """`sum_{rho >= n} omega_rho^2`, n = 1, ..., r, for the first r modes [Spigler 2020, eq. 14].

    The tail is what the first n-1 modes leave of `|y|^2/p`, so modes beyond the r-th need not be
    known. The paper's sums, of unit eigenvectors, are p times these.

    Args:
        projections: `omega^2` of the leading modes, (r,), as `KernelPCA.projections` gives them.
        y: the target (p,).

    Returns:
        Tails (r,), decreasing; the first is the whole power.

    >>> import torch
    >>> tail_power(torch.tensor([0.5, 0.25]), torch.ones(4))
    tensor([1.0000, 0.5000])
    """
    omega, y = check_tensor("projections", projections), check_tensor("y", y)
    if omega.ndim != 1 or y.ndim != 1 or bool((omega < 0).any()):
        raise ValueError(
            "projections must be squares (r,) and y a target (p,), got "
            f"{tuple(omega.shape)} and {tuple(y.shape)}"
        )
    total = y.double().square().mean().to(omega.device)
    before = omega.double().cumsum(0) - omega.double()
    if float(before[-1]) > float(total) * (1 + 1e-6):
        raise ValueError(
            f"the projections sum to {float(before[-1] + omega[-1]):.6g}, more than |y|^2/p = "
            f"{float(total):.6g}; they belong to another target"
        )
    return (total - before).clamp(min=0).to(omega.dtype)
