"""Trials keep the keys they had before batches of seeds and checks became axes and blocks."""

import pytest

from regimes.lab import TrialConfig, find
from regimes.lab._config import digest
from regimes.studies._former_keys import numbered_batch

FORMER = {  # of all keys of a size, in order
    ("compression/alpha-scan", "smoke"): "e168c09b88ea160b6fd3",
    ("compression/alpha-scan", "cpu"): "601609e987943bef9cca",
    ("compression/alpha-scan", "paper"): "33e3f70befa2299f74a0",
    ("compression/learning-curves", "smoke"): "86db400e23ea89a2dd9e",
    ("compression/learning-curves", "cpu"): "2bf1a6250c2ab86c041f",
    ("compression/learning-curves", "paper"): "9e2c23b4116e167a6441",
    ("compression/foundations", "smoke"): "142d6b01abcdd85cdf36",
    ("compression/foundations", "cpu"): "2550b77d4d33144f5282",
    ("compression/foundations", "paper"): "efc9a240be838503c587",
}


@pytest.mark.parametrize(("name", "size"), FORMER)
def test_every_trial_is_found_under_its_former_key(name, size):
    study = find(name)
    params = study.parameters(size)
    keys = [study.formerly(params, config).key for config in study.configs(params)]
    assert digest(" ".join(keys))[:20] == FORMER[name, size]


@pytest.mark.parametrize("seeds", [(1, 2), (0, 2), (3, 2), (100, 101, 102)])
def test_other_seeds_had_no_number(seeds):
    config = TrialConfig("toy/curves", 1, {}, {"seed": seeds}, "float64")
    assert numbered_batch(None, config) is None
