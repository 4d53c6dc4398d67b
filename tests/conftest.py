"""Fixtures every test may use."""

import gc
import os
import sys
from pathlib import Path

import pytest

# The tests start many interpreters: what one has compiled, the others read.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_configure(config):
    """Prepare what tests use; the process that only hands them out to workers loads none of it."""
    if config.getoption("numprocesses") and not hasattr(config, "workerinput"):
        return
    import torch
    from hypothesis import settings

    # Workers share the cores: one thread each, and no deadline that a busy machine breaks.
    torch.set_num_threads(1)
    settings.register_profile("regimes", deadline=None, max_examples=25, derandomize=True)
    settings.load_profile("regimes")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What was imported and collected stays to the end: no search for garbage looks there again."""
    gc.disable()
    found = yield
    gc.collect()
    gc.freeze()
    gc.enable()
    return found


def pytest_collection_modifyitems(items):
    """Files that start a cluster come first: they mostly wait, while the other workers compute."""
    waiting = {item.path for item in items if item.get_closest_marker("ray")}
    items.sort(key=lambda item: item.path not in waiting)


@pytest.fixture(params=["float32", "float64"])
def dtype(request):
    """Both precisions."""
    import torch

    return getattr(torch, request.param)


@pytest.fixture
def tolerance(dtype):
    """Relative tolerance that fits the precision."""
    return 1e-5 if dtype.itemsize == 4 else 1e-10


@pytest.fixture(autouse=True)
def global_random_state_untouched():
    """Library code must leave the global random state alone."""
    import torch

    before = torch.get_rng_state()
    yield
    assert torch.equal(before, torch.get_rng_state()), "a call changed torch's global random state"


@pytest.fixture
def data_root():
    """The folder of real data files; the test is skipped where there is none."""
    root = os.environ.get("REGIMES_DATA")
    if not root or not Path(root).is_dir():
        pytest.skip("set REGIMES_DATA to a folder with the real data files")
    return Path(root)
