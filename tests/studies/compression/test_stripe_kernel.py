"""The stripe's kernel before and after training, at the smallest size."""

import pytest
import torch
import xarray as xr

import regimes as rg
from regimes.lab import InlineExecutor, Store, find, run
from regimes.studies.compression import stripe_kernel


@pytest.fixture(scope="module")
def study():
    return find("compression/stripe-kernel")


@pytest.fixture(scope="module")
def summary(study, tmp_path_factory):
    return run(study, store=Store(tmp_path_factory.mktemp("store")), executor=InlineExecutor())


def test_training_brings_the_label_into_the_first_modes(summary):
    first, final = (summary.dataset.information.isel(kernel=k, mode=0).mean() for k in (0, 2))
    assert float(final) > float(first) + 0.2
    assert (summary.dataset.amplification.isel(stage=1) > 2).all()


def test_a_network_that_ignores_the_rest_has_no_distance_from_its_split():
    draw = torch.Generator().manual_seed(0)
    w = torch.randn(20, 3, generator=draw).double()
    b, beta, x = (torch.randn(*s, generator=draw).double() for s in ((20,), (20,), (30, 3)))
    blind = w * torch.tensor([1.0, 0.0, 0.0])
    grams, distances = stripe_kernel._kernels([(w, b, beta), (blind, b, beta)], x)
    assert distances[0] > 0.05
    assert distances[1] < 1e-12
    torch.testing.assert_close(grams[0], rg.measure.shallow_kernel(beta, w, b, x))
    torch.testing.assert_close(grams[3], rg.measure.shallow_kernel(beta, blind, b, x, part="last"))


def test_a_run_without_t_star_is_refused():
    with pytest.raises(ValueError, match="increase max_steps"):
        stripe_kernel._stages(torch.zeros(2, 5, 4))


@pytest.mark.parametrize(("factor", "verdict"), [(0.5, "reproduced"), (2.0, "not reproduced")])
def test_several_sizes_ask_whether_the_distance_falls(study, summary, factor, verdict):
    small = summary.dataset
    changed = small.residual.copy(data=small.residual.values * factor)
    large = small.assign(residual=changed).assign_coords(p=small.p * 10)
    claim = study.claims(xr.concat([small, large], dim="p", data_vars="all"))[0]
    assert claim.measured == pytest.approx(factor)
    assert claim.verdict.value == verdict
