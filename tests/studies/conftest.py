"""What tests of studies share."""

import functools
import os

import pytest

from regimes.lab import InlineExecutor, Store, find, run


@pytest.fixture(scope="session")
def smoke_store(tmp_path_factory):
    """One store for the smoke runs of all workers: what one has computed, the others find."""
    root = tmp_path_factory.getbasetemp()
    return Store((root.parent if os.environ.get("PYTEST_XDIST_WORKER") else root) / "smoke")


@pytest.fixture(scope="session")
def smoke(smoke_store):
    """The summary of a study's smallest size, run once: `smoke("regimes/scaling")`."""

    @functools.cache
    def summary(name):
        return run(find(name), store=smoke_store, executor=InlineExecutor())

    return summary


@pytest.fixture(scope="session")
def verdicts():
    """What a study says of a dataset: `verdicts(study, dataset)` is {id: verdict}."""

    def judged(study, dataset):
        return {claim.id: claim.verdict.value for claim in study.claims(dataset)}

    return judged
