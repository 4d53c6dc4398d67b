import pytest
import torch

from regimes.measure import perturbation_probe, principal_directions, random_directions


def test_the_probe_measures_a_nonlinear_function(tanh_net):
    f, w, _ = tanh_net
    phi = torch.func.jacrev(f)(w)
    top = principal_directions(phi, 3)
    probe = perturbation_probe(lambda delta: f(w + delta), top.directions, phi, eps=1e-3)
    torch.testing.assert_close(probe.linear, top.singular_values)
    by_hand = [float((f(w + 1e-3 * v) - f(w)).norm()) for v in top.directions]
    assert probe.responses.tolist() == pytest.approx(by_hand, rel=1e-12)
    torch.testing.assert_close(probe.rates, probe.responses / 1e-3)
    # the linear prediction holds to a few per mille at this step
    assert float(((probe.rates - probe.linear) / probe.linear).abs().max()) < 0.02


def test_random_directions_respond_with_the_mean_eigenvalue(draw):
    """Mean square of |Phi v| over random unit v is Tr K / P."""
    phi = draw(10, 60)
    directions = random_directions(4000, 60, seed=3, like=phi)
    torch.testing.assert_close(directions.norm(dim=1), torch.ones(4000).double())
    probe = perturbation_probe(lambda delta: phi @ delta, directions, phi)
    expected = float((phi**2).sum()) / 60
    assert float((probe.linear**2).mean()) == pytest.approx(expected, rel=0.02)


def test_an_operator_stands_for_the_jacobian(draw):
    phi, directions = draw(6, 9), random_directions(3, 9, seed=0, like=draw(1))
    dense = perturbation_probe(lambda delta: phi @ delta, directions, phi)
    free = perturbation_probe(lambda delta: phi @ delta, directions, lambda v: phi @ v)
    torch.testing.assert_close(dense.linear, free.linear)


def test_directions_depend_on_the_seed_alone():
    assert torch.equal(random_directions(2, 5, seed=1), random_directions(2, 5, seed=1))
    assert not torch.equal(random_directions(2, 5, seed=1), random_directions(2, 5, seed=2))


def test_bad_input_is_refused(draw):
    with pytest.raises(ValueError, match=r"shape \(k, P\)"):
        perturbation_probe(lambda d: d, draw(5), draw(3, 5))
    with pytest.raises(ValueError, match="jacobian has 4 parameters, directions 5"):
        perturbation_probe(lambda d: d, draw(2, 5), draw(3, 4))
    with pytest.raises(ValueError, match="eps must be a finite number"):
        perturbation_probe(lambda d: d, draw(2, 5), draw(3, 5), eps=0)
