"""Grams against nngeometry, where it is installed and knows the layers."""

import pytest
import torch

from regimes.tangent import TangentKernel
from tests.tangent import zoo

pytestmark = pytest.mark.cross_library
nngeometry = pytest.importorskip("nngeometry", reason="nngeometry comes with `make bench`")


@pytest.mark.parametrize("name", ["linear", "mlp one output", "mlp without biases", "lenet"])
def test_agrees_with_nngeometry(name):
    from torch.utils.data import DataLoader, TensorDataset

    network, x = zoo.build(name)
    own = torch.Generator()  # else the loader draws from the global state
    loader = DataLoader(TensorDataset(x, torch.zeros(len(x))), batch_size=len(x), generator=own)
    try:
        peer = nngeometry.GramMatrix(network, loader).data.permute(1, 0, 3, 2)  # (n, c, n, c)
    except (NotImplementedError, KeyError) as error:
        pytest.skip(f"nngeometry does not know this network: {error}")
    found = TangentKernel(network)(x).reshape(peer.shape)
    # nngeometry keeps some intermediates in float32, so it is the looser of the two
    assert float((found - peer).norm() / found.norm()) < 1e-7
