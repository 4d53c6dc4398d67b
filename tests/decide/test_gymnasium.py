"""Games that are played: gymnasium's own check, and means against the exact numbers."""

import sys

import pytest
import torch

from regimes.decide import Memento, Ram, TabularPOMDP, TwoArms, environment

gymnasium = pytest.importorskip("gymnasium", reason="needs the extra 'rl'")

PROBLEMS = {
    "ram": TwoArms(Ram(2), gap=0.6, reset=0.2),
    "memento": TwoArms(Memento(2), arms=(0.9, 0.3), reset=0.2),
    "tabular": TabularPOMDP(
        transition=torch.tensor([[[0.9, 0.2], [0.3, 0.5]], [[0.1, 0.8], [0.7, 0.5]]])
        .double()
        .round(decimals=6),
        observation=[[0.8, 0.1], [0.2, 0.9]],
        rewards=[1.0, -1.0],
        start=[0.3, 0.7],
        discount=0.8,
    ),
}


@pytest.fixture(params=PROBLEMS)
def problem(request):
    return PROBLEMS[request.param]


@pytest.mark.filterwarnings("ignore:.*:UserWarning:gymnasium")
def test_gymnasium_finds_nothing_wrong(problem):
    from gymnasium.utils.env_checker import check_env

    check_env(environment(problem), skip_render_check=True)


def played(env, policy, steps):
    """Rewards, whether the worse arm was pulled, and ends of so many steps."""
    columns = policy.numpy()
    seen, _ = env.reset(seed=0)
    rewards, worse, ends = [], [], 0
    for _ in range(steps):
        action = env.np_random.choice(len(columns), p=columns[:, seen])
        seen, reward, ended, cut, info = env.step(action)
        assert not cut
        rewards.append(reward)
        worse.append(info.get("worse", False))
        if ended:
            ends += 1
            seen, _ = env.reset()
    return torch.tensor(rewards).double(), torch.tensor(worse).double(), ends


def test_what_is_earned_is_what_is_computed(problem, random_policy):
    policy, steps = random_policy(problem, seed=3), 6000
    rewards, worse, ends = played(environment(problem), policy, steps)
    error = 4 / steps**0.5
    assert abs(ends / steps - 0.2) < error
    if isinstance(problem, TwoArms):
        assert abs(rewards.mean() - problem.reward(policy) / 0.8) < error
        assert abs(worse.mean() - problem.q_played(policy)) < error
    else:
        assert abs(rewards.mean() - problem.reward(policy)) < error
        assert abs(rewards.sum() / ends - problem.value(policy)) < 5 * error


def test_the_start_is_drawn_from():
    start = torch.tensor([0.0, 1.0], dtype=torch.float64)
    env = environment(PROBLEMS["ram"], start)
    assert [env.reset(seed=n)[0] for n in range(5)] == [1] * 5
    assert env.render() == "2"
    env = environment(PROBLEMS["tabular"], start)
    assert env.reset(seed=0)[1] == {"state": 1}


def test_a_seed_gives_the_same_game(problem):
    def game():
        env = environment(problem)
        return [env.reset(seed=7)[0], *[env.step(0)[0] for _ in range(1)]]

    assert game() == game()


def test_misuse_is_told(problem, monkeypatch):
    env = environment(problem)
    with pytest.raises(ValueError, match="call reset first"):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="action must be in Discrete"):
        env.step(99)
    with pytest.raises(ValueError, match="problem must be TwoArms or a TabularPOMDP"):
        environment("arms")
    with pytest.raises(ValueError, match="must be numbers, not tensors of members"):
        environment(TwoArms(Ram(1), gap=torch.tensor([0.1, 0.2]), reset=0.1))
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "regimes.decide._game")
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'regimes\[rl\]'"):
        environment(problem)
