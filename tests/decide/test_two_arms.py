"""Two arms with memory: against the same problem written out as arrays, and against autograd."""

import pytest
import torch

from regimes.decide import Memento, Ram, TwoArms

MEMORIES = [Ram(1), Ram(3), Memento(1), Memento(2), Memento(3)]
ARMS = {"gap": {"gap": 0.2}, "any arms": {"arms": (0.8, 0.3)}, "sure": {"arms": (1.0, 0.0)}}


@pytest.fixture(params=MEMORIES, ids=str)
def memory(request):
    return request.param


@pytest.fixture
def given(memory, random_policy, random_start):
    """Three random players: policies, and starts where the memory has them."""
    start = random_start(3, memory.blanks) if isinstance(memory, Ram) else None
    return random_policy(memory, 3), start


def one(given, number):
    policy, start = given
    return policy[number], None if start is None else start[number]


@pytest.mark.parametrize("arms", ARMS)
def test_the_plays_alone_say_what_all_states_do(memory, given, arms):
    problem = TwoArms(memory, reset=0.05, **ARMS[arms])
    p, reward, value = problem.steady_state(*given), problem.reward(*given), problem.value(*given)
    for n in range(3):
        policy, start = one(given, n)
        written = problem.tabular(start)
        halves = written.steady_state(policy.repeat(1, 1)).reshape(2, -1)
        torch.testing.assert_close(p[n], 2 * halves, rtol=1e-10, atol=1e-14)
        torch.testing.assert_close(reward[n], written.reward(policy), rtol=1e-10, atol=1e-14)
        torch.testing.assert_close(value[n], written.value(policy), rtol=1e-10, atol=1e-13)
        for h in (0, 1):
            T = problem.transition(policy, h)
            torch.testing.assert_close(T.sum(0), torch.ones_like(T[0]))


@pytest.mark.parametrize("arms", ARMS)
def test_slope_is_that_of_autograd(memory, given, arms):
    problem = TwoArms(memory, reset=1e-3, **ARMS[arms])
    free = [x.requires_grad_() for x in given if x is not None]
    reward = problem.reward(*given)
    by_policy, *by_start = torch.autograd.grad(reward.sum(), free)
    slope = problem.gradient(*given)
    torch.testing.assert_close(slope.reward, reward.detach(), rtol=1e-10, atol=1e-12)
    size = by_policy.abs().max()
    torch.testing.assert_close(slope.policy, by_policy, rtol=1e-8, atol=1e-10 * size)
    assert (slope.start is None) == (not by_start)
    for start in by_start:
        torch.testing.assert_close(slope.start, start, rtol=1e-8, atol=0)
    unchecked = problem.gradient(*[x if x is None else x.detach() for x in given], check=False)
    assert torch.equal(slope.policy, unchecked.policy)


def test_long_memories_take_shortcuts_to_the_same_slope(random_policy):
    """From random play to nearly sure play, where a step is worth much until the reset."""
    memory = Memento(4)
    logits = random_policy(memory).log() * torch.tensor([1.0, 3.0, 20.0])[:, None, None]
    policy = logits.double().softmax(-2).requires_grad_()
    for reset in (0.1, 1e-4):
        problem = TwoArms(memory, arms=(0.7, 0.4), reset=reset)
        reward = problem.reward(policy)
        (slow,) = torch.autograd.grad(reward.sum(), policy)
        slope = problem.gradient(policy)
        torch.testing.assert_close(slope.reward, reward.detach(), rtol=1e-10, atol=1e-12)
        torch.testing.assert_close(slope.policy, slow, rtol=1e-8, atol=1e-10 * slow.abs().max())


def test_slope_is_what_small_steps_find(memory, random_policy, random_start):
    problem = TwoArms(memory, gap=0.3, reset=0.1)
    logits = random_policy(memory).log().requires_grad_()
    start = random_start(memory.blanks).log().requires_grad_()

    class Reward(torch.autograd.Function):
        @staticmethod
        def forward(ctx, policy, start):
            given = (policy, start) if isinstance(memory, Ram) else (policy,)
            slope = problem.gradient(*given)
            ctx.slopes = slope.policy, slope.start
            return slope.reward

        @staticmethod
        def backward(ctx, up):
            return tuple(None if each is None else up * each for each in ctx.slopes)

    def reward(logits, start):
        return Reward.apply(logits.softmax(-2), start.softmax(-1))

    free = (logits, start) if isinstance(memory, Ram) else (logits, start.detach())
    assert torch.autograd.gradcheck(reward, free, rtol=1e-4, atol=1e-7, fast_mode=True)


@pytest.mark.parametrize("solver", ["power", "series", "gth"])
def test_solvers_agree(memory, given, solver):
    problem = TwoArms(memory, gap=0.1, reset=0.01)
    close = {"atol": 1e-7, "rtol": 0}
    torch.testing.assert_close(
        problem.steady_state(*given, solver=solver), problem.steady_state(*given), **close
    )
    torch.testing.assert_close(problem.q(*given, solver=solver), problem.q(*given), **close)


def test_without_resets_it_is_the_limit(memory, given):
    problem, near = (TwoArms(memory, gap=0.1, reset=r) for r in (0.0, 1e-9))
    p = problem.steady_state(*given, solver="gth")
    torch.testing.assert_close(p, near.steady_state(*given), atol=1e-6, rtol=0)
    assert bool((p[..., : memory.blanks] == 0).all())
    for n in range(3):
        policy, _ = one(given, n)
        for h in (0, 1):
            T = problem.transition(policy, h)
            torch.testing.assert_close(T @ p[n, h], p[n, h], rtol=1e-10, atol=1e-15)
    with pytest.raises(ValueError, match="needs reset > 0"):
        problem.reward(*given)
    with pytest.raises(ValueError, match="gradient needs reset > 0"):
        problem.gradient(*given)
    with pytest.raises(ValueError, match="value needs reset > 0"):
        problem.value(*given)


def test_blind_play_earns_nothing(memory):
    """Uniform play and a single arm [Geiger 2022, sec. 2.3]; POM-03."""
    problem = TwoArms(memory, gap=0.3, reset=0.01)
    shape = (memory.actions, memory.observations)
    uniform = torch.full(shape, 1 / memory.actions, dtype=torch.float64)
    one_arm = torch.zeros(shape, dtype=torch.float64)
    one_arm[0] = 1.0
    for policy in (uniform, one_arm):
        assert abs(problem.reward(policy)) < 1e-12
        assert abs(problem.q(policy) - 0.5) < 1e-12
        assert abs(problem.q_played(policy) - 0.5) < 1e-12


def test_reward_and_worse_arm_say_each_other(memory, given):
    """`E_p[R] = mu (1 - 2q)` and `q = r/2 + (1-r) q'`; POM-04."""
    for mu, r in ((0.1, 0.01), (0.7, 0.3)):
        problem = TwoArms(memory, gap=mu, reset=r)
        reward, q = problem.reward(*given), problem.q(*given)
        torch.testing.assert_close(reward, mu * (1 - 2 * q), atol=1e-12, rtol=0)
        q_played = problem.q_played(*given)
        torch.testing.assert_close(q, r / 2 + (1 - r) * q_played, atol=1e-12, rtol=0)
        torch.testing.assert_close(problem.q_of_reward(reward), q, atol=1e-11, rtol=0)
        torch.testing.assert_close(
            problem.value(*given), mu * (1 - r) / r * (1 - 2 * q_played), atol=1e-9, rtol=0
        )
    problem = TwoArms(memory, arms=(0.9, 0.3), reset=0.2)
    torch.testing.assert_close(problem.q_of_reward(problem.reward(*given)), problem.q(*given))


def test_members_may_have_a_gap_and_a_reset_each(memory, random_policy):
    gap = torch.tensor([0.1, 0.2, 0.9], dtype=torch.float64)
    reset = torch.tensor([0.5, 1e-3, 0.01], dtype=torch.float64)
    policy = random_policy(memory)
    stacked = TwoArms(memory, gap=gap, reset=reset)
    slope = stacked.gradient(policy)
    for n in range(3):
        alone = TwoArms(memory, gap=float(gap[n]), reset=float(reset[n]))
        each = alone.gradient(policy)
        torch.testing.assert_close(slope.reward[n], each.reward, rtol=1e-9, atol=1e-14)
        torch.testing.assert_close(slope.policy[n], each.policy, rtol=1e-9, atol=1e-12)
        for solver in ("solve", "series"):
            torch.testing.assert_close(
                stacked.q(policy, solver=solver)[n], alone.q(policy, solver=solver)
            )
    assert "gap of each member" in repr(stacked)


def test_members_are_the_same_alone_and_in_single_precision(memory, given):
    problem = TwoArms(memory, gap=0.2, reset=0.1)
    together = problem.gradient(*given)
    for n in range(3):
        alone = problem.gradient(*one(given, n))
        torch.testing.assert_close(together.policy[n], alone.policy, rtol=1e-12, atol=1e-14)
    single = problem.gradient(*[x if x is None else x.float() for x in given])
    assert single.policy.dtype == torch.float32
    torch.testing.assert_close(single.policy.double(), together.policy, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_random_access_memory_holds_memento(depth, random_policy):
    """The same game without resets, and after m plays with them [Geiger 2022, sec. 5]; POM-35."""
    memory = Memento(depth)
    policy = random_policy(memory, 2)
    ram, embedded, _ = memory.embed(policy)
    assert ram.states == 4 ** (depth - 1)
    torch.testing.assert_close(embedded.sum(-2), torch.ones_like(embedded[:, 0]))
    here, there = (TwoArms(each, arms=(0.7, 0.4), reset=0.0) for each in (memory, ram))
    rewards = [
        here.reward(policy, solver="gth"),
        there.reward(embedded, solver="gth"),
    ]
    torch.testing.assert_close(*rewards, rtol=0, atol=1e-10)
    # blank memories: started as the m-1 first plays end under a hypothesis, it goes on alike
    here, there = (TwoArms(each, arms=(0.7, 0.4), reset=0.1) for each in (memory, ram))
    for h in (0, 1):
        p = here.steady_state(policy)[:, h]
        last = p[:, memory.first(depth - 1) : memory.first(depth)]
        start = last / last.sum(-1, keepdim=True)
        full, ends = p[:, memory.first(depth) :], there.steady_state(embedded, start)[:, h]
        ends = ends[:, ram.blanks :]
        torch.testing.assert_close(
            full / full.sum(-1, keepdim=True), ends / ends.sum(-1, keepdim=True)
        )


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_memento_is_the_same_player_with_memories_for_short_words(depth, random_policy):
    memory = Memento(depth)
    policy = random_policy(memory).requires_grad_()
    ram, embedded, start = memory.embed(policy, whole=True)
    assert ram.states == (4**depth - 1) // 3
    here, there = (TwoArms(each, gap=0.4, reset=0.1) for each in (memory, ram))
    rewards = here.reward(policy), there.reward(embedded, start)
    torch.testing.assert_close(*rewards, rtol=1e-12, atol=0)
    slopes = [torch.autograd.grad(reward, policy)[0] for reward in rewards]
    torch.testing.assert_close(*slopes, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TwoArms("ram", gap=0.1, reset=0.1), "memory must be Ram"),
        (lambda: TwoArms(Ram(1), reset=0.1), "give either gap, as in gap=0.1, or arms"),
        (lambda: TwoArms(Ram(1), gap=0.0, reset=0.1), r"gap must lie in \(0, 1\], got 0"),
        (lambda: TwoArms(Ram(1), gap=True, reset=0.1), "gap must lie in"),
        (
            lambda: TwoArms(Ram(1), gap=[0.1] * 2, reset=torch.full((3,), 0.1)),
            r"arms has \(2,\), reset",
        ),
        (
            lambda: TwoArms(Ram(1), arms=(0.3, 0.6), reset=0.1),
            r"k_A must be above k_B, got \(0.3, 0.6\)",
        ),
        (lambda: TwoArms(Ram(1), arms=0.3, reset=0.1), "arms must be a pair"),
        (lambda: TwoArms(Ram(1), gap=0.1, reset=1.0), "reset must be below 1"),
        (lambda: TwoArms(Ram(1), gap=0.1, reset=-0.1), "reset is a probability"),
    ],
)
def test_what_is_no_problem_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_is_no_player_is_refused(random_policy):
    ram, memento = (TwoArms(each, gap=0.1, reset=0.1) for each in (Ram(2), Memento(2)))
    policy = random_policy(ram)
    with pytest.raises(ValueError, match=r"\(of 2 actions at each of 21 observations of Memento"):
        memento.q(policy)
    with pytest.raises(ValueError, match="policy must be a tensor"):
        ram.q(None)
    with pytest.raises(ValueError, match="start must have shape"):
        ram.q(policy, torch.ones(1).double())
    with pytest.raises(ValueError, match="starts with the empty word: leave start out"):
        memento.q(random_policy(memento), torch.ones(1).double())
    with pytest.raises(ValueError, match=r"members do not fit .*: policy has \(3,\), start has"):
        ram.q(policy.expand(3, -1, -1), torch.eye(2).double())
    hardly = TwoArms(Ram(2), gap=0.1, reset=1e-17)
    for number in (hardly.q, hardly.value, hardly.gradient):
        with pytest.raises(ValueError, match=r"a reset of 1e-17 is lost beside one in .*'gth'"):
            number(policy)
    with pytest.raises(ValueError, match="or float64"):
        TwoArms(Ram(2), gap=0.1, reset=1e-8).q(policy.float())
    with pytest.raises(ValueError, match="hypothesis must be 0"):
        ram.transition(policy, 2)
    with pytest.raises(ValueError, match=r"would have .* entries; use a smaller memory"):
        TwoArms(Memento(7), gap=0.1, reset=0.1).tabular()
    with pytest.raises(ValueError, match="here gap, arms and reset must be numbers"):
        TwoArms(Ram(1), gap=0.1, reset=torch.tensor([0.1, 0.2])).tabular()


def test_what_does_not_fit_into_memory_is_told(monkeypatch):
    """Two kinds of systems and the matrix written out; nothing is made before."""
    monkeypatch.setattr("regimes.decide._room.parse_bytes", lambda *_: 2**28)
    memory = Memento(5)
    problem = TwoArms(memory, gap=0.1, reset=0.1)
    policy = torch.full((2, memory.observations), 0.5, dtype=torch.float64).expand(200, -1, -1)
    for call in (problem.q, problem.gradient, lambda p: problem.transition(p, 0)):
        with pytest.raises(ValueError, match=r"256\.0 MiB may be used; take a shorter memory"):
            call(policy)
