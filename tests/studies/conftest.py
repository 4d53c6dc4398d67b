"""What tests of studies share."""

import functools

import pytest

from regimes.lab import InlineExecutor, Store, find, run


@pytest.fixture(scope="session")
def smoke(tmp_path_factory):
    """The summary of a study's smallest size, run once: `smoke("regimes/scaling")`."""

    @functools.cache
    def summary(name):
        place = Store(tmp_path_factory.mktemp(name.replace("/", "-")))
        return run(find(name), store=place, executor=InlineExecutor())

    return summary


@pytest.fixture(scope="session")
def verdicts():
    """What a study says of a dataset: `verdicts(study, dataset)` is {id: verdict}."""

    def judged(study, dataset):
        return {claim.id: claim.verdict.value for claim in study.claims(dataset)}

    return judged
