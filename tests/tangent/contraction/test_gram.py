"""Grams of layers: memory that was not cleared, symmetric halves, tiles."""

import pytest
import torch

from regimes.tangent.contraction import Dense, Outer, Strategy, is_linear, mirror_, write_gram_
from regimes.tangent.contraction._gram import add_gram_
from regimes.tangent.contraction._right import Inputs


def drawn(*shape, seed=0):
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=draw)


def linear(m, n, positions=1, seed=0):
    left = drawn(m, n, 3, positions, seed=seed)
    right = Inputs(drawn(n, positions, 4, seed=seed + 1))
    return Outer(left, right, True, 0.7, False, Strategy.PAIRS)


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
@pytest.mark.parametrize("positions", [(1, 1), (1, 2), (2, 1), (2, 2), ()])
def test_memory_that_was_not_cleared(positions, outputs, workspace):
    """Whatever was there is replaced by the sum of the layers, of one set and of two."""
    rows = [linear(outputs, 5, t, seed=3 * i) for i, t in enumerate(positions)]
    columns = [linear(outputs, 6, t, seed=9 + 3 * i) for i, t in enumerate(positions)]
    for others, same in ((rows, True), (columns, False)):
        out = torch.full((outputs * 5, outputs * (5 if same else 6)), torch.nan).double()
        layers = list(zip(rows, others, strict=True))
        write_gram_(out, iter(layers), same=same, workspace=workspace)
        if same:
            mirror_(out)
        true = sum((reference(a, b) for a, b in layers), torch.zeros_like(out))
        torch.testing.assert_close(out, true, rtol=1e-12, atol=1e-12)


def test_a_readout_is_no_plain_linear_layer():
    """Its left factors are kept once; beside another set where they are not, and by itself."""
    plain = linear(2, 4)
    shared = Outer(
        plain.left[:, :1].expand(2, 4, 3, 1), plain.right, True, 0.7, False, Strategy.PAIRS
    )
    copied = Outer(shared.left.contiguous(), plain.right, True, 0.7, False, Strategy.PAIRS)
    assert is_linear(plain)
    assert is_linear(copied)
    assert not is_linear(shared)
    assert not is_linear(linear(2, 4, positions=2))
    assert not is_linear(Dense(drawn(2, 4, 6)))
    for a, b in ((shared, shared), (shared, copied), (copied, shared)):
        out = torch.full((8, 8), torch.nan, dtype=torch.float64)
        write_gram_(out, [(a, b)], same=a is b, workspace=1 << 20)
        if a is b:
            mirror_(out)
        torch.testing.assert_close(out, reference(shared, shared), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("same", [True, False])
def test_a_left_factor_shared_by_all_samples(same):
    """Kept once it gives the Gram that its copies give, coupled outputs included."""
    draw = torch.Generator().manual_seed(0)
    weights = torch.tensor([[1.0, 0, 0], [0, 2, 0], [0, 1, 1]], dtype=torch.float64)
    right = Inputs(torch.randn(4, 1, 5, dtype=torch.float64, generator=draw))
    shared = weights[:, None, :, None].expand(3, 4, 3, 1)
    grams = []
    for left in (shared, shared.contiguous()):
        factor = Outer(left, right, True, 0.5, False, Strategy.PAIRS)
        assert factor.left_is_shared == (left is shared)
        out = torch.zeros(12, 12, dtype=torch.float64)
        other = factor if same else factor.rows(0, 4)
        add_gram_(out, factor, other, same=same, workspace=1 << 20)
        if same:
            mirror_(out)
        grams.append(out)
    torch.testing.assert_close(*grams)
