import math

import numpy as np
import pytest
import torch

from regimes import measure


def test_vectors_are_the_feet_of_the_boundaries(draw, dtype, tolerance):
    w, b = draw(20, 4), draw(20, seed=1)
    z = measure.neuron_vectors(w.to(dtype), b.to(dtype))
    assert z.dtype == dtype
    z = z.double()
    on_boundary = (w * z).sum(1) / 2 + b
    assert float(on_boundary.abs().max()) < 100 * tolerance
    # parallel to w: no point of the boundary is nearer
    distance = 2 * b.abs() / w.norm(dim=1)
    torch.testing.assert_close(z.norm(dim=1), distance, rtol=10 * tolerance, atol=0)


def test_interfaces_lie_on_the_first_axis(draw):
    w, b = draw(20, 3), draw(20, seed=1)
    zeta = measure.neuron_interfaces(w, b)
    torch.testing.assert_close(w[:, 0] * zeta / 3**0.5 + b, torch.zeros(20).double())
    aligned = w.clone()
    aligned[:, 1:] = 0
    z = measure.neuron_vectors(aligned, b)
    torch.testing.assert_close(z[:, 0], measure.neuron_interfaces(aligned, b))


def test_amplification_is_signed_for_one_direction(draw):
    w = draw(10, 4)
    one, two = measure.neuron_amplification(w), measure.neuron_amplification(w, informative=2)
    for n in range(10):
        rest = math.sqrt(sum(float(v) ** 2 for v in w[n, 1:]))
        assert float(one[n]) == pytest.approx(float(w[n, 0]) / rest)
        rest = math.sqrt(sum(float(v) ** 2 for v in w[n, 2:]))
        assert float(two[n]) == pytest.approx(math.hypot(*w[n, :2].tolist()) / rest)
    assert bool((two > 0).all())
    assert math.isinf(measure.neuron_amplification(torch.tensor([[1.0, 0.0]])).item())


def test_dead_neurons_have_no_active_point(draw):
    w, b, x = draw(40, 3), 2 * draw(40, seed=1), draw(15, 3, seed=2)
    found = measure.dead_neurons(w, b, x)
    expected = [
        not any(float(w[n] @ x[m]) / 3**0.5 + float(b[n]) > 0 for m in range(15)) for n in range(40)
    ]
    assert found.tolist() == expected
    assert 0 < sum(expected) < 40


def test_dead_neurons_in_blocks(draw, monkeypatch):
    w, b, x = draw(2, 30, 3), 2 * draw(2, 30, seed=1), draw(2, 17, 3, seed=2)
    whole = measure.dead_neurons(w, b, x)
    monkeypatch.setattr("regimes.measure._neurons._BLOCK", 200)
    assert torch.equal(measure.dead_neurons(w, b, x), whole)


def test_a_stack_is_measured_one_by_one(draw):
    w, b, beta = draw(3, 10, 4), draw(3, 10, seed=1), draw(3, 10, seed=2)
    x = draw(6, 4, seed=3)
    own = draw(3, 6, 4, seed=4)
    for r in range(3):
        for stacked, alone in (
            (measure.neuron_vectors(w, b), measure.neuron_vectors(w[r], b[r])),
            (measure.neuron_interfaces(w, b), measure.neuron_interfaces(w[r], b[r])),
            (measure.neuron_amplification(w, 2), measure.neuron_amplification(w[r], 2)),
            (measure.dead_neurons(w, b, x), measure.dead_neurons(w[r], b[r], x)),
            (measure.dead_neurons(w, b, own), measure.dead_neurons(w[r], b[r], own[r])),
            (measure.informative_share(w, beta), measure.informative_share(w[r], beta[r])),
        ):
            torch.testing.assert_close(stacked[r], alone)


def test_comp_31_share_is_the_weighted_mean(draw):
    """COMP-31: mean of w_1^2/|w|^2 weighted by (beta |w|)^2; 1/2 at initialisation in d=2."""
    w, beta = draw(2000, 2), draw(2000, seed=1)
    size = (w**2).sum(1)
    weight = beta**2 * size
    expected = float((weight * w[:, 0] ** 2 / size).sum() / weight.sum())
    assert float(measure.informative_share(w, beta)) == pytest.approx(expected)
    assert expected == pytest.approx(0.5, abs=0.1)
    w3 = draw(2000, 3, seed=2)
    assert float(measure.informative_share(w3, beta, 2)) == pytest.approx(2 / 3, abs=0.1)
    w[:, 1] = 0
    assert float(measure.informative_share(w, beta)) == 1


def test_small_weights_do_not_underflow():
    w = torch.full((1, 4), 1e-30)
    assert measure.neuron_vectors(w, torch.tensor([1e-30])).tolist() == [[-0.5] * 4]
    assert float(measure.neuron_amplification(w)) == pytest.approx(3**-0.5)


def test_bad_input_is_refused(draw):
    with pytest.raises(ValueError, match=r"b \(h,\) or \(R, h\), got \(5, 3\) and \(4,\)"):
        measure.neuron_vectors(draw(5, 3), draw(4))
    with pytest.raises(ValueError, match="leave at least one of the 3 inputs, got 3"):
        measure.neuron_amplification(draw(5, 3), 3)
    with pytest.raises(ValueError, match=r"x must have shape \(p, d\) or \(R, p, d\)"):
        measure.dead_neurons(draw(5, 3), draw(5), draw(2, 4, 3))
    with pytest.raises(ValueError, match=r"beta must have shape \(5,\)"):
        measure.informative_share(draw(5, 3), draw(4))
    with pytest.raises(ValueError, match=r"\(h, d\) or \(R, h, d\), got \(3,\)"):
        measure.neuron_amplification(draw(3))


def test_bins_are_counted_by_amplitude():
    zeta = np.linspace(-2.9, 2.9, 30)  # one neuron per bin
    assert measure.occupied_bins(zeta, np.ones(30)) == 27
    assert measure.occupied_bins(zeta, np.r_[100.0, np.ones(29)]) == 18  # 100 + 17 of 129
    assert measure.occupied_bins(np.array([5.0]), np.array([1.0])) == 31
