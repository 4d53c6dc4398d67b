"""Pre-activations at zero, counted where their number is known."""

import pytest
import torch

from regimes.measure import cusp_count, stability_bounds


def hidden(peaks, width=1e-5, dtype=torch.float64, seed=0):
    """Two layers of Gaussian pre-activations with so many near zero in each network."""
    draw = torch.Generator().manual_seed(seed)
    layers = []
    for layer in range(2):
        z = torch.randn(len(peaks), 500, 8, generator=draw, dtype=torch.float64)
        for i, count in enumerate(peaks):
            rows = torch.randperm(4000, generator=draw)[: count * (layer + 1)]
            z[i].view(-1)[rows] = width * (2 * torch.rand(len(rows), generator=draw) - 1).double()
        layers.append(z.to(dtype))
    return layers


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_plateau_holds_the_peak(dtype):
    peaks = [0, 60, 200]
    found = cusp_count(hidden(peaks, dtype=dtype))
    assert found.counts.shape == (2, 3, 9)
    for layer in range(2):
        for i, count in enumerate(peaks):
            noise = 10 + 3 * float(found.spread[layer, i])
            assert float(found.plateau[layer, i]) == pytest.approx(count * (layer + 1), abs=noise)
    assert found.total.tolist() == pytest.approx([3 * c for c in peaks], abs=20)
    assert bool((found.tau[1:] > 1e-5).all())


def test_counts_are_those_of_the_definition():
    layers = hidden([30, 90])
    taus = (1e-1, 1e-2, 1e-3)
    found = cusp_count(layers, taus=taus, scale=2.0)
    for layer, z in enumerate(layers):
        for i in range(2):
            for j, tau in enumerate(taus):
                inside = sum(abs(a) < 2 * tau for a in z[i].flatten().tolist())
                shell = sum(2 * tau <= abs(a) < 6 * tau for a in z[i].flatten().tolist())
                assert float(found.counts[layer, i, j]) == inside - shell / 2
                assert float(found.background[layer, i, j]) == shell / 2


def test_jitter_wider_than_a_tau_cuts_the_peak():
    found = cusp_count(hidden([400], width=1e-3))
    assert float(found.counts[:, 0, -1].sum()) < 100
    assert float(found.total) == pytest.approx(1200, rel=0.1)


def test_bounds():
    assert stability_bounds(0.5, points=100).most_parameters == 200
    assert stability_bounds(0.3, 0.4, points=100).most_parameters == float("inf")
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\]"):
        stability_bounds(1.5, points=10)
    with pytest.raises(ValueError, match="three different"):
        cusp_count(hidden([1]), taus=(1e-2, 1e-3))
    with pytest.raises(ValueError, match=r"pre-activations \(R, P, h\)"):
        cusp_count([torch.ones(3, 2)])
