"""Kernels of stacked networks against the kernel of each."""

import pytest
import torch

from regimes import measure, nets
from regimes.tangent import TangentKernel, stacked_gram


def members(**options):
    return nets.stack(lambda seed: nets.FullyConnected(4, 6, seed=seed, **options), range(3))


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("parametrization", ["ntk", "mean_field", "standard"])
def test_it_is_the_kernel_of_every_member(dtype, tolerance, depth, bias, parametrization):
    ensemble = members(
        depth=depth,
        bias=bias,
        parametrization=parametrization,
        activation="softplus_5",
        dtype=dtype,
    )
    x = torch.randn(5, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64).to(dtype)
    found = stacked_gram(ensemble, x)
    for i in range(3):
        kernel = TangentKernel(ensemble.member(i), precision=str(dtype).removeprefix("torch."))
        torch.testing.assert_close(found[i], kernel(x), rtol=50 * tolerance, atol=50 * tolerance)
    torch.testing.assert_close(stacked_gram(ensemble, x[:2], x), found[:, :2])


def test_a_small_budget_takes_the_members_one_by_one():
    ensemble, x = members(depth=2), torch.ones(5, 4)
    torch.testing.assert_close(stacked_gram(ensemble, x, memory=1), stacked_gram(ensemble, x))


def test_the_change_of_every_members_kernel():
    ensemble, other = members(depth=2), members(depth=3)
    after, before = stacked_gram(other, torch.eye(4)), stacked_gram(ensemble, torch.eye(4))
    each = [measure.kernel_change(after[i], before[i]) for i in range(3)]
    torch.testing.assert_close(measure.kernel_change(after, before), torch.stack(each))


def test_other_networks_are_refused():
    with pytest.raises(ValueError, match="one output"):
        stacked_gram(members(out_dim=2), torch.ones(5, 4))
    with pytest.raises(ValueError, match=r"takes an Ensemble, got FullyConnected; make one with"):
        stacked_gram(nets.FullyConnected(4, 6, seed=0), torch.ones(5, 4))
