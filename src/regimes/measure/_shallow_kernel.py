"""Tangent kernel of a one-hidden-layer relu network from its weights, and its split by Lambda."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import choose, positive_int
from regimes.measure._kernel import check_tensor

_PARTS = {"full": True, "last": False}

# Pre-activations held at once, to bound temporary memory.
_BLOCK = 1 << 24


@dataclass(frozen=True)
class SplitKernel:
    """The kernel of a network that ignores x_perp: `Theta_1 + Theta_2 * x_perp.z_perp`."""

    theta1: Tensor  # (..., n, m)
    theta2: Tensor  # (..., n, m)
    product: Tensor  # (n, m), x_perp.z_perp

    @property
    def gram(self) -> Tensor:
        """`Theta_1 + Theta_2 * x_perp.z_perp`, (..., n, m)."""
        return self.theta1 + self.theta2 * self.product


def shallow_kernel(
    beta: Tensor, w: Tensor, b: Tensor, x: Tensor, z: Tensor | None = None, *, part: str = "full"
) -> Tensor:
    """Tangent kernel of `f(x) = (1/h) sum_n beta_n sqrt2 relu(w_n.x/sqrt(d) + b_n)`.

    [Paccolat 2021, app. D], with `u = w.x/sqrt(d) + b`, v the same for z, `s(u) = sqrt2
    relu(u)`: `Theta(x,z) = (1/h^2) sum_n [s(u) s(v) + beta^2 s'(u) s'(v) (1 + x.z/d)]`. The last
    layer's part, from the gradients by beta, is the first term. It needs the weights only, no
    module, and is taken in chunks of neurons.

    Args:
        beta: output weights (h,), or (R, h) for R networks.
        w: first-layer weights (h, d) or (R, h, d).
        b: biases (h,) or (R, h).
        x: inputs (n, d).
        z: inputs (m, d); None for x.
        part: "full", or "last" for the last layer alone.

    Returns:
        The kernel (n, m) or (R, n, m).

    >>> one, x = torch.ones(1), torch.tensor([[1.0], [-2.0]])
    >>> shallow_kernel(one, one[:, None], one, x)              # s = 2 sqrt2 and 0, s' = sqrt2 and 0
    tensor([[12.,  0.],
            [ 0.,  0.]])
    >>> shallow_kernel(one, one[:, None], one, x, part="last")
    tensor([[8., 0.],
            [0., 0.]])
    """
    beta, w, b, x, z = _check_network(beta, w, b, x, z)
    whole = choose(part, _PARTS, "part")
    values, slopes = _sums(beta, w, b, x, z, whole)
    return values + slopes * (1 + x @ z.T / x.shape[1]) if whole else values


def theta1(
    beta: Tensor, w: Tensor, b: Tensor, x: Tensor, z: Tensor | None = None, *, d: int
) -> Tensor:
    """`Theta_1(x_par, z_par)` of a network with w_perp = 0 [Paccolat 2021, eqs. 10 and 16].

    `(1/h^2) sum_n [s(u) s(v) + beta^2 s'(u) s'(v) (1 + x_par.z_par/d)]`.

    Args:
        beta: output weights (h,) or (R, h).
        w: weights of the informative coordinates (h, d_par) or (R, h, d_par).
        b: biases (h,) or (R, h).
        x: informative coordinates (n, d_par).
        z: informative coordinates (m, d_par); None for x.
        d: input dimension of the network, d_par + d_perp.

    >>> one, x = torch.ones(1), torch.tensor([[2.0]])
    >>> theta1(one, one[:, None], one, x, d=4)                 # u = 2: 2*4 + 2*(1 + 4/4)
    tensor([[12.]])
    """
    beta, w, b, x, z = _check_network(beta, w, b, x, z)
    size = positive_int("d", d, least=w.shape[-1])
    values, slopes = _sums(beta, _rescaled(w, size), b, x, z, True)
    return values + slopes * (1 + x @ z.T / size)


def theta2(
    beta: Tensor, w: Tensor, b: Tensor, x: Tensor, z: Tensor | None = None, *, d: int
) -> Tensor:
    """`Theta_2(x_par, z_par) = (1/(d h^2)) sum_n beta^2 s'(u) s'(v)` [Paccolat 2021, app. D].

    Arguments as in `theta1`.

    >>> one, x = torch.ones(1), torch.tensor([[2.0]])
    >>> theta2(one, one[:, None], one, x, d=4)
    tensor([[0.5000]])
    """
    beta, w, b, x, z = _check_network(beta, w, b, x, z)
    size = positive_int("d", d, least=w.shape[-1])
    return _sums(beta, _rescaled(w, size), b, x, z, True)[1] / size


def split_kernel(
    beta: Tensor,
    w: Tensor,
    b: Tensor,
    x: Tensor,
    z: Tensor | None = None,
    *,
    informative: int = 1,
) -> SplitKernel:
    """The kernel with all w_perp set to 0, in its two parts [Paccolat 2021, eqs. 10 and 16].

    Its `gram` equals `shallow_kernel` where w_perp = 0 already; the distance of the two says how
    far a trained network is from the limit of infinite Lambda (COMP-36).

    Args:
        beta: output weights (h,) or (R, h).
        w: first-layer weights (h, d) or (R, h, d).
        b: biases (h,) or (R, h).
        x: inputs (n, d).
        z: inputs (m, d); None for x.
        informative: d_par, the number of leading coordinates that decide the label.

    >>> one, x = torch.ones(1), torch.tensor([[2.0, 1.0, 0.0, 3.0]])
    >>> w = torch.tensor([[1.0, 0.0, 0.0, 0.0]])
    >>> split_kernel(one, w, one, x).gram, shallow_kernel(one, w, one, x)
    (tensor([[17.]]), tensor([[17.]]))
    """
    beta, w, b, x, z = _check_network(beta, w, b, x, z)
    d, d_par = w.shape[-1], positive_int("informative", informative)
    if d_par >= d:
        raise ValueError(f"informative must leave at least one of the {d} inputs, got {d_par}")
    x_par, z_par = x[:, :d_par], z[:, :d_par]
    values, slopes = _sums(beta, _rescaled(w[..., :d_par], d), b, x_par, z_par, True)
    return SplitKernel(
        values + slopes * (1 + x_par @ z_par.T / d), slopes / d, x[:, d_par:] @ z[:, d_par:].T
    )


def _rescaled(w: Tensor, d: int) -> Tensor:
    """Weights (..., h, d_par) whose products over sqrt(d_par) are those of w over sqrt(d)."""
    return w * (w.shape[-1] / d) ** 0.5


def _sums(
    beta: Tensor, w: Tensor, b: Tensor, x: Tensor, z: Tensor, with_slopes: bool
) -> tuple[Tensor, Tensor]:
    """`(2/h^2) sum relu(u) relu(v)` and `(2/h^2) sum beta^2 H(u) H(v)`, (..., n, m) each."""
    h, d = w.shape[-2:]
    same = x is z
    values = w.new_zeros(*w.shape[:-2], len(x), len(z))
    slopes = torch.zeros_like(values)
    members = w[..., 0, 0].numel()
    block = max(1, _BLOCK // (members * max(len(x), len(z))))
    for start in range(0, h, block):
        part = slice(start, start + block)
        u = w[..., part, :] @ x.T / d**0.5 + b[..., part, None]
        v = u if same else w[..., part, :] @ z.T / d**0.5 + b[..., part, None]
        values += u.relu().mT @ v.relu()
        if with_slopes:
            weighted = beta[..., part, None] * (u > 0).to(u)
            other = weighted if same else beta[..., part, None] * (v > 0).to(v)
            slopes += weighted.mT @ other
    scale = 2 / h**2
    return values * scale, slopes * scale


def _check_network(
    beta: Tensor, w: Tensor, b: Tensor, x: Tensor, z: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    beta, w, b = check_tensor("beta", beta), check_tensor("w", w), check_tensor("b", b)
    if w.ndim not in (2, 3) or beta.shape != w.shape[:-1] or b.shape != w.shape[:-1]:
        raise ValueError(
            "w must have shape (h, d) or (R, h, d), beta and b (h,) or (R, h), got "
            f"w {tuple(w.shape)}, beta {tuple(beta.shape)}, b {tuple(b.shape)}"
        )
    x = check_tensor("x", x).to(w)
    z = x if z is None else check_tensor("z", z).to(w)
    for name, points in (("x", x), ("z", z)):
        if points.ndim != 2 or points.shape[1] != w.shape[-1]:
            raise ValueError(
                f"{name} must have shape (n, {w.shape[-1]}) like the weights, got "
                f"{tuple(points.shape)}"
            )
    return beta.to(w), w, b.to(w), x, z
