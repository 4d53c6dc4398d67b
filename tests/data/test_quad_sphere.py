import math

import pytest
import torch

from regimes import data


@pytest.mark.parametrize("d", [2, 5, 10])
def test_classes_are_balanced_on_the_sphere(d):
    n = 100_000
    ds = data.quad_sphere(n, 1, d=d, seed=1)
    assert abs((ds.y_train > 0).double().mean().item() - 0.5) < 5 * math.sqrt(0.25 / n)
    norms = ds.x_train.double().square().sum(1)
    assert torch.allclose(norms, torch.full_like(norms, d), rtol=1e-5)


def test_label_is_the_sign_of_the_form(dtype):
    source = torch.Generator().manual_seed(0)
    form = torch.randn(4, 4, generator=source, dtype=torch.float64)
    ds = data.quad_sphere(500, 50, d=4, form=form, dtype=dtype, n_kernel=20)
    for x, y in ((ds.x_train, ds.y_train), (ds.x_test, ds.y_test), ds.probes["kernel"]):
        values = torch.einsum("ni,ij,nj->n", x.double(), form, x.double())
        assert torch.equal(y, torch.where(values > 0, 1.0, -1.0).to(dtype))


def test_form_is_even_and_not_linear():
    ds = data.quad_sphere(20_000, 1, d=6)
    correlation = (ds.x_train * ds.y_train[:, None]).double().mean(0)
    assert correlation.abs().max() < 5 / math.sqrt(20_000)


def test_bad_input():
    with pytest.raises(ValueError, match="d must be an integer >= 2"):
        data.quad_sphere(5, 5, d=1)
    with pytest.raises(ValueError, match=r"shape \(3, 3\)"):
        data.quad_sphere(5, 5, d=3, form=torch.ones(2, 2))
