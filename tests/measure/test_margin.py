import math

import pytest
import torch

from regimes.measure import (
    bound_multiclass,
    generalisation_bound,
    margin_error,
    margins,
    ramp_loss,
)


def test_multiclass_margin_is_own_output_minus_the_best_other(draw):
    f, labels = draw(2, 5, 4), torch.tensor([0, 3, 1, 2, 2])
    found = margins(f, labels)
    for r in range(2):
        for i in range(5):
            others = [float(f[r, i, k]) for k in range(4) if k != labels[i]]
            assert float(found[r, i]) == pytest.approx(float(f[r, i, labels[i]]) - max(others))


def test_binary_margin_is_output_times_label(draw):
    f, y = draw(3, 6), torch.tensor([1, -1, 1, 1, -1, -1])
    torch.testing.assert_close(margins(f, y), f * y)


def test_ramp_and_margin_error():
    u = torch.tensor([-2.0, 0.0, 0.25, 0.5, 1.0], dtype=torch.float64)
    assert ramp_loss(u, 0.5).tolist() == [1, 1, 0.5, 0, 0]
    assert float(margin_error(u, 0.5)) == pytest.approx(0.5)


def test_ali_28_multiclass_bound(draw):
    """Sampled lower estimate of R(l_gamma) <= eq 79 <= eq 78 for a linear class, c=3, n=8."""
    n, c, P, M, gamma = 8, 3, 5, 2.0, 0.5
    phi, labels = draw(n, c, P), torch.arange(n) % c
    K = torch.einsum("iyp,jzp->iyjz", phi, phi)
    signs = 2.0 * torch.randint(2, (64, n), generator=torch.Generator().manual_seed(0)) - 1
    w = 0.1 * draw(64, P, seed=1)
    best = torch.full((64,), -math.inf).double()
    for _ in range(300):  # projected gradient ascent over |w| <= M, one w for each sign vector
        w = w.detach().requires_grad_(True)
        objective = (
            ramp_loss(margins(torch.einsum("iyp,sp->siy", phi, w), labels), gamma) * signs
        ).mean(1)
        best = torch.maximum(best, objective.detach())
        (g,) = torch.autograd.grad(objective.sum(), w)
        w = w + 0.1 * g / g.norm(dim=1, keepdim=True).clamp(min=1e-12)
        w = w * (M / w.norm(dim=1, keepdim=True)).clamp(max=1)
    bound = bound_multiclass(K, M, gamma)
    assert 0.1 < float(best.mean()) <= bound.by_class <= bound.whole
    traces = [float(sum(K[i, y, i, y] for i in range(n))) for y in range(c)]
    by_class = c / gamma * sum(M / n * math.sqrt(t) for t in traces)
    assert bound.by_class == pytest.approx(by_class, rel=1e-12)
    whole = c**1.5 * M / (gamma * n) * math.sqrt(sum(traces))
    assert bound.whole == pytest.approx(whole, rel=1e-12)


def test_generalisation_bound_is_the_sum_of_its_terms():
    found = generalisation_bound(0.2, 0.1, 50, 0.01)
    assert found == pytest.approx(0.2 + 0.2 + 3 * math.sqrt(math.log(200) / 100))


def test_bad_input_is_refused(draw):
    with pytest.raises(ValueError, match=r"lie in 0..2"):
        margins(draw(2, 3), torch.tensor([0, 3]))
    with pytest.raises(ValueError, match=r"labels \+-1"):
        margins(draw(3), torch.tensor([0.0, 1.0, 1.0]))
    with pytest.raises(ValueError, match="labels must have shape"):
        margins(draw(3), torch.ones(3, 1))
    with pytest.raises(ValueError, match="gamma must be a finite number"):
        ramp_loss(draw(3), 0)
    with pytest.raises(ValueError, match=r"\(n, c, n, c\), got \(2, 2\)"):
        bound_multiclass(torch.eye(2), 1.0, 1.0)
    with pytest.raises(ValueError, match="delta"):
        generalisation_bound(0.1, 0.1, 10, 1.5)
