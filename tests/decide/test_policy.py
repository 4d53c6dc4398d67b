"""Policies as probabilities, and the logits that training starts from."""

import pytest
import torch

from regimes.decide import Policy


def test_softmax_gives_back_what_leaks_little(random_policy, random_start):
    class Memory:
        actions, observations = 4, 10

    policy = Policy(random_policy(Memory, 3), random_start(3, 2))
    logits = policy.logits(leak=1e-14)
    torch.testing.assert_close(logits.policy.softmax(-2), policy.actions)
    torch.testing.assert_close(logits.start.softmax(-1), policy.start)
    leaking = policy.logits(leak=0.5)
    torch.testing.assert_close(leaking.policy.exp().sum(-2), torch.full((3, 10), 3.0).double())
    assert Policy(policy.actions).logits().start is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Policy([[1.0]]), "actions must be a tensor"),
        (lambda: Policy(torch.ones(2, 5)), "actions must sum to one along axis -2"),
        (lambda: Policy(torch.ones(1, 5), torch.ones(2)), "start must sum to one"),
        (lambda: Policy(torch.ones(1, 5)).logits(0), "leak must be a finite number"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
