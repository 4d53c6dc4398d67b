"""Networks whose own numbers are bfloat16 or float16: everything works, to their few digits."""

import pytest
import torch

from regimes.tangent import TangentKernel
from tests.tangent import zoo
from tests.tangent.test_engine import reference, relative


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["attention", "parameter without axes", "embedding bag"])
def test_every_answer(name, dtype):
    true = zoo.gram(reference(name))
    n, c = true.shape[0], true.shape[1]
    flat = true.reshape(n * c, n * c)
    values = torch.linalg.eigvalsh(flat).flip(0)
    network, x = zoo.build(name, dtype)
    kernel = TangentKernel(network)
    tolerance = 2e-2 if dtype == torch.bfloat16 else 4e-3
    gram = kernel(x)
    assert gram.dtype == torch.float32
    assert relative(gram, true) < tolerance
    operator = kernel.operator(x)
    assert operator.dtype == "float32"
    assert relative(torch.as_tensor(operator @ torch.eye(n * c).numpy()), flat) < tolerance
    for method in ("dense", "lanczos"):
        pairs = kernel.top_eigenpairs(x, 2, method=method, tolerance=0.05)
        assert pairs.converged.all()
        assert relative(pairs.values, values[:2]) < tolerance
    condition = kernel.condition(x)
    assert condition.largest == pytest.approx(float(values[0]), rel=tolerance)
    y = torch.ones(n, c)
    assert float(kernel.target_alignment(x, y)) == pytest.approx(
        float(flat.sum()) / n**2, rel=3 * tolerance
    )
    assert relative(TangentKernel(network, precision="float64")(x.to(torch.float64) if
                    x.is_floating_point() else x), true) < tolerance  # fmt: skip


def test_products_that_overflow_are_refused():
    network, x = zoo.build("lenet", torch.float16)
    kernel = TangentKernel(network)
    assert relative(kernel(x), zoo.gram(reference("lenet"))) < 4e-3
    with pytest.raises(ValueError, match="not finite in float16"):
        kernel.matvec(x, 100 * torch.ones(5, 2))
