"""What every study must do: run, judge all its claims and draw all its figures, on any data."""

from dataclasses import replace

import pytest
import xarray as xr

from regimes.lab import InlineExecutor, discover, gather, run
from regimes.lab._parameters import settable

STUDIES = discover()
NAMES = sorted(name for name in STUDIES.studies if not name.startswith("toy/"))
NEEDS = dict.fromkeys(  # what an extra installs and a trial loads
    ("equivariance/groups", "equivariance/points"), "e3nn"
)
PARTS = {
    "none": slice(0, 0),
    "one": slice(0, 1),
    "every second": slice(0, None, 2),
    "the last": slice(-1, None),
}


@pytest.fixture(scope="module")
def ran(smoke_store):
    """Study, its results and its summary at the smallest size, run once."""
    done = {}

    def results(name):
        if name in NEEDS:
            pytest.importorskip(NEEDS[name], reason="needs an extra: see CONTRIBUTING.md")
        if name not in done:
            study, store = STUDIES.studies[name], smoke_store
            summary = run(study, store=store, executor=InlineExecutor())
            found = gather(study, study.parameters("smoke"), store=store)
            done[name] = (study, found, summary)
        return done[name]

    return results


def check_claims(study, dataset, *, undecided=False):
    claims = study.claims(dataset)
    assert [claim.id for claim in claims] == list(study.judges)
    for claim in claims:
        assert claim.expected, f"{claim.id} does not say what is expected"
        assert claim.why or claim.verdict.value != "inconclusive", f"{claim.id} says no reason"
        assert not undecided or claim.verdict.value == "inconclusive"


def check_figures(study, dataset, *, long=False):
    for title, figure in study.figures(dataset).items():
        caption = figure.layout.meta["caption"]
        blank = caption.startswith("Not drawn yet")
        assert len(caption) > (80 if long and not blank else 10), f"{title!r} needs a caption"
        assert figure.to_json()


def test_all_modules_of_studies_can_be_imported():
    assert not STUDIES.broken
    assert len(NAMES) >= 28


@pytest.mark.parametrize("name", NAMES)
def test_whole(ran, name):
    study, _, summary = ran(name)
    assert summary.complete
    assert summary.failed == 0
    assert [claim.id for claim in summary.claims] == list(study.judges)
    check_claims(study, summary.dataset)
    check_figures(study, summary.dataset, long=True)


@pytest.mark.parametrize("name", NAMES)
def test_partial(ran, name):
    study, whole, _ = ran(name)
    for which in PARTS.values():
        kept = whole.records[which]
        keys = {record.key for record in kept}
        lost = tuple(config.key for config in whole.configs if config.key not in keys)
        dataset = study.summarise(replace(whole, records=kept, missing=lost))
        check_claims(study, dataset)
        check_figures(study, dataset)


@pytest.mark.parametrize("name", NAMES)
def test_empty(name):
    study = STUDIES.studies[name]
    check_claims(study, xr.Dataset(), undecided=True)
    check_figures(study, xr.Dataset())


@pytest.mark.parametrize("name", NAMES)
def test_seeds_are_an_axis_that_a_user_can_set(name):
    study = STUDIES.studies[name]
    assert "seed" in settable(study.parameters("smoke"))
    assert "seed" in {axis.name for axis in study.axes}


@pytest.mark.parametrize("name", NAMES)
def test_every_size_can_be_planned(name):
    study = STUDIES.studies[name]
    for size, params in study.sizes.items():
        configs = study.configs(params)
        assert len({config.key for config in configs}) == len(configs) > 0, size
        assert all(study.cost_of(config) > 0 for config in configs)
