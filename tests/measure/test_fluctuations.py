"""Fluctuations, against loops, and the identity of square errors."""

import pytest
import torch

from regimes.measure import (
    ensemble_excess,
    ensemble_variance,
    kernel_fluctuation,
    output_fluctuation,
    part_covariance,
)


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("size", [2, 3, 17])
def test_excess_is_the_variance_exactly(size):  # LAND-49
    found = ensemble_excess(100 * draw(size, 50) + 7, draw(50, seed=1))
    assert found.alone - found.together == pytest.approx(found.variance, rel=1e-10)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_outputs_fluctuate_around_their_mean(dtype):
    F = draw(5, 40).to(dtype)
    found = output_fluctuation(F)
    assert float(found.rms) == pytest.approx(float(ensemble_variance(F)) ** 0.5, rel=1e-5)
    each = [float(((f - F.mean(0)) ** 2).mean() * 5 / 4) ** 0.5 for f in F]
    assert found.each.tolist() == pytest.approx(each, rel=1e-5)


def test_kernels_fluctuate_around_their_mean():
    K, mean = draw(400, 3, 3, seed=2) + 5, 5.0
    found = kernel_fluctuation(K)
    by_hand = [float((k - K.mean(0)).norm() / K.mean(0).norm()) for k in K]
    assert found.each.tolist() == pytest.approx(by_hand)
    assert float(found.rms) == pytest.approx(1 / mean, rel=0.1)
    pair = K[:2]  # the unbiased form does not shrink with few replicas
    size = pair.mean(0).norm()
    assert float(kernel_fluctuation(pair).rms) == pytest.approx(
        float((pair[0] - pair[1]).norm() / 2**0.5 / size)
    )


def test_bad_input():
    with pytest.raises(ValueError, match=r"shape \(R, n\) with R >= 2"):
        output_fluctuation(draw(1, 3))
    with pytest.raises(ValueError, match=r"shape \(R, n, n2\)"):
        kernel_fluctuation(draw(3, 3))
    with pytest.raises(ValueError, match=r"y must have shape \(3,\)"):
        ensemble_excess(draw(2, 3), draw(2))


def test_covariances_are_those_of_all_pairs():
    K = draw(6, 3, 2, 2, seed=3) + draw(6, 1, 2, 2, seed=4)  # with something in common
    found, apart = part_covariance(K), (K - K.mean(0)).flatten(2)
    pairs = torch.einsum("rap,rbp->ab", apart, apart) / 5
    assert found.variance == pytest.approx(float(pairs.diagonal().mean()))
    assert found.covariance == pytest.approx(float((pairs.sum() - pairs.trace()) / 6))
    with pytest.raises(ValueError, match=r"R, h >= 2"):
        part_covariance(K[:, :1])
