"""Transforms and correlations on the sphere and on SO(3), against their definitions."""

from __future__ import annotations

from typing import Any

from regimes.lab import Array
from regimes.studies._types import Tensor

_AT_ONCE = 2**21  # entries of Wigner's matrices


def _coefficients(L: int, source: Any, axes: int, real: bool = False) -> Tensor:
    """Random ones, padded: (L, M) on the sphere, (L, M, M) on SO(3); of a real signal if asked."""
    import torch

    from regimes.nets import sphere

    m = torch.arange(-(L - 1), L).abs()
    inside = m[None] <= torch.arange(L)[:, None]
    shape = (L, 2 * L - 1) if axes == 1 else (L, 2 * L - 1, 2 * L - 1)
    F = torch.randn(*shape, generator=source, dtype=torch.complex128)
    F = F * (inside if axes == 1 else inside[:, :, None] * inside[:, None])
    if not real:
        return F
    if axes == 1:
        return sphere.s2_fft(sphere.s2_ifft(F, L, real=True))
    return sphere.so3_fft(sphere.so3_ifft(F, L, real=True))


def values(F: Tensor, R: Tensor) -> Tensor:
    """A signal at rotations (..., 3, 3), by its definition.

    The sums over `(2l+1) F^l_m Y^l_m` and `(2l+1) F^l_mn D^l_mn`; a point of the sphere is any
    rotation that takes the north pole there.
    """
    import torch

    from regimes._rotations import wigner_d_column
    from regimes.nets import sphere

    L = F.shape[0]
    shape, most = R.shape[:-2], max(1, _AT_ONCE // (2 * L - 1) ** 2)
    if shape.numel() > most:
        return torch.cat([values(F, part) for part in R.reshape(-1, 3, 3).split(most)]).view(shape)
    a, b, c = sphere.zyz_angles(R)
    total = torch.zeros(R.shape[:-2], dtype=F.dtype)
    for l in range(L):
        inside = slice(L - 1 - l, L + l)
        if F.ndim == 2:
            m = torch.arange(-l, l + 1)
            Y = torch.exp(-1j * m * a[..., None]) * wigner_d_column(l, b)
            total += (2 * l + 1) * (Y @ F[l, inside])
        else:
            D = sphere.wigner_matrix(l, a, b, c)
            total += (2 * l + 1) * (D * F[l, inside, inside]).sum((-2, -1))
    return total


def round_trips(s2_b: tuple[int, ...], so3_b: tuple[int, ...], seed: int) -> dict[str, Array]:
    """EQU-04: coefficients to signal to coefficients, and the quadrature below degree 2b."""
    import torch

    from regimes._random import generator
    from regimes.nets import sphere

    found: dict[str, Array] = {}
    for name, sizes, axes, there, back in (
        ("s2", s2_b, 1, sphere.s2_ifft, sphere.s2_fft),
        ("so3", so3_b, 2, sphere.so3_ifft, sphere.so3_fft),
    ):
        rows = []
        for b in sizes:
            F = _coefficients(b, generator(seed, f"transforms/{name}/{b}"), axes)
            row = []
            for dtype in (torch.complex64, torch.complex128):
                gap = back(there(F.to(dtype), b)).to(F) - F
                row.append(float(gap.abs().max() / F.abs().max()))
            rows.append(row)
        found[f"{name}_b"] = Array(f"{name}_b", list(sizes))
        found[f"{name}_round_trip"] = Array((f"{name}_b", "precision"), rows)
    quadrature = []
    for b in s2_b:
        (beta, _), w = sphere.grid_angles(b), sphere.beta_weights(b)
        sums = [
            float((w * torch.special.legendre_polynomial_p(beta.cos(), n)).sum()) - (n == 0)
            for n in range(2 * b)
        ]
        quadrature.append(max(abs(each) for each in sums))
    found["quadrature"] = Array("s2_b", quadrature)
    return found


def theorem(b: int, count: int, seed: int) -> dict[str, float]:
    """EQU-05: both layers against the integral over the grid, at random rotations."""
    import torch

    from regimes._random import generator
    from regimes.nets import sphere

    source = generator(seed, "transforms/theorem")
    rotations = sphere.random_rotations(count, seed)
    beta, alpha = sphere.grid_angles(b)
    found = {}
    for name in ("s2", "so3"):
        on_sphere = name == "s2"
        F = _coefficients(b, source, 1 if on_sphere else 2, real=True)
        if on_sphere:
            points = sphere.s2_near_identity(1.0, 4, 2)
            layer: Any = sphere.S2Correlation(1, 1, b, b, points, seed=seed, dtype=torch.float64)
            f = sphere.s2_ifft(F, b, real=True)
            grid = sphere.rotation_matrix(alpha[None, :], beta[:, None], 0.0)
            integrate: Any = sphere.s2_integrate
        else:
            points = sphere.so3_near_identity(1.0, 3, 1, 2)
            layer = sphere.SO3Correlation(1, 1, b, b, points, seed=seed, dtype=torch.float64)
            f = sphere.so3_ifft(F, b, real=True)
            a, c = alpha[None, :, None], alpha[None, None, :]
            grid = sphere.rotation_matrix(a, beta[:, None, None], c)
            integrate = sphere.so3_integrate
        psi = _filter(layer, points, b)
        with torch.no_grad():
            H = sphere.so3_fft(layer(f[None, None])[0, 0])
        worst = size = 0.0
        for R in rotations:
            direct = integrate(values(psi, R.mT @ grid).real * f)  # psi(R^-1 x) f(x)
            worst = max(worst, abs(float(direct - values(H, R).real)))
            size = max(size, abs(float(direct)))
        found[f"theorem_{name}"] = worst / size
    return found


def _filter(layer: Any, points: Tensor, b: int) -> Tensor:
    """Coefficients of a layer's filter: its point masses, without the orders from b on."""
    import torch

    from regimes.nets import sphere

    weight = (layer.weight.detach() * layer.scale)[0, 0].to(torch.complex128)
    M = 2 * b - 1
    on_sphere = points.shape[1] == 2
    F = torch.zeros((b, M) if on_sphere else (b, M, M), dtype=torch.complex128)
    gamma = torch.zeros(len(points)).double() if on_sphere else points[:, 2]
    for l in range(b):
        inside = slice(b - 1 - l, b + l)
        D = sphere.wigner_matrix(l, points[:, 0], points[:, 1], gamma).conj()
        if on_sphere:
            F[l, inside] = weight @ D[..., l]
        else:
            F[l, inside, inside] = torch.einsum("i,imn->mn", weight, D)
    return F


def columns(b: int, seed: int) -> dict[str, float]:
    """EQU-06: the transform on SO(3) of a signal of the sphere."""
    from regimes._random import generator
    from regimes.nets import sphere

    F = _coefficients(b, generator(seed, "transforms/columns"), 1)
    f = sphere.s2_ifft(F, b)
    G = sphere.so3_fft(f[..., None].expand(*f.shape, 2 * b))
    middle = float((G[..., b - 1] - sphere.s2_fft(f)).abs().max() / F.abs().max())
    G[..., b - 1] = 0
    return {"column_middle": middle, "column_others": float(G.abs().max() / F.abs().max())}


def zonal(b: int, seed: int) -> dict[str, float]:
    """EQU-11: a filter turned about the pole, in the classical convolution and the correlation."""
    import torch

    from regimes._random import generator
    from regimes.nets import sphere

    source = generator(seed, "transforms/zonal")
    F, G = (_coefficients(b, source, 1, real=True) for _ in range(2))
    f, psi = (sphere.s2_ifft(each, b, real=True) for each in (F, G))
    angle = 0.3 + float(torch.rand((), generator=source, dtype=torch.float64))
    other = sphere.rotate_s2(psi, sphere.rotation_matrix(angle, 0.0, 0.0))
    out, turned = sphere.dh_convolution(f, psi), sphere.dh_convolution(f, other)
    seen, seen_turned = (
        F[:, :, None] * sphere.s2_fft(each).conj()[:, None] for each in (psi, other)
    )
    return {
        "zonal_gap": float((turned - out).abs().max() / out.abs().max()),
        "correlation_gap": float((seen_turned - seen).norm() / seen.norm()),
    }


def pictures(b: int = 12, side: int = 57) -> dict[str, Array]:
    """A filter and the same filter turned; what convolution and correlation make of a digit."""
    import math

    import torch

    from regimes import data
    from regimes.nets import sphere

    digit = data.digits(n_train=10, n_test=1).x_train[4:5].double()
    F = sphere.s2_fft(data.spherical_mnist(digit, b)[0, 0])
    points = torch.tensor([[0.0, 0.35], [math.pi, 0.35], [0.5, 0.1]]).double()
    weight = torch.tensor([1.0, -1.0, 0.6]).to(torch.complex128)
    psi = torch.zeros(b, 2 * b - 1, dtype=torch.complex128)
    for l in range(b):
        Y = sphere.wigner_matrix(l, points[:, 0], points[:, 1], 0.0).conj()[..., l]
        smooth = math.exp(-l * (l + 1) / 60)
        psi[l, b - 1 - l : b + l] = smooth * (weight @ Y)
    other = sphere.rotate(psi, math.pi / 2, 0.0, 0.0)
    at = torch.linspace(-1, 1, side, dtype=torch.float64)
    y, x = torch.meshgrid(-at, at, indexing="ij")
    inside = x**2 + y**2 <= 0.98
    z = (1 - x**2 - y**2).clamp_min(0).sqrt()
    R = sphere.rotation_matrix(torch.atan2(y, x), torch.atan2((1 - z**2).clamp_min(0).sqrt(), z), 0)

    def seen(F: Tensor) -> Tensor:
        """From above the north pole; the middle column of a signal on SO(3) has gamma = 0."""
        return torch.where(inside, values(F, R).real, 0.0).float()

    rows = []
    for filter_ in (psi, other):
        classical = F * filter_[:, b - 1 : b]
        correlated = F[:, :, None] * filter_.conj()[:, None, :]
        rows.append(torch.stack([seen(filter_), seen(classical), seen(correlated)]))
    return {
        "pictures": Array(("turned", "picture", "row", "column"), torch.stack(rows)),
        "digit": Array(("row", "column"), seen(F)),
    }
