"""Posteriors of tangent kernels against GPyTorch, where it is installed."""

import pytest
import torch

from regimes import nets
from regimes.kernels import conjugate_gradients, posterior
from regimes.tangent import TangentKernel

pytestmark = pytest.mark.cross_library
gpytorch = pytest.importorskip("gpytorch", reason="GPyTorch comes with `make bench`")
NOISE = 0.3


def task():
    draws = torch.Generator().manual_seed(0)
    x = torch.randn(30, 4, generator=draws, dtype=torch.float64)
    net = nets.MLP(4, 16, 2, 1, activation="gelu", init="lecun", dtype=torch.float64)
    return TangentKernel(net), x[:24], torch.sin(x[:24, 0] + x[:24, 1]), x[24:]


def test_a_tangent_kernel_is_a_covariance_of_gpytorch():
    kernel, x, y, new = task()

    class Tangent(gpytorch.kernels.Kernel):
        def forward(self, x1, x2, diag=False, **options):
            return kernel.diagonal(x1) if diag else kernel(x1, x2)

    class Process(gpytorch.models.ExactGP):
        def __init__(self):
            noise = gpytorch.likelihoods.FixedNoiseGaussianLikelihood(NOISE * torch.ones_like(y))
            super().__init__(x, y, noise)
            self.mean, self.covariance = gpytorch.means.ZeroMean(), Tangent()

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean(x), self.covariance(x))

    model = Process().double().eval()
    with torch.no_grad(), gpytorch.settings.fast_computations(False, False, False):
        peer = model(new)
        found = posterior(kernel(x), y, NOISE, kernel(new, x), kernel.diagonal(new))
        free = posterior(kernel.operator(x), y, NOISE, kernel(new, x), kernel.diagonal(new))
    for own, tolerance in ((found, 1e-8), (free, 1e-4)):
        assert torch.allclose(own.mean, peer.mean, atol=tolerance)
        assert torch.allclose(own.variance, peer.variance, atol=tolerance)


def test_the_operator_is_one_of_linear_operator():
    import linear_operator.settings as settings
    from linear_operator import LinearOperator

    kernel, x, y, _ = task()
    gram = kernel.operator(x)

    class Free(LinearOperator):
        def __init__(self, points):
            super().__init__(points)
            self.points = points

        def _matmul(self, rhs):
            return torch.from_numpy(gram @ rhs.numpy())

        def _size(self):
            return torch.Size(gram.shape)

        def _transpose_nonbatch(self):
            return self

        def _diagonal(self):
            return kernel.diagonal(self.points)

    with torch.no_grad(), settings.max_cholesky_size(1), settings.cg_tolerance(1e-5):
        peer = Free(x).add_diagonal(torch.tensor(NOISE).double()).solve(y[:, None])
    own = conjugate_gradients(gram, y[:, None], NOISE, tolerance=1e-10)
    assert torch.allclose(own.values, peer, atol=1e-3)
