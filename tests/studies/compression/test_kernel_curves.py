"""Learning curves of the initial kernel, at the smallest size and with curves that are known."""

import numpy as np
import pytest

from regimes.lab import InlineExecutor, find, run
from regimes.studies.compression.kernel_curves._tasks import ROOT, TASKS
from regimes.theory import beta_feature, beta_lazy, compression_exponent


@pytest.fixture(scope="module")
def study():
    return find("compression/kernel-curves")


@pytest.fixture(scope="module")
def summary(study, smoke_store):
    return run(study, store=smoke_store, executor=InlineExecutor())


def predicted(dataset, n_train, gain_at):
    """The curves of the theory on the grid of `dataset`, a little spread over seeds."""
    made = dataset.reindex(n_train=list(n_train)).error
    spread = np.exp(0.01 * (np.arange(made.sizes["seed"]) - 1))
    for name, task in TASKS.items():
        gain = compression_exponent(task.d, task.d_perp)
        for compression in map(str, made.compression.values):
            for p in n_train:
                here = {"task": name, "compression": compression, "n_train": p}
                if compression == ROOT:
                    value = p ** -beta_feature(task.d, task.d_perp)
                else:
                    value = p ** -beta_lazy(task.d) * float(compression) ** -gain
                wanted = compression in ("1", ROOT) or p == gain_at
                made.loc[here] = value * spread if wanted else np.nan
    whole = made.to_dataset(name="error")
    state = made.isel(seed=0, drop=True).isnull()
    return whole.assign(trial_state=state.where(state, 2).where(~state, 3).astype(int))


def test_every_training_set_is_fitted(summary):
    assert float(summary.dataset.unfitted.max()) == 0.0


def test_compression_helps_every_task(summary):
    error = summary.dataset.error.mean("seed").sel(n_train=100)
    assert (error.sel(compression=ROOT) < error.sel(compression="1")).all()
    assert (error.sel(compression="8") < error.sel(compression="1")).all()


def test_fixed_factors_are_scanned_at_one_size(study):
    params = study.parameters("cpu")
    sizes = {c.point["n_train"] for c in study.configs(params) if c.point["compression"] == "4"}
    assert sizes == {params.gain_at}


def test_curves_of_the_theory_are_reproduced(study, summary):
    n_train = (250, 500, 1000, 2000, 4000)
    claims = study.claims(predicted(summary.dataset, n_train, gain_at=1000))
    assert [claim.id for claim in claims] == list(study.judges)
    assert {claim.verdict for claim in claims} == {"reproduced"}
    assert claims[0].measured == pytest.approx(beta_lazy(5))
    assert claims[2].measured == pytest.approx(-compression_exponent(5, 4))


def test_the_full_size_asks_for_the_limit(study, summary):
    n_train = (250, 1000, 4000, 32_000)
    claims = study.claims(predicted(summary.dataset, n_train, gain_at=4000))
    assert claims[0].expected.startswith("stripe-5 in [0.334615, 0.434615]")
    assert {claim.verdict for claim in claims} == {"reproduced"}


def test_curves_without_a_gain_are_not_reproduced(study, summary):
    dataset = predicted(summary.dataset, (250, 500, 1000, 2000, 4000), gain_at=1000)
    flat = dataset.error.sel(compression="1")
    dataset["error"] = dataset.error.where(dataset.error.isnull(), flat)
    verdicts = {claim.id: claim.verdict for claim in study.claims(dataset)}
    assert {verdicts[id] for id in ("COMP-23", "COMP-27", "COMP-30")} == {"not reproduced"}
    assert verdicts["COMP-22"] == "reproduced"


def test_nothing_is_decided_without_all_tasks(study, summary):
    dataset = predicted(summary.dataset, (250, 500, 1000, 2000, 4000), gain_at=1000)
    claims = study.claims(dataset.sel(task=["stripe-5"]))
    assert {claim.verdict for claim in claims} == {"inconclusive"}


def test_the_gain_is_drawn_at_the_factors(study, summary):
    np.testing.assert_array_equal(
        study.figures(summary.dataset)["Gain by compression"].data[0].x, [1, 2, 4, 8]
    )
    plain = summary.dataset.sel(compression=["1", ROOT])
    assert not study.figures(plain)["Gain by compression"].data


def test_what_was_not_run_is_said(study, summary):
    dataset = predicted(summary.dataset, (250, 500, 1000, 2000, 4000), gain_at=1000)
    for part, reason in (
        (dataset.sel(compression=["1", "2", "4", "8"]), "compression = root p was not run"),
        (dataset.sel(n_train=[1000, 4000]), "needs two values of n_train from 250 to 1000, 1 ran"),
        (dataset.sel(seed=[0]), "needs two values of seed, one ran"),
    ):
        claims = study.claims(part)
        assert any(reason in claim.why for claim in claims)
