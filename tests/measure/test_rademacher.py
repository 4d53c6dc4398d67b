import itertools

import pytest
import torch

from regimes.measure import (
    bound_flow,
    bound_linear,
    rademacher_flow,
    rademacher_linear,
    rescaled_kernel,
    rescaled_norm,
)


def enumerated(steps, n):
    total = 0.0
    for signs in itertools.product([-1.0, 1.0], repeat=n):
        sigma = torch.tensor(signs, dtype=torch.float64)
        total += sum(m * float(sigma @ K @ sigma) ** 0.5 for m, K in steps) / n
    return total / 2**n


def test_enumeration_visits_every_sign_vector(draw):
    phi = draw(7, 4)
    K = phi @ phi.T
    found = rademacher_linear(K, 1.7)
    assert found.exact
    assert found.error == 0
    assert found.value == pytest.approx(enumerated([(1.7, K)], 7), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_ali_26_the_bound_holds_and_is_tight_to_a_root_of_two(draw, seed):
    phi = draw(12, 1 + 3 * seed, seed=seed)
    K = phi @ phi.T
    ratio = rademacher_linear(K, 2.0).value / bound_linear(K, 2.0)
    assert 0.707 <= ratio <= 1
    assert bound_linear(K, 2.0) == pytest.approx(2 / 12 * float(K.trace()) ** 0.5)


def test_ali_26_reparametrisation_changes_nothing(draw):
    phi, w = draw(12, 6), draw(6, seed=1)
    A = draw(6, 6, seed=2) + 3 * torch.eye(6)
    identity = torch.eye(6).double()
    K_A, M_A = rescaled_kernel(phi, A), float(rescaled_norm(w, A))
    # the same class in the coordinates (A^T w, A^{-1} Phi), measured there with the plain norm
    new_phi, new_w = torch.linalg.solve(A, phi.T).T, A.T @ w
    K_new, M_new = rescaled_kernel(new_phi, identity), float(rescaled_norm(new_w, identity))
    assert bound_linear(K_A, M_A) == pytest.approx(bound_linear(K_new, M_new), rel=1e-10)
    exact, again = rademacher_linear(K_A, M_A), rademacher_linear(K_new, M_new)
    assert exact.value == pytest.approx(again.value, rel=1e-10)
    torch.testing.assert_close(K_A, phi @ torch.linalg.inv(A @ A.T) @ phi.T)


def test_ali_27_the_bound_of_a_learning_flow(draw):
    kernels = [draw(12, 3 + k, seed=k) for k in range(5)]
    steps = [(0.5 + k, phi @ phi.T) for k, phi in enumerate(kernels)]
    exact, bound = rademacher_flow(steps).value, bound_flow(steps)
    assert 0.707 * bound <= exact <= bound


def test_the_flow_adds_up_its_steps(draw):
    phi = [draw(6, 4, seed=k) for k in range(3)]
    steps = [(1.0 + k, p @ p.T) for k, p in enumerate(phi)]
    assert rademacher_flow(steps).value == pytest.approx(enumerated(steps, 6), rel=1e-12)
    separate = sum(bound_linear(K, m) for m, K in steps)
    assert bound_flow(steps) == pytest.approx(separate, rel=1e-12)


def test_sampling_agrees_with_enumeration_within_its_error(draw):
    phi = draw(21, 5)
    sampled = rademacher_linear(phi @ phi.T, 1.0, samples=20_000, seed=1)
    assert not sampled.exact
    assert 0 < sampled.error < 0.01 * sampled.value
    # a block of 20 samples with a 21st of zero features is enumerated exactly
    padded = torch.zeros(21, 21).double()
    padded[:20, :20] = phi[:20] @ phi[:20].T
    exact = rademacher_linear(padded[:20, :20], 1.0).value * 20 / 21
    estimate = rademacher_linear(padded, 1.0, samples=20_000, seed=1)
    assert abs(estimate.value - exact) < 4 * estimate.error


def test_bad_input_is_refused(draw):
    with pytest.raises(ValueError, match="steps is empty"):
        bound_flow([])
    with pytest.raises(ValueError, match="every kernel must have one shape"):
        bound_flow([(1.0, torch.eye(2)), (1.0, torch.eye(3))])
    with pytest.raises(ValueError, match="radius must be a finite number"):
        bound_linear(torch.eye(2), -1.0)
    with pytest.raises(ValueError, match=r"A must have shape \(4, 4\)"):
        rescaled_kernel(draw(3, 4), torch.eye(3))
