import pytest
import torch

from regimes import measure


def labels(draw, n):
    return torch.where(draw(n, seed=9) > 0, 1.0, -1.0).double()


@pytest.mark.parametrize("shape", [(4, 4), (3, 2, 3, 2)])
def test_changes_are_relative_frobenius_norms(draw, dtype, tolerance, shape):
    K, K0 = draw(*shape), draw(*shape, seed=1)
    expected = float(((K - K0) ** 2).sum() / (K0**2).sum()) ** 0.5
    found = measure.kernel_change(K.to(dtype), K0.to(dtype))
    assert float(found) == pytest.approx(expected, rel=10 * tolerance)
    flat = measure.weight_change(K.reshape(-1), K0.reshape(-1))
    assert float(flat) == pytest.approx(expected, rel=1e-12)


def test_changes_of_a_stack_are_one_number_a_member(draw):
    K, K0 = draw(2, 3, 2, 3, 2), draw(2, 3, 2, 3, 2, seed=1)
    each = [measure.kernel_change(K[i], K0[i]) for i in range(2)]
    torch.testing.assert_close(measure.kernel_change(K, K0), torch.stack(each))
    w, w0 = K.flatten(1), K0.flatten(1)
    torch.testing.assert_close(measure.weight_change(w, w0), torch.stack(each))
    with pytest.raises(ValueError, match="weights of member 1 are zero"):
        measure.weight_change(w, w0 * torch.tensor([[1.0], [0.0]]))
    with pytest.raises(ValueError, match=r"one vector \(P,\) or a stack"):
        measure.weight_change(K, K0)
    with pytest.raises(ValueError, match="a stack of them with the members first"):
        measure.kernel_change(w[0], w0[0])


def test_gram_picture_is_sorted_and_normalised(draw):
    phi = draw(5, 3)
    K, y = phi @ phi.T, torch.tensor([1, -1, 1, -1, 1])
    order = [1, 3, 0, 2, 4]
    expected = K[order][:, order] / K.norm() * 5
    torch.testing.assert_close(measure.gram_picture(K, y), expected)


def test_block_contrast_averages_the_two_kinds_of_pairs(draw):
    phi, y = draw(6, 3), labels(draw, 6)
    K = phi @ phi.T
    scaled = K / K.norm() * 6
    same = [float(scaled[i, j]) for i in range(6) for j in range(6) if y[i] == y[j]]
    cross = [float(scaled[i, j]) for i in range(6) for j in range(6) if y[i] != y[j]]
    expected = sum(same) / len(same) - sum(cross) / len(cross)
    assert float(measure.block_contrast(K, y)) == pytest.approx(expected, rel=1e-12)
    assert float(measure.block_contrast(5 * K, y)) == pytest.approx(expected, rel=1e-12)


def test_errors_count_ties_and_average_before_taking_signs(draw):
    F, y = draw(7, 30), labels(draw, 30)
    F[2, 3] = 0.0
    each = measure.test_error(F, y)
    for r in range(7):
        wrong = sum(float(F[r, i] * y[i]) <= 0 for i in range(30))
        assert float(each[r]) == pytest.approx(wrong / 30)
    mean = F.mean(0)
    wrong = sum(float(mean[i] * y[i]) <= 0 for i in range(30))
    assert float(measure.ensemble_error(F, y)) == pytest.approx(wrong / 30)


def test_variance_is_unbiased_over_seeds(draw):
    F = draw(4, 10)
    by_hand = [sum(float(F[r, i] - F[:, i].mean()) ** 2 for r in range(4)) / 3 for i in range(10)]
    found = float(measure.ensemble_variance(F))
    assert found == pytest.approx(sum(by_hand) / 10, rel=1e-12)


def test_unfitted_counts_margins_below_one(draw):
    F, y = 2 * draw(3, 12), labels(draw, 12)
    expected = [sum(float(F[r, i] * y[i]) < 1 for i in range(12)) for r in range(3)]
    assert measure.unfitted(F, y).tolist() == expected
    assert measure.unfitted(F, y, margin=0.2).tolist() <= expected


def test_tangent_residual_is_the_share_outside_the_span(draw, dtype, tolerance):
    phi, change = draw(4, 2, 20), draw(20, seed=1)
    rows = phi.reshape(8, 20)
    inside = rows.T @ torch.linalg.lstsq(rows.T, change[:, None]).solution[:, 0]
    expected = float((change - inside).norm() / change.norm())
    found = measure.tangent_residual(change.to(dtype), phi.to(dtype))
    assert float(found) == pytest.approx(expected, rel=10 * tolerance)
    assert float(measure.tangent_residual(inside, rows)) < 1e-12
    doubled = torch.cat([rows, rows])  # rank deficient: the span is the same
    assert float(measure.tangent_residual(change, doubled)) == pytest.approx(expected)


def test_bad_input_is_refused(draw):
    y = labels(draw, 5)
    nan = torch.full((5,), torch.nan)
    with pytest.raises(ValueError, match="NaN or infinite"):
        measure.test_error(nan, y)
    with pytest.raises(ValueError, match=r"y be \+-1 of shape \(P,\)"):
        measure.test_error(draw(4), y)
    with pytest.raises(ValueError, match="R seeds first"):
        measure.ensemble_error(draw(5), y)
    with pytest.raises(ValueError, match="at least two"):
        measure.ensemble_variance(draw(1, 5))
    with pytest.raises(ValueError, match="initial kernels are zero"):
        measure.kernel_change(torch.eye(2), torch.zeros(2, 2))
    with pytest.raises(ValueError, match=r"one shape, got \(2, 2\) and \(3, 3\)"):
        measure.kernel_change(torch.eye(2), torch.eye(3))
    with pytest.raises(ValueError, match="no cross-label block"):
        measure.block_contrast(torch.eye(3), torch.ones(3))
    with pytest.raises(ValueError, match=r"K must have shape \(P, P\)"):
        measure.gram_picture(torch.eye(3), torch.ones(2))
    with pytest.raises(ValueError, match="did not change"):
        measure.tangent_residual(torch.zeros(3), draw(2, 3))
    with pytest.raises(ValueError, match=r"change must have shape \(3,\)"):
        measure.tangent_residual(torch.ones(4), draw(2, 3))
