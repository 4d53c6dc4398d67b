"""The demonstration study, at its smallest size."""

from dataclasses import replace

import numpy as np
import pytest

from regimes.lab import LocalExecutor, Store, find, run


@pytest.fixture(scope="module")
def study():
    return find("demo/learning-curve")


@pytest.fixture(scope="module")
def summary(study, tmp_path_factory):
    place = Store(tmp_path_factory.mktemp("demo"))
    return run(study, store=place, executor=LocalExecutor(1))


def test_the_smoke_size_runs_whole(summary):
    assert summary.complete
    assert (summary.failed, summary.flagged) == (0, 0)
    assert dict(summary.dataset.sizes) == {"task": 2, "kernel": 3, "n_train": 4, "seed": 2}
    assert summary.dataset.test_error.attrs["units"] == "fraction"


def test_more_data_help_and_errors_are_errors(summary):
    error = summary.dataset.test_error
    assert float(error.min()) >= 0
    assert float(error.max()) <= 0.6
    mean = error.mean("seed")
    assert (mean.isel(n_train=-1) < mean.isel(n_train=0)).all()


def test_the_curves_are_drawn_with_captions(study, summary):
    figures = study.figures(summary.dataset)
    assert list(figures) == ["Parity of handwritten digits", "The stripe model"]
    for figure in figures.values():
        assert len(figure.data) == 3
        assert figure.layout.meta["caption"]
        np.testing.assert_array_equal(figure.data[0].x, [16, 32, 64, 128])


def test_the_smoke_size_is_too_small_to_decide_anything(summary):
    verdicts = {claim.id: claim.verdict for claim in summary.claims}
    assert verdicts == {"DEMO-01": "inconclusive", "DEMO-02": "inconclusive"}


def test_there_are_only_so_many_digits(study):
    params = replace(study.parameters("smoke"), n_train=(1024, 2048))
    points = [config.point for config in study.configs(params)]
    assert {point["n_train"] for point in points if point["task"] == "digits"} == {1024}
    assert {point["n_train"] for point in points if point["task"] == "stripe"} == {1024, 2048}


def test_cost_grows_with_the_training_set(study):
    costs = [study.cost_of(config) for config in study.configs(study.parameters("cpu"))]
    assert max(costs) / min(costs) > 20


def test_larger_sizes_decide(study, summary):
    """Curves of a known slope in place of the measured ones."""
    n = np.array([64, 128, 256, 512])
    error = summary.dataset.test_error.assign_coords(n_train=n)
    slopes = {"laplace": 0.45, "gaussian": 0.6, "linear": 0.05}
    values = np.stack([n ** -slopes[str(name)] for name in error.kernel.values])
    known = error.copy(data=np.broadcast_to(values[None, :, :, None], error.shape).copy())
    dataset = summary.dataset.assign_coords(n_train=n).assign(test_error=known)
    exponent, ratio = study.claims(dataset)
    assert exponent.measured == pytest.approx(0.45)
    assert (exponent.verdict, ratio.verdict) == ("reproduced", "reproduced")
    worse = dataset.assign(test_error=known.where(known.kernel == "linear", 0.9))
    assert [claim.verdict for claim in study.claims(worse)] == ["not reproduced"] * 2
