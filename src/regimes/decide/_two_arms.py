"""Two arms, one of them better, and a player whose memory is finite."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import torch

from regimes._check import choose, instance, positive_int
from regimes.decide._arms import arm_pair, number
from regimes.decide._chain import REWARDS, Chain, Chances, adjoint, observed
from regimes.decide._memento_chain import MementoChain
from regimes.decide._memories import Memento, Ram
from regimes.decide._pomdp import TabularPOMDP
from regimes.decide._probabilities import members, probabilities, same_kind
from regimes.decide._ram_chain import RamChain
from regimes.decide._room import room_for
from regimes.decide._slope import Slope
from regimes.decide._steady_state import SOLVERS, not_lost, reset_of

if TYPE_CHECKING:
    from torch import Tensor

_MOST_ENTRIES = 2**27  # of a transition written out: a gigabyte


@final
@dataclass(frozen=True, eq=False)
class TwoArms:
    """The two-hypothesis problem [Geiger 2022, sec. 2.3] for a player with a memory.

    A pull of an arm pays +1 or -1. Under hypothesis 0 arm A is the better one, under hypothesis 1
    arm B; both are as probable and never change until a reset, when a new player starts. The
    player sees all of the state but the hypothesis, so a state is an observation under a
    hypothesis.

    A policy is `policy[a, o]` (..., A, O), the probability of each action of the memory at each
    of its observations; leading axes are members, all solved at once. With `Ram`, `start` (..., M)
    is the distribution of the first, blank memory, None for uniform; `Memento` starts with the
    empty word. Methods but `gradient` are differentiable in both.

    Attributes:
        memory: `Ram(states)` or `Memento(depth)`.
        gap: mu in (0, 1]: the arms win with probability `(1 + mu)/2` and `(1 - mu)/2`.
        arms: in the place of the gap, the probabilities that the better and the worse arm win.
        reset: r in [0, 1), the probability that a step ends the game, `1 - gamma`. With r = 0
            only `solver="gth"` answers. Gap, arms and reset may be tensors (...), one a member.

    Winning arms are pulled again, losing ones are left:

    >>> memory = Memento(1)
    >>> problem = TwoArms(memory, gap=0.2, reset=1e-3)
    >>> problem
    TwoArms(Memento(depth=1), gap 0.2, reset 0.001)
    >>> policy = torch.full((2, 5), 0.5, dtype=torch.float64)
    >>> for word, arm in (("A+", 0), ("A-", 1), ("B+", 1), ("B-", 0)):
    ...     policy[:, memory.observation(word)] = torch.eye(2, dtype=torch.float64)[arm]
    >>> f"worse arm {problem.q(policy):.4f}, reward {problem.reward(policy):.4f} a step"
    'worse arm 0.4002, reward 0.0399 a step'
    """

    memory: Ram | Memento
    gap: Any = None
    arms: Any = None
    reset: Any = field(kw_only=True)
    _plus: Any = field(init=False, repr=False)  # (..., h, arm)
    _reset: Any = field(init=False, repr=False)
    _chances: dict[Any, Chances] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        instance("memory", self.memory, Ram | Memento, "Ram(states) or Memento(depth)")
        if (self.gap is None) == (self.arms is None):
            raise ValueError(
                "give either gap, as in gap=0.1, or arms, the probabilities that the better and "
                "the worse arm win, as in arms=(0.55, 0.45)"
            )
        better, worse = self._wins()
        plus = torch.stack([torch.stack([better, worse], -1), torch.stack([worse, better], -1)], -2)
        r = reset_of(self.reset, plus)
        if bool((r == 1).any()):
            raise ValueError("reset must be below 1, for otherwise nobody ever plays, got 1")
        members(arms=better.shape, reset=r.shape)
        object.__setattr__(self, "_plus", plus.detach())
        object.__setattr__(self, "_reset", r.detach())

    def _wins(self) -> tuple[Tensor, Tensor]:
        """Probabilities that the better and the worse arm win, (...) each."""
        if self.gap is not None:
            mu = number("gap", self.gap, 0, 1, closed=(False, True))
            return (1 + mu) / 2, (1 - mu) / 2
        if not isinstance(self.arms, tuple | list) or len(self.arms) != 2:
            raise ValueError("arms must be a pair, as in arms=(0.55, 0.45)")
        return arm_pair(tuple(self.arms), certain=True)

    def __repr__(self) -> str:
        def shown(x: Any) -> str:
            return "of each member" if torch.as_tensor(x).ndim else f"{float(x):g}"

        odds = (
            f"gap {shown(self.gap)}"
            if self.arms is None
            else (f"arms ({shown(self.arms[0])}, {shown(self.arms[1])})")
        )
        return f"TwoArms({self.memory}, {odds}, reset {shown(self.reset)})"

    @property
    def actions(self) -> int:
        """How many actions the memory offers."""
        return self.memory.actions

    @property
    def observations(self) -> int:
        """How many observations the memory holds."""
        return self.memory.observations

    def transition(self, policy: Tensor, hypothesis: int) -> Tensor:
        """`T_pi[s', s]` (..., S, S) under a hypothesis, S observations [Geiger 2022, eq. 1].

        Written out, to look at and to compare with: the methods below solve a smaller system.
        """
        x, _, chances = self._prepared(policy, None)
        h = positive_int("hypothesis", hypothesis, least=0)
        if h > 1:
            raise ValueError(f"hypothesis must be 0 (A is better) or 1 (B is better), got {h}")
        S, blanks = self.observations, self.memory.blanks
        room_for(x.shape[:-2].numel(), S, x, f"{self.memory}, written out,")
        after = self.memory.following.to(x.device)  # (O, A)
        ends = blanks + 2 * after[..., None] + torch.arange(2, device=x.device)
        weights = x.mT[..., None] * chances.odds[..., h, :, :][..., after % 2, :]
        place = (ends * S + torch.arange(S, device=x.device)[:, None, None]).flatten()
        T = weights.new_zeros(*weights.shape[:-3], S * S)
        return T.index_add(-1, place, weights.flatten(-3)).unflatten(-1, (S, S))

    def tabular(self, start: Tensor | None = None) -> TabularPOMDP:
        """The same problem as arrays, for other solvers: states (hypothesis, observation).

        The dense transition has 4 S^2 A entries, so this is for small memories.
        """
        S, A, blanks = self.observations, self.actions, self.memory.blanks
        if 4 * S * S * A > _MOST_ENTRIES:
            raise ValueError(
                f"the arrays of {self.memory} would have {4 * S * S * A:.1e} entries; use a "
                "smaller memory, or the methods of TwoArms, which never write them out"
            )
        _, p0, reset = self.numbers(start)
        each = torch.eye(A, dtype=torch.float64)[..., None].expand(-1, -1, S)  # one action always
        T = torch.stack(
            [torch.block_diag(*[self.transition(one, h) for h in (0, 1)]) for one in each], -1
        )
        signs = torch.tensor(REWARDS, dtype=torch.float64).repeat(self.memory.plays)
        reward = torch.cat([torch.zeros(blanks, dtype=torch.float64), signs]).repeat(2)
        first = torch.zeros(2, S, dtype=torch.float64)
        first[:, :blanks] = p0 / 2
        eye = torch.eye(S, dtype=torch.float64).repeat(1, 2)
        return TabularPOMDP(T, eye, reward, first.flatten(), 1 - reset)

    def numbers(self, start: Tensor | None = None) -> tuple[Tensor, Tensor, float]:
        """Of a single problem, no stack: its chances of winning [hypothesis, arm], start and r."""
        if self._plus.ndim > 2 or self._reset.ndim:
            raise ValueError(
                "here gap, arms and reset must be numbers, not tensors of members; make a TwoArms "
                "for each member"
            )
        p0 = self._start(start, self._plus)
        if p0.ndim > 1:
            raise ValueError(f"here start must be one distribution, got {tuple(p0.shape)}")
        return self._plus, p0, float(self._reset)

    def steady_state(
        self, policy: Tensor, start: Tensor | None = None, solver: str = "solve"
    ) -> Tensor:
        """Steady state p (..., 2, S) under each hypothesis; each sums to one.

        Hypotheses are solved apart, for nothing leads from one to the other [Geiger 2022, app. B],
        and only the chain of plays is solved at all: 2M of the 5M observations of `Ram`, 4^m/2 of
        the words of `Memento`. `solver` is one of `steady_state`.
        """
        solve = choose(solver, SOLVERS, "solver")
        x, p0, chances = self._prepared(policy, start)
        chain = chain_of(self.memory, x.device)
        rate, odds = chances.rate, chances.odds
        early, first = chain.enter(x, p0, chances.kept)
        first = first / (1 - rate) ** (chain.delay - 1)  # the distribution at the chain's door
        plays = solve(chain.matrix(x, odds), first, rate[..., 0])
        return observed(rate * early, (1 - rate) ** chain.delay * plays, odds)

    def reward(self, policy: Tensor, start: Tensor | None = None, solver: str = "solve") -> Tensor:
        """Mean reward a step `E_p[R]` (...); a blank memory counts as a step without reward."""
        return self._mean_reward(self.steady_state(policy, start, solver))

    def value(self, policy: Tensor, start: Tensor | None = None) -> Tensor:
        """`E[sum_t gamma^t R]` (...): the mean reward over r [Geiger 2022, Lemma 2.1]."""
        self._decays("value")
        return self.reward(policy, start) / self._reset.to(policy.device, policy.dtype)

    def q(self, policy: Tensor, start: Tensor | None = None, solver: str = "solve") -> Tensor:
        """Probability that the last play was of the worse arm (...) [Geiger 2022, sec. 2.3].

        Before the first play, which has the weight r, it counts one half
        (docs/themes/pomdp.md, "Wrong-arm probability").
        """
        p = self.steady_state(policy, start, solver)
        wrong, _ = self._plays(p)
        return wrong + p[..., : self.memory.blanks].sum((-1, -2)) / 4

    def q_played(
        self, policy: Tensor, start: Tensor | None = None, solver: str = "solve"
    ) -> Tensor:
        """The same among plays alone: q' in `q = r/2 + (1-r) q'`; what closed forms give."""
        wrong, all_plays = self._plays(self.steady_state(policy, start, solver))
        return wrong / all_plays

    def q_of_reward(self, reward: Tensor) -> Tensor:
        """The q that belongs to a mean reward, for each says the other.

        With arms that win with k > k', `E_p[R] = (1-r) [k + k' - 1 + (k - k') (1 - 2 q')]`, which
        is `mu (1 - 2q)` for a gap (docs/themes/pomdp.md, "Wrong-arm probability").

        >>> TwoArms(Ram(1), gap=0.2, reset=0.5).q_of_reward(torch.tensor(0.1))
        tensor(0.2500)
        """
        instance("reward", reward, torch.Tensor, "a tensor of mean rewards")
        better, worse = self._plus[..., 0, :].to(reward.device, reward.dtype).unbind(-1)
        r = self._reset.to(reward.device, reward.dtype)
        q_played = (1 - (reward / (1 - r) - (better + worse - 1)) / (better - worse)) / 2
        return r / 2 + (1 - r) * q_played

    def gradient(self, policy: Tensor, start: Tensor | None = None, *, check: bool = True) -> Slope:
        """`E_p[R]` with its derivatives by policy and start, from one factorisation.

        With A = 1 - (1-r) T_pi, `A p = r p0` and `A^T l = R`, the derivative by T_pi is
        `(1-r) l p^T`: what autograd finds through `reward`, in less time and memory. The system
        is that of the plays, which `steady_state` describes.

        Args:
            policy: (..., A, O), of float64 where r is small.
            start: (..., M) for `Ram`, or None.
            check: False takes the arguments as probabilities without looking.

        >>> problem = TwoArms(Ram(3), gap=0.1, reset=0.01)
        >>> policy = torch.full((6, 15), 1 / 6, dtype=torch.float64, requires_grad=True)
        >>> (slow,) = torch.autograd.grad(problem.reward(policy), policy)
        >>> slope = problem.gradient(policy)
        >>> torch.allclose(slope.policy, slow, rtol=1e-10), tuple(slope.start.shape)
        (True, (3,))
        """
        with torch.no_grad():
            x, p0, chances = self._prepared(policy, start, check)
            if check:
                self._decays("gradient")
            p, by_policy, by_start = adjoint(chain_of(self.memory, x.device), x, p0, chances)
            return Slope(self._mean_reward(p), by_policy, by_start)

    def _decays(self, name: str) -> None:
        """Raise where there are no resets, or next to none."""
        if not bool((self._reset > 0).all()):
            raise ValueError(f"{name} needs reset > 0, got 0; without resets use reward and 'gth'")
        not_lost(self._reset, "use reward with solver='gth'")

    def _mean_reward(self, p: Tensor) -> Tensor:
        won, lost = p[..., self.memory.blanks :].unflatten(-1, (-1, 2)).sum((-2, -3)).unbind(-1)
        return (won - lost) / 2

    def _plays(self, p: Tensor) -> tuple[Tensor, Tensor]:
        """Mass (...) of plays of the worse arm, and of all plays."""
        arms = p[..., self.memory.blanks :].unflatten(-1, (-1, 2, 2)).sum((-1, -3))
        return (arms[..., 0, 1] + arms[..., 1, 0]) / 2, arms.sum((-1, -2)) / 2

    def _prepared(
        self, policy: Tensor, start: Tensor | None, check: bool = True
    ) -> tuple[Tensor, Tensor, Chances]:
        """Policy and start, checked, and the chances as tensors of their kind."""
        A, count = self.actions, self.observations
        if check:
            words = f"of {A} actions at each of {count} observations of {self.memory}"
            told = f"a tensor (..., {A}, {count}), as the actions of a Policy are"
            instance("policy", policy, torch.Tensor, told)
            policy = probabilities("policy", policy, (A, count), -2, words, "the actions")
        p0 = self._start(start, policy) if check or start is None else start
        if check:
            arms, reset = self._plus.shape[:-2], self._reset.shape
            members(policy=policy.shape[:-2], start=p0.shape[:-1], arms=arms, reset=reset)
        kind = (policy.device, policy.dtype)
        if kind not in self._chances:
            self._chances[kind] = Chances.of(self._plus.to(*kind), self._reset.to(*kind))
        return policy, p0, self._chances[kind]

    def _start(self, start: Tensor | None, like: Tensor) -> Tensor:
        """The distribution of the blank observations, checked."""
        blanks = self.memory.blanks
        if start is None:
            return like.new_full((blanks,), 1 / blanks)
        if isinstance(self.memory, Memento):
            raise ValueError("Memento starts with the empty word: leave start out")
        x = probabilities("start", start, (blanks,), -1, f"of {blanks} blank memories")
        same_kind("start", x, like, "policy")
        return x


@functools.lru_cache(maxsize=32)
def chain_of(memory: Ram | Memento, device: torch.device) -> Chain:
    """The chain of a memory, with its tables on a device."""
    return RamChain(memory) if isinstance(memory, Ram) else MementoChain(memory, device)
