"""Bags of embeddings written out as lookups and sums, against torch's own."""

import pytest
import torch
import torch.nn.functional as F

from regimes._random import generator
from regimes.tangent._operations import plain_operations

DRAWS = generator(0, "test/bags")
WEIGHT = torch.randn(7, 3, generator=DRAWS, dtype=torch.float64)
BAGS, FLAT = (torch.randint(0, 7, shape, generator=DRAWS) for shape in ((5, 4), (12,)))
FACTORS = torch.randn(12, generator=DRAWS, dtype=torch.float64)
OFFSETS = torch.tensor([0, 3, 3, 9])  # the second bag is empty


@pytest.mark.parametrize("padding", [None, 0, -1])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("last", [False, True])
def test_bags(mode, padding, last):
    with_last = {"include_last_offset": last, "padding_idx": padding, "mode": mode}
    ends = torch.cat([OFFSETS, torch.tensor([12])]) if last else OFFSETS
    calls = [
        lambda w: F.embedding_bag(BAGS, w, None, None, 2.0, False, mode, padding_idx=padding),
        lambda w: F.embedding_bag(FLAT, w, ends, **with_last),
    ]
    if mode == "sum":
        calls.append(
            lambda w: F.embedding_bag(FLAT, w, ends, per_sample_weights=FACTORS, **with_last)
        )
    for call in calls:
        weight = WEIGHT.clone().requires_grad_()
        own = call(weight)
        with plain_operations(torch.nn.EmbeddingBag(1, 1, _weight=torch.zeros(1, 1))):
            plain = call(weight)
        assert (plain.grad_fn.name() == "EmbeddingBagBackward0") == (mode == "max")
        torch.testing.assert_close(plain, own)
        pulled = [torch.autograd.grad(f.square().sum(), weight)[0] for f in (plain, own)]
        torch.testing.assert_close(*pulled)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_weight_norm(dim):
    v, g = (torch.randn(s, generator=DRAWS, dtype=torch.float64) for s in ((3, 4), (3, 4)))
    g = g.sum() if dim == -1 else g.sum(1 - dim, keepdim=True)
    layer = torch.nn.utils.parametrizations.weight_norm(
        torch.nn.Linear(1, 1, bias=False, device="meta")
    )

    def loss(v, g):
        return torch._weight_norm(v, g, dim).pow(3).sum()

    own = loss(v, g)
    with plain_operations(layer):
        torch.testing.assert_close(loss(v, g), own)
        found = torch.func.hessian(loss)(v, g)  # the fused one has a wrong second derivative
    slopes = torch.func.grad(loss)
    step = 1e-6 * v.square()
    change = (slopes(v + step, g) - slopes(v - step, g)) / 2
    torch.testing.assert_close(torch.einsum("ijkl,kl->ij", found, step), change, rtol=1e-6, atol=0)
