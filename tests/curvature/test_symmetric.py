"""Symmetric products strip by strip."""

import torch

from regimes._random import generator
from regimes.curvature import _symmetric
from regimes.curvature._symmetric import add_product_, mirror_


def test_strips_and_squares_give_the_whole_product(monkeypatch):
    monkeypatch.setattr(_symmetric, "_STRIP", 5)
    monkeypatch.setattr(_symmetric, "_SQUARE", 3)
    draws = generator(0, "tests/symmetric")
    J = torch.randn(2, 4, 13, generator=draws, dtype=torch.float64)
    weights = torch.randn(2, 4, 1, generator=draws, dtype=torch.float64)
    out = torch.ones(2, 13, 13, dtype=torch.float64)
    add_product_(out, J, weights * J, 0.5)
    mirror_(out)
    assert torch.equal(out, out.mT)
    torch.testing.assert_close(out, 1 + 0.5 * J.mT @ (weights * J))
