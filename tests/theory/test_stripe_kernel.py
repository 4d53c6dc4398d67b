import math

import pytest
import torch

from regimes.theory import shallow_relu_kernel


def test_closed_form_of_the_paper(dtype, tolerance):
    """docs/themes/compression.md, "Tangent kernels"."""
    d = 4
    numbers = torch.Generator().manual_seed(0)
    x, z = (
        torch.randn(6, d, generator=numbers).double(),
        torch.randn(3, d, generator=numbers).double(),
    )
    found = shallow_relu_kernel(x.to(dtype), z.to(dtype))
    assert found.dtype == dtype
    for i in range(6):
        for j in range(3):
            s = 1 + float(x[i] @ z[j]) / d
            nx, nz = (math.sqrt(1 + float(v @ v) / d) for v in (x[i], z[j]))
            t = math.acos(s / (nx * nz))
            rise = math.sin(t) + (math.pi - t) * math.cos(t)
            expected = (nx * nz * rise + (math.pi - t) * s) / math.pi
            assert float(found[i, j]) == pytest.approx(expected, rel=10 * tolerance)
    diagonal = shallow_relu_kernel(x.to(dtype)).diagonal().double()
    torch.testing.assert_close(diagonal, 2 * (1 + (x**2).sum(1) / d), rtol=tolerance, atol=0)
