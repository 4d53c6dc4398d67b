"""The frozen kernels of the theme."""

import torch

from regimes import data
from regimes.studies import _stripe
from regimes.studies.compression import _frozen
from regimes.tangent import TangentKernel


def test_the_network_kernel_is_the_tangent_kernel():
    stripe = data.stripe(30, 5, d=3, seed=0, dtype=torch.float64)
    net = _stripe.network(3, 20, 0, dtype="float64")
    w, b, beta = _stripe.neurons({k: v[None] for k, v in net.state_dict().items()})
    made = _frozen.network_kernel(w[0], b[0], beta[0])(stripe.x_train, stripe.x_test)
    expected = TangentKernel(net)(stripe.x_train, stripe.x_test)
    torch.testing.assert_close(made, expected, rtol=1e-10, atol=1e-12)
