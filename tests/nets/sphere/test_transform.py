"""Quadrature and transforms against their definitions; claims EQU-04 and EQU-06."""

import math

import pytest
import torch

from regimes.nets.sphere import (
    Oversampled,
    beta_weights,
    grid_angles,
    random_rotations,
    rotate,
    rotate_s2,
    rotate_so3,
    s2_fft,
    s2_ifft,
    s2_integrate,
    s2_points,
    so3_fft,
    so3_ifft,
    so3_integrate,
    spectral_size,
    wigner_matrix,
    zyz_angles,
)


@pytest.mark.parametrize("b", [1, 2, 8, 30])
def test_quadrature_is_exact_below_degree_2b(b):
    w, (beta, _) = beta_weights(b), grid_angles(b)
    for degree in range(2 * b):
        legendre = torch.special.legendre_polynomial_p(beta.cos(), degree)
        assert torch.isclose(
            (w * legendre).sum(), torch.tensor(float(degree == 0)).double(), atol=1e-14
        )
    plain = beta.sin() * math.pi / (4 * b)
    legendre = torch.special.legendre_polynomial_p(beta.cos(), 2)
    assert b == 1 or abs((plain * legendre).sum()) > 1e-5


@pytest.mark.parametrize("b", [1, 4, 8, 16, 30])
def test_round_trips_of_the_sphere(b, draw):
    F = draw.s2(2, L=b)
    assert torch.allclose(s2_fft(s2_ifft(F, b)), F, atol=1e-12)
    assert torch.allclose(
        s2_fft(s2_ifft(F.to(torch.complex64), b)), F.to(torch.complex64), atol=1e-5
    )


@pytest.mark.parametrize("b", [1, 4, 8, 16, 30])
def test_round_trips_of_rotations(b, draw):
    F = draw.so3(L=b)
    assert torch.allclose(so3_fft(so3_ifft(F, b)), F, atol=1e-12)
    assert torch.allclose(
        so3_fft(so3_ifft(F.to(torch.complex64), b)), F.to(torch.complex64), atol=1e-5
    )


def test_coefficients_are_those_of_the_definition():
    b = 3
    beta, alpha = grid_angles(b)
    B, A, C = torch.meshgrid(beta, alpha, alpha, indexing="ij")
    for l in range(b):
        D = wigner_matrix(l, A, B, C)
        for m in range(-l, l + 1):
            for n in range(-l, l + 1):
                expected = torch.zeros(b, 2 * b - 1, 2 * b - 1, dtype=torch.complex128)
                expected[l, b - 1 + m, b - 1 + n] = 1 / (2 * l + 1)
                assert torch.allclose(so3_fft(D[..., l + m, l + n]), expected, atol=1e-14)
            Y = D[:, :, 0, l + m, l]
            assert torch.allclose(
                s2_fft(Y), so3_fft(Y[..., None].expand(*Y.shape, 2 * b))[..., b - 1], atol=1e-14
            )


def test_the_sphere_is_the_middle_column_of_so3(draw):
    """Claim EQU-06 [Cohen 2018, eq. 25]."""
    f = s2_ifft(draw.s2(L=6), 6)
    F = so3_fft(f[..., None].expand(*f.shape, 12))
    assert torch.allclose(F[..., 5], s2_fft(f), atol=1e-12)
    F[..., 5] = 0
    assert F.abs().max() < 1e-12


def test_real_signals_are_what_their_complex_copies_are(draw):
    f, g = draw.real(2, 10, 10), draw.real(8, 8, 8)
    assert torch.allclose(s2_fft(f), s2_fft(f.to(torch.complex128)), atol=1e-14)
    assert torch.allclose(so3_fft(g), so3_fft(g.to(torch.complex128)), atol=1e-14)
    low = s2_ifft(s2_fft(f, 3), 5)
    assert low.imag.abs().max() < 1e-14
    assert torch.allclose(s2_ifft(s2_fft(f, 3), 5, real=True), low.real)


def test_fewer_orders_are_the_first_of_all(draw):
    f = draw.real(2, 12, 12, 12)
    assert torch.allclose(so3_fft(f, 3), so3_fft(f)[:, :3, 3:-3, 3:-3], atol=1e-14)
    assert torch.allclose(s2_fft(f[..., 0], 3), s2_fft(f[..., 0])[:, :3, 3:-3], atol=1e-14)


def test_parseval(draw):
    F = draw.so3(L=4)
    degree = 2 * torch.arange(4).double() + 1
    total = (degree[:, None, None] * F.abs().square()).sum()
    assert torch.isclose(so3_integrate(so3_ifft(F, 8).abs().square()), total)
    f = so3_ifft(F, 4, real=True)
    spectrum = so3_fft(f)
    spectrum[0] = 0
    expected = (degree[:, None, None] * spectrum.abs().square()).sum().sqrt()
    assert math.isclose(spectral_size()(f), expected)


def test_rotated_signals_are_read_at_rotated_points():
    R = random_rotations(1, seed=4)[0]
    points = s2_points(5)

    def f(x):
        return x[..., 0] * x[..., 1] + x[..., 2] ** 3 - 0.3 * x[..., 1]

    assert torch.allclose(rotate_s2(f(points), R), f(points @ R), atol=1e-13)  # R^-1 x


def test_rotations_of_so3_act_from_the_left(draw):
    R, S = random_rotations(2, seed=5)
    f = so3_ifft(draw.so3(L=4), 4, real=True)
    assert torch.allclose(rotate_so3(rotate_so3(f, S), R), rotate_so3(f, R @ S), atol=1e-12)
    beta, alpha = grid_angles(4)
    B, A, C = torch.meshgrid(beta, alpha, alpha, indexing="ij")
    D = wigner_matrix(2, A, B, C)
    turned = wigner_matrix(2, *zyz_angles(R)).conj().mT @ D  # D(R^-1 Q)
    assert torch.allclose(rotate_so3(D[..., 1, 3], R), turned[..., 1, 3], atol=1e-13)


def test_gradients_are_those_of_a_linear_map(draw):
    f = draw.real(1, 6, 6).requires_grad_()
    assert torch.autograd.gradcheck(lambda f: torch.view_as_real(s2_fft(f, 2)), f)
    g = draw.real(4, 4, 4).requires_grad_()
    assert torch.autograd.gradcheck(lambda g: so3_ifft(so3_fft(g), 2, real=True), g)


def test_integrals_are_the_lowest_coefficients(draw):
    f, g = draw.real(8, 8), draw.real(8, 8, 8)
    assert torch.isclose(s2_integrate(f), s2_fft(f)[0, 3].real)
    assert torch.isclose(so3_integrate(g), so3_fft(g)[0, 3, 3].real)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: s2_fft(torch.zeros(3, 3)), "same even length"),
        (lambda: s2_fft(torch.zeros(4, 6)), "same even length"),
        (lambda: s2_fft(torch.zeros(4, 4), 3), "orders below 2"),
        (lambda: s2_fft(torch.zeros(4, 4, dtype=torch.int64)), "float32, float64 or complex"),
        (lambda: s2_fft(torch.zeros(4, 4).numpy()), "a tensor, got ndarray"),
        (lambda: rotate_s2(torch.zeros(4, 4), torch.ones(3, 3)), "differs from it by"),
        (lambda: rotate_so3(torch.zeros(4, 4, 4), -torch.eye(3)), "differs from it by"),
        (lambda: Oversampled("relu"), "a function, such as torch.relu, got 'relu'"),
        (lambda: so3_ifft(torch.zeros(2, 3, 3), 2), "coefficients must be complex"),
        (lambda: so3_ifft(torch.zeros(2, 3, 3).cfloat(), 1), "grid of bandwidth 2"),
        (lambda: rotate(torch.zeros(2, 4).cfloat(), 0.0, 0.0, 0.0), "2L-1"),
    ],
)
def test_what_is_no_signal_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
