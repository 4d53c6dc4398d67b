"""Grams of layers: memory that was not cleared, symmetric halves, tiles."""

import pytest
import torch

from regimes.tangent._contract import add_gram_, mirror_, overwrites
from regimes.tangent._factors import Dense, Outer
from regimes.tangent._rights import Inputs


def drawn(*shape, seed=0):
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=draw)


def linear(m, n, positions=1, seed=0):
    left = drawn(m, n, 3, positions, seed=seed)
    right = Inputs(drawn(n, positions, 4, seed=seed + 1))
    return Outer(left, right, True, 0.7, False, "pairs")


def reference(a, b):
    """Weight and bias gradients written out and multiplied."""
    grams = []
    for side in (a, b):
        weight = torch.einsum("mnpt,ntq->mnpq", side.left, side.right.x).flatten(2)
        full = torch.cat([weight, side.left.sum(3) * side.bias], 2)
        grams.append(full.flatten(0, 1))
    return grams[0] @ grams[1].T


@pytest.mark.parametrize("size", [1, 2, 36, 127, 128, 129, 300, 520, 2050])
def test_mirror_copies_what_is_above_the_diagonal(size):
    full = drawn(size, size + 3)[:, :size]  # rows further apart than they are long
    upper = full.triu()
    mirror_(full)
    assert torch.equal(full, upper + upper.triu(1).T)


@pytest.mark.parametrize("workspace", [200, 1 << 20])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("positions", [1, 2])
def test_memory_that_was_not_cleared(positions, outputs, workspace):
    """The first factor replaces whatever was there, of one set and of two."""
    a, b = linear(outputs, 5, positions), linear(outputs, 6, positions, seed=5)
    assert overwrites(a) == (positions == 1)
    for other, same in ((a, True), (b, False)):
        out = torch.full((outputs * 5, outputs * other.samples), torch.nan, dtype=torch.float64)
        add_gram_(out, a, other, same=same, workspace=workspace, fresh=True)
        add_gram_(out, a, other, same=same, workspace=workspace)
        if same:
            mirror_(out)
        torch.testing.assert_close(out, 2 * reference(a, other), rtol=1e-12, atol=1e-12)


def test_only_a_plain_linear_layer_can_overwrite():
    shared = linear(2, 4)
    shared = Outer(shared.left[:, :1].expand(2, 4, 3, 1), shared.right, True, 0.7, False, "pairs")
    assert not overwrites(shared)
    assert not overwrites(Dense(drawn(2, 4, 6)))
    out = torch.full((8, 8), torch.nan, dtype=torch.float64)
    add_gram_(out, shared, shared, same=True, workspace=1 << 20, fresh=True)
    mirror_(out)
    torch.testing.assert_close(out, reference(shared, shared), rtol=1e-12, atol=1e-12)
