"""Runs told apart by what they left unmet."""

import numpy as np
import pytest
import torch

from regimes.measure import RunClass, late_fall, run_classes, unmet_constraints

ROWS = [  # N_Delta of 100 parameters, far, reached, loss
    ((0, 0, 0, 0.0), RunClass.SAT),
    ((3, 0, 0, 1e-26), RunClass.PRECISION),
    ((3, 2, 0, 0.01), RunClass.DEAD),
    ((50, 40, 0, 0.01), RunClass.DEAD),  # the cause decides, not the number
    ((50, 40, 30, 0.01), RunClass.JAMMED),
    ((50, 0, 0, 1e-8), RunClass.JAMMED),  # close to jamming all are short by little
    ((5, 5, 5, 0.01), RunClass.UNCONVERGED),
    ((3, 2, 0, 1e-12), RunClass.UNCONVERGED),
    ((np.nan, np.nan, np.nan, np.nan), RunClass.NOT_RUN),
]


def classes(**options):
    unfitted, far, reached, loss = np.array([row for row, _ in ROWS], dtype=float).T
    return run_classes(unfitted, 100, loss, far, reached, **options)


def test_every_class_is_told():
    assert classes().tolist() == [kind for _, kind in ROWS]


def test_a_jammed_run_that_still_falls_is_not_converged():
    found = classes(falling=np.full(len(ROWS), 0.05))
    assert (found == RunClass.JAMMED).sum() == 0
    assert (found[4], found[2]) == (RunClass.UNCONVERGED, RunClass.DEAD)
    assert (classes(falling=np.zeros(len(ROWS))) == classes()).all()


def test_arrays_broadcast_and_thresholds_can_be_set():
    found = run_classes([[20.0], [5.0]], [100, 1000], 1.0, 5.0, 5.0, jammed=0.04)
    assert found.tolist() == [[3, 4], [3, 4]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_constraints_are_counted_run_by_run(dtype):
    draw = torch.Generator().manual_seed(0)
    F = torch.randn(4, 50, generator=draw, dtype=torch.float64).to(dtype)
    y = torch.where(torch.rand(50, generator=draw) < 0.5, -1.0, 1.0).to(dtype)
    active = torch.rand(4, 50, generator=draw) < 0.7
    found = unmet_constraints(F, y, active, margin=0.5, negligible=0.1)
    for i in range(4):
        short = [0.5 - float(y[mu] * F[i, mu]) for mu in range(50)]
        far = [mu for mu in range(50) if short[mu] > 0.05]
        assert found.unfitted[i] == sum(s > 0 for s in short)
        assert found.far[i] == len(far)
        assert found.reached[i] == sum(bool(active[i, mu]) for mu in far)
        assert found.unreached[i] == sum(
            short[mu] > 0 and not bool(active[i, mu]) for mu in range(50)
        )


def test_active_must_fit_the_predictions():
    with pytest.raises(ValueError, match="active must be truth values of the shape"):
        unmet_constraints(torch.ones(3), torch.ones(3), torch.ones(3))
    with pytest.raises(ValueError, match="active must be truth values of the shape"):
        unmet_constraints(torch.ones(3), torch.ones(3), torch.ones(2, dtype=torch.bool))


def test_the_last_tenth_is_looked_at():
    losses = torch.linspace(1.0, 0.5, 101, dtype=torch.float64)
    assert float(late_fall(losses)) == pytest.approx(1 - 0.5 / 0.55)
    assert float(late_fall(torch.ones(7))) == 0.0
