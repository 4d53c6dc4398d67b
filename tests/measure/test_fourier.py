import pytest
import torch

from regimes.measure import fourier_decomposition


def test_a_translation_invariant_kernel_has_pure_frequencies():
    n = 16
    x = torch.arange(n, dtype=torch.float64) * 2 * torch.pi / n
    strength = [5.0, 3.0, 2.0, 1.0]  # eigenvalue n/2 * strength per wave, n * for the constant
    K = sum(s * torch.cos(k * (x[:, None] - x)) for k, s in enumerate(strength))
    found = fourier_decomposition(K)
    assert found.peak_frequency[:7].tolist() == [0, 1, 1, 2, 2, 3, 3]
    expected = torch.tensor([0, 1, 1, 2, 2, 3, 3], dtype=torch.float64)
    torch.testing.assert_close(found.mean_frequency[:7], expected, rtol=0, atol=1e-10)
    eigenvalues = torch.tensor([80.0, 24, 24, 16, 16, 8, 8], dtype=torch.float64)
    torch.testing.assert_close(found.values[:7], eigenvalues)


def test_magnitudes_are_those_of_a_plain_transform(draw, dtype, tolerance):
    phi = draw(9, 20)
    K = phi @ phi.T
    found = fourier_decomposition(K.to(dtype))
    _, u = torch.linalg.eigh(K)
    x = torch.arange(9, dtype=torch.float64)
    for rank in (0, 4, 8):
        for k in range(5):
            wave = torch.exp(-2j * torch.pi * k * x / 9)
            expected = abs((u[:, 8 - rank] * wave).sum())
            assert float(found.magnitudes[k, rank]) == pytest.approx(
                float(expected), abs=100 * tolerance
            )


def test_mean_frequency_is_weighted_by_energy():
    wave = torch.cos(torch.arange(8) * torch.pi / 4) + 2 * torch.cos(torch.arange(8) * torch.pi / 2)
    found = fourier_decomposition(torch.outer(wave, wave).double())
    assert float(found.mean_frequency[0]) == pytest.approx((1 * 1 + 4 * 2) / 5, rel=1e-6)
    assert int(found.peak_frequency[0]) == 2


def test_several_outputs_are_refused():
    with pytest.raises(ValueError, match="one output"):
        fourier_decomposition(torch.eye(4).reshape(2, 2, 2, 2))
