"""Random problems and policies, in float64."""

import pytest
import torch

from regimes._random import generator


def draws(*shape, seed=0, dim=-2):
    """Random probabilities that sum to one along `dim`."""
    return torch.randn(*shape, generator=generator(seed, "test"), dtype=torch.float64).softmax(dim)


@pytest.fixture
def random_policy():
    """A random policy of a problem or memory: `random_policy(memory, *members, seed=0)`."""

    def policy(problem, *members, seed=0):
        return draws(*members, problem.actions, problem.observations, seed=seed)

    return policy


@pytest.fixture
def random_start():
    """A random distribution: `random_start(*members, n)`."""
    return lambda *shape, seed=1: draws(*shape, seed=seed, dim=-1)
