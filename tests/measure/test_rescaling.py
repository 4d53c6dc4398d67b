import math

import pytest
import torch

from regimes.measure import (
    bound_linear,
    min_norm_interpolator,
    minimise_product,
    optimal_rescaling,
    rescaled_kernel,
    rescaled_norm,
    solution_covariance,
)


def test_interpolator_is_the_least_norm_solution(draw, dtype, tolerance):
    phi, y = draw(6, 20), draw(6, seed=1)
    found = min_norm_interpolator(phi.to(dtype), y.to(dtype))
    expected = phi.T @ torch.linalg.solve(phi @ phi.T, y)
    assert int(found.rank) == 6
    assert float(found.residual) < 100 * tolerance
    torch.testing.assert_close(found.weights.double(), expected, rtol=0, atol=100 * tolerance)


def test_cut_off_directions_are_left_out_of_a_batch(draw):
    phi, y = draw(3, 5, 8), draw(3, 5, seed=1)
    phi[1, 1] = phi[1, 0]  # rank 4
    found = min_norm_interpolator(phi, y)
    assert found.rank.tolist() == [5, 4, 5]
    torch.testing.assert_close(found.weights[1], torch.linalg.pinv(phi[1]) @ y[1])
    assert float(found.residual[1]) > 0.1 > 1e-9 > float(found.residual[0])


def test_covariance_is_that_of_noisy_labels(draw):
    phi = draw(5, 9)
    pseudo_inverse = torch.linalg.pinv(phi)
    expected = 0.3 * pseudo_inverse @ pseudo_inverse.T
    torch.testing.assert_close(solution_covariance(phi, 0.3), expected)


def test_ali_29_optimal_rescaling_is_the_minimiser(draw):
    phi, y = draw(7, 15), torch.tensor([1.0, -1, 1, 1, -1, 1, -1]).double()
    w = min_norm_interpolator(phi, y).weights
    found = optimal_rescaling(phi, w)
    u, s, _ = torch.linalg.svd(phi, full_matrices=False)
    assert found.bound == pytest.approx(float((u.T @ y).abs().sum()) / 7, rel=1e-10)
    assert found.bound <= 1
    # numerical minimiser of the same product over nu
    overlap = found.directions @ w
    nu, value = minimise_product(overlap**2, s**2)
    torch.testing.assert_close(found.nu, nu, rtol=1e-6, atol=0)
    assert value / 7 == pytest.approx(found.bound, rel=1e-10)
    other_form = s**2 / (u.T @ y).abs()
    torch.testing.assert_close(found.nu / found.nu[0], other_form / other_form[0])


def test_ali_29_the_value_is_the_bound_with_that_matrix(draw):
    phi, y = draw(7, 15), draw(7, seed=1)
    w = min_norm_interpolator(phi, y).weights
    found = optimal_rescaling(phi, w)
    v = found.directions
    A = (v.T * found.nu.sqrt()) @ v + torch.eye(15) - v.T @ v
    value = bound_linear(rescaled_kernel(phi, A), float(rescaled_norm(w, A)))
    assert value == pytest.approx(found.bound, rel=1e-10)
    assert bound_linear(phi @ phi.T, float(w.norm())) == pytest.approx(found.identity_bound)
    assert found.bound <= found.identity_bound


def rbf_study(a, scales, subsamples=100, n=50, N=1000):
    """[Baratin 2021, fig. 9]: RBF features on a line, singular values rescaled by c."""
    numbers = torch.Generator().manual_seed(0)
    x = torch.linspace(-a, a, N, dtype=torch.float64)
    omega = math.sqrt(2) * torch.randn(N, generator=numbers, dtype=torch.float64)
    b = 2 * math.pi * torch.rand(N, generator=numbers, dtype=torch.float64)
    psi, s, _ = torch.linalg.svd(math.sqrt(2 / N) * torch.cos(torch.outer(x, omega) + b))
    labels = torch.where(psi[:, 1] > 0, 1.0, -1.0).double()
    picks = torch.stack([torch.randperm(N, generator=numbers)[:n] for _ in range(subsamples)])
    results = []
    for c in scales:
        features = psi * (1 + c * (s**2 - 1)).clamp(min=0).sqrt()  # in the basis phi_j
        train = features[picks]
        w = min_norm_interpolator(train, labels[picks]).weights
        wrong = (labels * (w @ features.T) <= 0).double()
        held_out = torch.ones_like(wrong).scatter_(1, picks, 0.0)
        bounds = [optimal_rescaling(train[k], w[k]) for k in range(25)]
        results.append(
            {
                "error": float((wrong * held_out).sum() / held_out.sum()),
                "bound": sum(b.identity_bound for b in bounds) / 25,
                "bound_opt": sum(b.bound for b in bounds) / 25,
                "spread": float(w[:, 10].std() / w[:, 1].std()),
            }
        )
    return results


@pytest.fixture(scope="module", params=[1, 5])
def rbf(request):
    scales = (0.0, 0.1, 0.25, 0.99, 1.0)
    return request.param, dict(zip(scales, rbf_study(request.param, scales), strict=True))


def test_ali_30_the_plain_bound_explodes_and_the_optimal_one_follows_the_error(rbf):
    _, at = rbf
    assert at[1.0]["bound"] > 1e3 * min(r["bound"] for r in at.values())
    assert all(r["bound_opt"] <= 1 for r in at.values())
    assert all(at[c]["bound_opt"] < 0.75 * at[0.0]["bound_opt"] for c in at if c >= 0.1)
    assert at[0.0]["error"] == pytest.approx(0.5, abs=0.05)
    assert all(at[c]["error"] < 0.06 for c in (0.1, 0.25, 0.99))


def test_ali_31_solutions_scatter_anisotropically(rbf):
    half_width, at = rbf
    if half_width == 1:
        assert at[0.99]["spread"] >= 3 * at[0.25]["spread"]
    else:
        assert at[0.99]["spread"] > at[0.25]["spread"]


def test_bad_input_is_refused(draw):
    phi = draw(3, 6)
    with pytest.raises(ValueError, match="outside the span of the features"):
        optimal_rescaling(phi, draw(6))
    with pytest.raises(ValueError, match=r"\(n, P\) and w_star \(P,\)"):
        optimal_rescaling(phi, draw(5))
    with pytest.raises(ValueError, match=r"\(..., n, P\) and y \(..., n\)"):
        min_norm_interpolator(phi, draw(4))
    with pytest.raises(ValueError, match="must be positive"):
        minimise_product(torch.tensor([1.0, 0.0]), torch.ones(2))
