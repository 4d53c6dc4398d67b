"""Partially observable decision problems small enough to write down as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import torch

from regimes._check import choose, real
from regimes.decide._probabilities import members, probabilities, same_kind, tensor
from regimes.decide._slope import Slope
from regimes.decide._steady_state import SOLVERS, not_lost

if TYPE_CHECKING:
    from torch import Tensor


@final
@dataclass(frozen=True, eq=False)
class TabularPOMDP:
    """A decision problem whose state the player sees through observations [Geiger 2022, Def. 2.1].

    Numbers may be tensors, arrays or nested lists; lists become float64. A policy is
    `policy[a, o]`, the probability of action a at observation o; leading axes (..., A, O) are
    members, all computed at once, and every method but `gradient` is differentiable in it.

    Attributes:
        transition: T (S, S, A), `T[s', s, a]` the probability to come from s to s' by action a.
        observation: (O, S), `observation[o, s]` the probability to see o in state s.
        rewards: R (S,), collected in a state; a reward that depends on the action needs
            states that remember the action.
        start: p0 (S,), the probabilities of the first state.
        discount: gamma in [0, 1).

    A leaking boat: bailing (action 1) costs a day of fishing, and fog hides the water.

    >>> sail = torch.tensor([[0.7, 0, 0], [0.3, 0.6, 0], [0, 0.4, 1]], dtype=torch.float64)
    >>> bail = torch.tensor([[1.0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=torch.float64)
    >>> problem = TabularPOMDP(
    ...     transition=torch.stack([sail, bail], -1),
    ...     observation=[[1, 0.5, 0], [0, 0.5, 1]],  # looks dry, looks wet
    ...     rewards=[1.0, 1.0, -5.0],  # dry, damp, full of water
    ...     start=[1.0, 0.0, 0.0],
    ...     discount=0.9,
    ... )
    >>> problem
    TabularPOMDP(3 states, 2 actions, 2 observations, discount 0.9)
    >>> never, when_wet = torch.tensor([[[1.0, 1], [0, 0]], [[1, 0], [0, 1]]]).double()
    >>> [round(problem.value(policy).item(), 2) for policy in (never, when_wet)]
    [-24.27, 6.71]
    """

    transition: Any
    observation: Any
    rewards: Any
    start: Any
    discount: float

    def __post_init__(self) -> None:
        T = tensor("transition", self.transition)
        if T.ndim != 3 or T.shape[0] != T.shape[1] or T.numel() == 0:
            raise ValueError(
                f"transition must have shape (S, S, A), T[s', s, a], got {tuple(T.shape)}"
            )
        S = T.shape[0]
        words = "T[s', s, a], from s to s' by action a"
        probabilities("transition", T.movedim(-1, 0), (S, S), -2, words, "s'")
        seen = probabilities("observation", self.observation, (-1, S), -2, "O[o, s]", "o")
        p0 = probabilities("start", self.start, (S,), -1, "a probability of each state")
        R = tensor("rewards", self.rewards)
        for name, x, shape in (
            ("observation", seen, (len(seen), S)),
            ("start", p0, (S,)),
            ("rewards", R, (S,)),
        ):
            if tuple(x.shape) != shape:
                raise ValueError(
                    f"{name} must have shape {shape} for {S} states, got {tuple(x.shape)}"
                )
            same_kind(name, x, T, "transition")
        if not 0 <= (gamma := real("discount", self.discount)) < 1:
            raise ValueError(
                f"discount must be in [0, 1), got {gamma:g}; a value without discount is a mean "
                "reward: take a discount near 1 and `reward`"
            )
        not_lost(torch.tensor(1 - gamma, dtype=T.dtype), "take a smaller discount")
        kept = {"transition": T, "observation": seen, "rewards": R, "start": p0, "discount": gamma}
        for name, value in kept.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return (
            f"TabularPOMDP({self.states} states, {self.actions} actions, "
            f"{self.observations} observations, discount {self.discount:g})"
        )

    @property
    def states(self) -> int:
        """How many states there are."""
        return int(self.transition.shape[0])

    @property
    def actions(self) -> int:
        """How many actions there are."""
        return int(self.transition.shape[2])

    @property
    def observations(self) -> int:
        """How many observations there are."""
        return int(self.observation.shape[0])

    @property
    def reset(self) -> float:
        """The probability `r = 1 - gamma` of starting anew in the problem without discount."""
        return 1 - self.discount

    def policy_transition(self, policy: Tensor) -> Tensor:
        """`T_pi[s', s] = sum_oa T[s', s, a] policy[a, o] O[o, s]` [Geiger 2022, eq. 1].

        Returns:
            (..., S, S); columns sum to one.
        """
        return self._mixed(self._policy(policy))

    def steady_state(
        self, policy: Tensor, start: Tensor | None = None, solver: str = "solve"
    ) -> Tensor:
        """Steady state (..., S) of the problem with resets [Geiger 2022, eq. 11].

        `start` (..., S) replaces the first state's probabilities, `solver` is one of
        `steady_state`.
        """
        T, p0 = self._prepared(policy, start)
        r = torch.as_tensor(self.reset, dtype=T.dtype, device=T.device)
        return choose(solver, SOLVERS, "solver")(T, p0, r)

    def reward(self, policy: Tensor, start: Tensor | None = None) -> Tensor:
        """Mean reward a step `E_p[R]` (...) in the steady state: r times the value."""
        return self.steady_state(policy, start) @ self.rewards

    def value(self, policy: Tensor, start: Tensor | None = None) -> Tensor:
        """`E[sum_t gamma^t R(s_t)]` (...) [Geiger 2022, eq. 2], by its linear system.

        The values of all states solve `v = R + gamma T_pi^T v`; theirs is the mean over the
        first state.
        """
        T, p0 = self._prepared(policy, start)
        eye = torch.eye(self.states, dtype=T.dtype, device=T.device)
        v = torch.linalg.solve(eye - self.discount * T.mT, self.rewards[:, None])[..., 0]
        return (v * p0).sum(-1)

    def gradient(self, policy: Tensor, start: Tensor | None = None, *, check: bool = True) -> Slope:
        """`E_p[R]` with its derivatives, from one factorisation.

        With `A = 1 - (1-r) T_pi`, `A p = r p0` and `A^T l = R`, the derivative by T_pi is
        `(1-r) l p^T`, and by p0 it is `r l`.

        Args:
            policy: (..., A, O).
            start: (..., S), or None for the problem's own.
            check: False takes the arguments as probabilities without looking.
        """
        with torch.no_grad():
            if check:
                T, p0 = self._prepared(policy, start)
            else:
                T, p0 = self._mixed(policy), self.start if start is None else start
            r = self.reset
            T = T.expand(*torch.broadcast_shapes(T.shape[:-2], p0.shape[:-1]), -1, -1)
            eye = torch.eye(self.states, dtype=T.dtype, device=T.device)
            lu, pivots = torch.linalg.lu_factor(eye - (1 - r) * T)
            p = torch.linalg.lu_solve(lu, pivots, (r * p0)[..., None])[..., 0]
            R = self.rewards.expand(T.shape[:-1])[..., None]
            dual = torch.linalg.lu_solve(lu, pivots, R, adjoint=True)[..., 0]
            gain = torch.einsum("xsa,...x->...as", self.transition, dual)
            slope = (1 - r) * (gain * p[..., None, :]) @ self.observation.mT
            return Slope(p @ self.rewards, slope, r * dual)

    def _prepared(self, policy: Tensor, start: Tensor | None) -> tuple[Tensor, Tensor]:
        """The transition of a policy and the start, both checked."""
        T, p0 = self.policy_transition(policy), self.first(start)
        members(policy=T.shape[:-2], start=p0.shape[:-1])
        return T, p0

    def _mixed(self, policy: Tensor) -> Tensor:
        return torch.einsum("xsa,...as->...xs", self.transition, policy @ self.observation)

    def _policy(self, policy: Tensor) -> Tensor:
        shape = (self.actions, self.observations)
        words = f"of {self.actions} actions at each of {self.observations} observations"
        x = probabilities("policy", policy, shape, -2, words, "the actions")
        same_kind("policy", x, self.transition, "the problem")
        return x

    def first(self, start: Tensor | None = None) -> Tensor:
        """Probabilities (..., S) of the first state: `start`, checked, or the problem's own."""
        if start is None:
            return self.start
        x = probabilities("start", start, (self.states,), -1, "a probability of each state")
        same_kind("start", x, self.transition, "the problem")
        return x
