import pytest
import torch

from regimes import measure
from regimes.theory import shallow_relu_kernel


def network(draw, h, d, *stack):
    return draw(*stack, h, seed=1), draw(*stack, h, d, seed=2), draw(*stack, h, seed=3)


def jacobian_gram(beta, w, b, x, last=False):
    """Products of gradients of f(x) = (1/h) sum beta sqrt2 relu(w.x/sqrt(d) + b), by autograd."""
    h, d = w.shape
    rows = []
    for point in x:
        parts = [p.clone().requires_grad_() for p in (beta, w, b)]
        f = (parts[0] * 2**0.5 * torch.relu(parts[1] @ point / d**0.5 + parts[2])).sum() / h
        grads = torch.autograd.grad(f, parts)
        rows.append(torch.cat([g.flatten() for g in (grads[:1] if last else grads)]))
    features = torch.stack(rows)
    return features @ features.T


@pytest.mark.parametrize("part", ["full", "last"])
def test_it_is_the_product_of_gradients(draw, part):
    """Equal to the autograd Jacobian product to 1e-10."""
    beta, w, b = network(draw, 25, 3)
    x = draw(8, 3)
    found = measure.shallow_kernel(beta, w, b, x, part=part)
    expected = jacobian_gram(beta, w, b, x, last=part == "last")
    assert float((found - expected).abs().max() / expected.abs().max()) < 1e-10
    cross = measure.shallow_kernel(beta, w, b, x[:3], x[2:], part=part)
    torch.testing.assert_close(cross, found[:3, 2:], rtol=1e-12, atol=1e-14)


def test_blocks_stacks_and_precision(draw, dtype, tolerance, monkeypatch):
    beta, w, b = network(draw, 30, 4, 3)
    x = draw(6, 4)
    alone = torch.stack([measure.shallow_kernel(beta[r], w[r], b[r], x) for r in range(3)])
    monkeypatch.setattr("regimes.measure._shallow_kernel._BLOCK", 100)
    found = measure.shallow_kernel(beta.to(dtype), w.to(dtype), b.to(dtype), x)
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), alone, rtol=10 * tolerance, atol=tolerance)


def test_wide_networks_start_at_the_closed_form(draw):
    """h Theta -> k(x, z) of docs/themes/compression.md, "Tangent kernels"."""
    h, d = 100_000, 5
    beta, w, b = network(draw, h, d)
    x = draw(6, d)
    found = h * measure.shallow_kernel(beta, w, b, x)
    expected = shallow_relu_kernel(x)
    assert float(((found - expected) / expected).abs().max()) < 0.05


@pytest.mark.parametrize("informative", [1, 2])
def test_comp_35_split_is_exact_without_perpendicular_weights(draw, informative):
    beta, w, b = network(draw, 40, 5)
    w[:, informative:] = 0
    x, z = draw(12, 5), draw(7, 5, seed=9)
    K = measure.shallow_kernel(beta, w, b, x, z)
    parts = measure.split_kernel(beta, w, b, x, z, informative=informative)
    assert float((parts.gram - K).abs().max() / K.abs().max()) < 1e-12
    d_par = slice(informative)
    first = measure.theta1(beta, w[:, d_par], b, x[:, d_par], z[:, d_par], d=5)
    second = measure.theta2(beta, w[:, d_par], b, x[:, d_par], z[:, d_par], d=5)
    torch.testing.assert_close(first, parts.theta1, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(second, parts.theta2, rtol=1e-12, atol=1e-14)
    # moving x_perp leaves both parts alone
    moved = x.clone()
    moved[:, informative:] += 1
    again = measure.split_kernel(beta, w, b, moved, z, informative=informative)
    torch.testing.assert_close(again.theta1, parts.theta1)
    torch.testing.assert_close(again.theta2, parts.theta2)


def test_comp_36_split_is_the_gram_with_perpendicular_weights_removed(draw):
    beta, w, b = network(draw, 60, 4, 2)
    x = draw(10, 4)
    bare = w.clone()
    bare[..., 1:] = 0
    found = measure.split_kernel(beta, w, b, x).gram
    torch.testing.assert_close(found, measure.shallow_kernel(beta, bare, b, x))
    gaps = []
    for shrink in (1, 10, 100):
        near = torch.cat([w[0, :, :1], w[0, :, 1:] / shrink], 1)
        K = measure.shallow_kernel(beta[0], near, b[0], x)
        gaps.append(float(measure.kernel_change(found[0], K)))
    assert gaps[0] > 2 * gaps[1] > 4 * gaps[2]


def test_bad_input_is_refused(draw):
    beta, w, b = network(draw, 5, 3)
    x = draw(4, 3)
    with pytest.raises(ValueError, match="unknown part 'first'"):
        measure.shallow_kernel(beta, w, b, x, part="first")
    with pytest.raises(ValueError, match=r"x must have shape \(n, 3\)"):
        measure.shallow_kernel(beta, w, b, x[:, :2])
    with pytest.raises(ValueError, match=r"beta \(4,\)"):
        measure.shallow_kernel(beta[:4], w, b, x)
    with pytest.raises(ValueError, match="leave at least one of the 3 inputs"):
        measure.split_kernel(beta, w, b, x, informative=3)
    with pytest.raises(ValueError, match="d must be an integer >= 3, got 2"):
        measure.theta1(beta, w, b, x, d=2)
