"""The kernel that stripe and cylinder networks start from."""

from __future__ import annotations

from torch import Tensor

from regimes.theory._infinite_width import infinite_width


def shallow_relu_kernel(x: Tensor, z: Tensor | None = None) -> Tensor:
    """Limit of h times the initial tangent kernel of the network of [Paccolat 2021, eq. 1].

    `k(x,z) = (1/pi) {nx nz [sin t + (pi-t) cos t] + (pi-t) s}` with `s = 1 + x.z/d`,
    `nx = sqrt(1 + |x|^2/d)`, `cos t = s/(nx nz)`; `k(x,x) = 2 nx^2`. It is `infinite_width` for one
    relu layer with biases of variance one in the mean-field parametrisation.

    Args:
        x: inputs (n, d).
        z: inputs (m, d); None for x.

    Returns:
        The kernel (n, m).

    >>> import torch
    >>> shallow_relu_kernel(torch.tensor([[1.0, 1.0]]))
    tensor([[4.]])
    """
    return infinite_width(x, z, depth=1, bias=True, bias_std=1.0, parametrization="mean_field").ntk
