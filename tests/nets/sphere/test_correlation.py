"""Correlations against their integrals; claims EQU-05, EQU-07, EQU-11."""

import math

import pytest
import torch
from torch import nn

from regimes.measure import assert_equivariant, equivariance_error
from regimes.nets.sphere import (
    Oversampled,
    S2Correlation,
    SO3Correlation,
    SpinSphericalCorrelation,
    dh_convolution,
    grid_angles,
    random_rotations,
    rotate,
    rotate_s2,
    rotate_so3,
    rotation_matrix,
    s2_equatorial,
    s2_everywhere,
    s2_fft,
    s2_ifft,
    s2_integrate,
    s2_near_identity,
    so3_equatorial,
    so3_everywhere,
    so3_fft,
    so3_identity,
    so3_ifft,
    so3_integrate,
    so3_max,
    so3_near_identity,
    spin_fft,
    spin_ifft,
    zyz_angles,
)

DOUBLE = {"dtype": torch.float64}


def at_rotation(F, R):
    """The value at R of the signal on SO(3) with these coefficients."""
    back = rotate(F, *zyz_angles(R.mT))  # f(R Q), to be read at Q = identity
    L = F.shape[-3]
    degree = 2 * torch.arange(L).double() + 1
    return (degree * torch.diagonal(back, dim1=-2, dim2=-1).sum(-1)).sum(-1).real


def test_correlation_on_the_sphere_is_its_integral(draw):
    """Claim EQU-05: the product of spectra against quadrature at rotated filters."""
    b = 6
    layer = S2Correlation(2, 3, b, b, s2_near_identity(1.0, 4, 2), **DOUBLE)
    f = s2_ifft(draw.s2(1, 2, L=b // 2), b, real=True)
    out = so3_fft(layer(f))[0]
    # the filter's values at its points, smoothed to the grid's orders: a signal like any other
    weights = layer.weight * layer.scale
    psi = smoothed(weights, s2_near_identity(1.0, 4, 2), b)
    for R in random_rotations(5, seed=1):
        direct = s2_integrate(rotate_s2(psi, R) * f).sum(1)
        assert torch.allclose(at_rotation(out, R), direct, atol=1e-10)


def smoothed(weights, points, b):
    """Point masses on the sphere as a bandlimited signal (c_out, c_in, 2b, 2b)."""
    from regimes.nets.sphere import wigner_matrix

    F = torch.zeros(*weights.shape[:2], b, 2 * b - 1, dtype=torch.complex128)
    for l in range(b):
        Y = wigner_matrix(l, points[:, 0], points[:, 1], 0.0)[..., l].conj()
        F[:, :, l, b - 1 - l : b + l] = weights.to(torch.complex128) @ Y
    return s2_ifft(F, b, real=True)


def test_correlation_on_rotations_is_its_integral(draw):
    b, points = 4, so3_near_identity(0.8, 3, 1, 2)
    layer = SO3Correlation(2, 3, b, b, points, **DOUBLE)
    f = so3_ifft(draw.so3(1, 2, L=b // 2), b, real=True)
    out = so3_fft(layer(f))[0]
    # point masses: the integral is a sum over f at R R_i
    F, weights = so3_fft(f)[0], layer.weight * layer.scale
    for R in random_rotations(5, seed=2):
        values = torch.stack([at_rotation(F, R @ rotation_matrix(*p)) for p in points], -1)
        assert torch.allclose(at_rotation(out, R), (weights * values).sum((1, 2)), atol=1e-10)


@pytest.mark.parametrize("b", [4, 8])
@pytest.mark.parametrize("layers", [1, 3])
def test_linear_layers_are_exactly_equivariant(b, layers, draw):
    """Claim EQU-07 [Cohen 2018, eqs. 7 and 17]."""
    net = nn.Sequential(
        S2Correlation(2, 3, b, b, **DOUBLE),
        *[SO3Correlation(3, 3, b, b, seed=i, **DOUBLE) for i in range(layers)],
    )
    f = s2_ifft(draw.s2(3, 2, L=b), b, real=True)
    assert_equivariant(net, f, random_rotations(3), rotate_s2, rotate_so3, tolerance=1e-13)


def test_truncation_keeps_equivariance(draw):
    net = nn.Sequential(S2Correlation(1, 2, 8, 5, **DOUBLE), SO3Correlation(2, 2, 5, 3, **DOUBLE))
    f = s2_ifft(draw.s2(2, 1, L=8), 8, real=True)
    assert_equivariant(net, f, random_rotations(2), rotate_s2, rotate_so3)


def test_the_integral_is_invariant_and_the_maximum_nearly(draw):
    layer = S2Correlation(1, 2, 6, 6, **DOUBLE)

    def same(y, R):
        return y

    f = s2_ifft(draw.s2(3, 1, L=6), 6, real=True)
    rotations = random_rotations(3)
    net = nn.Sequential(layer, SO3Correlation(2, 4, 6, 4, **DOUBLE))
    assert_equivariant(
        lambda x: so3_integrate(net(x) ** 2),
        f,
        rotations,
        rotate_s2,
        same,
        size="rms",
        tolerance=1e-9,
    )  # a square has twice the orders, which the weights of the grid still integrate
    top = equivariance_error(lambda x: so3_max(net(x)), f, rotations, rotate_s2, same, size="rms")
    assert top.value < 0.2


def test_oversampling_cures_the_error_of_relu(draw):
    f = so3_ifft(draw.so3(2, 2, L=4), 4, real=True)
    rotations = random_rotations(2)
    errors = [
        equivariance_error(Oversampled(torch.relu, k), f, rotations, rotate_so3, rotate_so3).value
        for k in (1, 2, 4)
    ]
    assert errors[0] > 5 * errors[1] > 10 * errors[2]
    assert torch.allclose(Oversampled(lambda x: x, 2)(f), f, atol=1e-13)
    g = s2_ifft(draw.s2(1, 1, L=4), 4, real=True)
    assert torch.allclose(Oversampled(lambda x: x, 3)(g), g, atol=1e-13)


def test_the_classical_convolution_sees_the_zonal_mean_alone(draw):
    """Claim EQU-11 [Cohen 2018, eq. 18]."""
    b = 5
    f, psi = (s2_ifft(draw.s2(L=b), b, real=True) for _ in range(2))
    turned = rotate_s2(psi, rotation_matrix(0.9, 0.0, 0.0))
    out = dh_convolution(f, psi)
    assert torch.allclose(dh_convolution(f, turned), out, atol=1e-12)
    assert_equivariant(
        lambda x: dh_convolution(x, psi), f[None], random_rotations(1), rotate_s2, rotate_s2
    )

    def correlation(filter_):
        F, G = s2_fft(f), s2_fft(filter_)
        return so3_ifft(F[:, :, None] * G.conj()[:, None, :], b, real=True)

    gap = correlation(psi) - correlation(turned)
    assert gap.norm() > 0.1 * correlation(psi).norm()


@pytest.mark.parametrize(("n_in", "n_out", "free"), [(0, 0, 5), (0, 1, 4), (2, -1, 3), (1, 1, 4)])
def test_maps_between_spins_are_one_number_an_order(n_in, n_out, free, draw):
    b = 5
    layer = SpinSphericalCorrelation((n_in,), (n_out,), b, dtype=torch.complex128)
    assert layer.free == free
    F = draw.s2(2, L=b)
    F[:, : abs(n_in)] = 0
    f = spin_ifft(F, n_in, b)
    assert torch.allclose(spin_fft(f, n_in), F, atol=1e-12)

    def turn(spin):
        return lambda f, R: spin_ifft(rotate(spin_fft(f[:, 0], spin), *zyz_angles(R)), spin, b)[
            :, None
        ]

    def size(x):
        return float(x.abs().square().mean().sqrt())

    rotations = random_rotations(2)
    error = equivariance_error(layer, f[:, None], rotations, turn(n_in), turn(n_out), size=size)
    assert error.worst < 1e-12


def test_spin_coefficients_are_a_column_of_those_of_so3(draw):
    f = draw.real(8, 8).to(torch.complex128)
    _, gamma = grid_angles(4)
    section = f[..., None] * torch.exp(-2j * gamma)
    assert torch.allclose(so3_fft(section)[..., 3 + 2], spin_fft(f, 2), atol=1e-14)


def test_filter_points_are_distinct():
    counts = {24: s2_near_identity(), 72: so3_near_identity(), 9: s2_equatorial(9)}
    counts |= {7: so3_equatorial(7), 1: so3_identity(), 16: s2_everywhere(2), 64: so3_everywhere(2)}
    for count, points in counts.items():
        assert len(points) == count
        kind = S2Correlation if points.shape[1] == 2 else SO3Correlation
        assert kind(1, 1, 3, 2, points).weight.shape == (1, 1, count)
    twice = torch.tensor([[0.1, 0.2, 0.0], [0.1 + 2 * math.pi, 0.2, 0.0]])
    with pytest.raises(ValueError, match="points 0 and 1 of the filter are the same"):
        SO3Correlation(1, 1, 3, 2, twice)
    with pytest.raises(ValueError, match="same"):  # at the pole alpha means nothing
        S2Correlation(1, 1, 3, 2, torch.tensor([[0.0, 0.0], [1.0, 0.0]]))


def test_orientation_is_seen(draw):
    """A filter turned about itself gives another output: points differ in their third angle."""
    layer = SO3Correlation(1, 1, 4, 4, so3_near_identity(0.5, 3, 1, 3), **DOUBLE)
    f = so3_ifft(draw.so3(1, 1, L=4), 4, real=True)
    before = layer(f)
    with torch.no_grad():
        layer.weight.copy_(layer.weight.view(3, 3).roll(1, 1).reshape(1, 1, 9))
    assert (layer(f) - before).norm() > 0.1 * before.norm()


def test_seeds_scale_and_precision():
    one, same, other = (S2Correlation(2, 3, 6, 4, seed=s) for s in (1, 1, 2))
    assert torch.equal(one.weight, same.weight)
    assert not torch.equal(one.weight, other.weight)
    assert math.isclose(one.scale, (24 * 2 * 4**4 / 6**2) ** -0.5)
    assert one.double()(torch.zeros(1, 2, 12, 12).double()).dtype == torch.float64


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match=r"must have shape \(n, 2, 12, 12\)"):
        S2Correlation(2, 3, 6, 4)(torch.zeros(1, 2, 10, 10))
    with pytest.raises(ValueError, match="b_out=7 is larger"):
        SO3Correlation(2, 3, 6, 7)
    with pytest.raises(ValueError, match=r"angles of shape \(p, 3\)"):
        SO3Correlation(2, 3, 6, 5, s2_near_identity())
    with pytest.raises(ValueError, match="fields must have shape"):
        SpinSphericalCorrelation((0,), (0,), 3)(torch.zeros(1, 1, 4, 4))
