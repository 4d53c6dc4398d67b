"""The column of confidence as a policy of a memory, against the walk it makes."""

import pytest
import torch

from regimes.decide import Memento, Ram, TwoArms, ccp, ccp_opt, ccp_q
from regimes.theory import q_bayes, q_ccp


@pytest.mark.parametrize("levels", [1, 2, 3, 6])
@pytest.mark.parametrize("arms", [{"gap": 0.2}, {"arms": (0.8, 0.5)}])
def test_the_policy_walks_its_columns(levels, arms):
    eps = torch.tensor([1e-3, 0.2, 1.0], dtype=torch.float64)
    policy = ccp(Ram(levels), eps)
    problem = TwoArms(Ram(levels), reset=0.01, **arms)
    found = problem.q_played(policy.actions, policy.start)
    expected = ccp_q(levels, *arms.values(), r=0.01, eps=eps)
    torch.testing.assert_close(found, expected, rtol=1e-11, atol=0)
    # the blank memory that it starts in does not matter, for all of them are left for the bottom
    anywhere = problem.q_played(policy.actions)
    torch.testing.assert_close(anywhere, expected, rtol=1e-11, atol=0)


@pytest.mark.parametrize(
    ("levels", "arms"),
    [
        *[(levels, {"gap": mu}) for levels in (2, 5, 10) for mu in (0.1, 0.2)],  # POM-07
        (3, {"arms": (0.8, 0.5)}),  # POM-15
        (2, {"arms": (0.6, 0.2)}),
    ],
)
def test_without_resets_it_is_as_good_as_the_formula(levels, arms):
    policy = ccp(Ram(levels), 1e-8)
    problem = TwoArms(Ram(levels), reset=0.0, **arms)
    found = float(problem.q_played(policy.actions, policy.start, solver="gth"))
    assert found == pytest.approx(float(q_ccp(levels, *arms.values())), rel=1e-5)


def test_rules_of_a_column():
    memory = Ram(3)
    actions = ccp(memory, 0.25).actions

    def plays(*seen):
        column = actions[:, memory.observation(*seen)]
        return {memory.action_label(int(a)): float(column[a]) for a in column.nonzero()}

    assert plays(0, 0, 0) == {"2A": 1.0}
    assert plays(2, 1, 0) == {"3B": 1.0}
    assert plays(1, 1, 1) == {"1B": 1.0}
    assert plays(0, 1, 1) == {"1A": 1.0}
    assert plays(2, 0, 1) == {"2A": 0.25, "3A": 0.75}
    assert plays(2) == {"1A": 0.5, "1B": 0.5}


def test_no_policy_beats_unbounded_memory(random_policy):
    # POM-37
    memory, r = Ram(3), 0.02
    problem = TwoArms(memory, gap=0.3, reset=r)
    bound = float(q_bayes(0.3, r))
    drawn = random_policy(memory, 200)
    sharp = (drawn.log() * 10).softmax(-2)
    q = problem.q_played(torch.cat([drawn, sharp]))
    assert float(q.min()) > bound
    best = ccp(memory, ccp_opt(3, 0.3, r).eps)
    assert bound < float(problem.q_played(best.actions, best.start)) < float(q.min())


def test_bad_input():
    with pytest.raises(ValueError, match=r"memory must be Ram\(states\), got Memento"):
        ccp(Memento(2), 0.1)
    with pytest.raises(ValueError, match=r"eps must lie in \[0, 1\], got 2"):
        ccp(Ram(2), 2)
