"""Trials of training: a flow, the best necklace policy, the bound of all players."""

from __future__ import annotations

from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Point, TrialResult
from regimes.studies.pomdp import _players
from regimes.studies.pomdp.training._claims import BOUNDS

TIMES = (0.0, *(1.2**k for k in range(114)), 1e9)  # at which q is noted
FIXED = ("ccp", "necklace")  # starts that hold nothing random
OLDEST = 0.9  # probability of the oldest arm above which a word is said to turn (POM-36)
DRAWN = ("small-ram", "small-memento")  # blocks of which the first seed's policy is kept


def flow(params: Any, point: Point) -> TrialResult:
    """Some seeds of one start; where nothing is random one run stands for all of them."""
    memory = _players.memory_called(point.memory)
    problem = rg.decide.TwoArms(memory, gap=point.gap, reset=point.reset)
    seeds = point.seed[:1] if point.init in FIXED else point.seed
    logits, start_logits = rg.decide.initial_logits(point.init, problem, seeds)
    run = rg.decide.policy_flow(
        problem,
        logits.to(point.device),
        None if start_logits is None else start_logits.to(point.device),
        until=TIMES[-1],
        max_steps=params.max_steps,
        rule=rg.flow.StepRule(first=1.0, **({} if params.stages == 1 else {"shrink": 2.0})),
        stages=params.stages,
        times=TIMES,
        checkpoint=point.checkpoint(),
    )
    policy = run.policy.cpu()
    q: Any = run.q
    end_q: Any = run.end_q

    def by_seed(values: Any) -> Any:
        values = np.asarray(values, dtype=float)
        return np.broadcast_to(values, (len(point.seed), *values.shape[1:]))

    arrays = {
        "t": Array("t", TIMES),
        "q": Array(("seed", "t"), by_seed(q)),
        "start_q": Array("seed", by_seed(q[:, 0])),
        "end_q": Array("seed", by_seed(end_q)),
        "end_t": Array("seed", by_seed(run.end_times)),
        "steps": Array("seed", by_seed(run.steps)),
        "refused": Array("seed", by_seed(run.refused)),
    }
    scalars = {
        "least_q": float(end_q.min()),
        "bayes_q": float(rg.theory.q_bayes(point.gap, point.reset)),
        "members": len(seeds),
    }
    if isinstance(memory, rg.decide.Ram):
        best = float(rg.decide.ccp_opt(memory.states, point.gap, point.reset).q)
        scalars["ccp_q"] = point.reset / 2 + (1 - point.reset) * best
    else:
        arrays["oldest"] = Array("seed", by_seed(_turning(problem, policy)))
    if point.block in DRAWN:
        arrays["policy"] = Array(("observation", "action"), _drawn(memory, policy[0]))
    return TrialResult(scalars, arrays)


def _full(memory: Any) -> np.ndarray:
    """The full words of a Memento by arms and outcomes: (2^m arms, 2^m outcomes), oldest first."""
    m = memory.depth
    bits = [[index >> k & 1 for k in reversed(range(m))] for index in range(2**m)]
    return np.array(
        [
            [
                memory.observation("".join("AB"[e] for e in arms) + "".join("+-"[y] for y in signs))
                for signs in bits
            ]
            for arms in bits
        ]
    )


def _drawn(memory: Any, policy: Any) -> np.ndarray:
    """One policy, a row an observation with an outcome (a Memento's full words), for pictures."""
    rows = policy.T.numpy()
    if isinstance(memory, rg.decide.Ram):
        kept: np.ndarray = rows[memory.blanks :]
    else:
        kept = rows[_full(memory).ravel()]
    return kept


def _turning(problem: Any, policy: Any) -> np.ndarray:
    """Share of the time, among full words, at which the oldest arm is played again (members)."""
    words = _full(problem.memory)
    masses = problem.steady_state(policy).mean(-2).numpy()[:, words]
    oldest = np.arange(len(words)) >= len(words) // 2
    play = policy.numpy()[:, :, words]
    again = np.where(oldest[:, None], play[:, 1], play[:, 0])
    share: np.ndarray = (masses * (again > OLDEST)).sum((1, 2)) / masses.sum((1, 2))
    return share


def strict(point: Point) -> TrialResult:
    """The best necklace policy at this reset: the exits that minimise q."""
    from scipy.optimize import minimize

    memory = _players.memory_called(point.memory)
    problem = rg.decide.TwoArms(memory, gap=0.1, reset=point.reset)

    def q(logs: Any) -> float:
        eps0, eps1 = np.exp(-np.abs(logs))  # probabilities
        policy = rg.decide.necklace_policy(memory, float(eps0), float(eps1))
        return float(problem.q(policy.actions))

    starts = [(np.log(a), np.log(b)) for a in (0.01, 0.3) for b in (0.1, 0.7)]
    options = {"xatol": 1e-6, "fatol": 1e-12}
    found = min(
        (minimize(q, start, method="Nelder-Mead", options=options) for start in starts),
        key=lambda each: each.fun,
    )
    eps0, eps1 = np.exp(-np.abs(found.x))
    return TrialResult({"strict_q": float(found.fun), "strict_eps0": eps0, "strict_eps1": eps1})


def bound() -> TrialResult:
    """POM-37: the bound by its formula and by value iteration."""
    closed = [float(rg.theory.q_bayes(gap, reset)) for gap, reset in BOUNDS]
    iterated = [rg.theory.q_bayes_iteration(gap, reset) for gap, reset in BOUNDS]
    return TrialResult(
        arrays={
            "bound_closed": Array("place", closed),
            "bound_iterated": Array("place", iterated),
        }
    )


def cost(params: Any, point: Point) -> float:
    """Relative time of a trial."""
    if point.block in ("strict", "bound"):
        return 1.0
    kind, _, size = point.memory.partition("-")
    plays = 2.0 * int(size) if kind == "ram" else 4.0 ** int(size) / 2
    members = 1 if point.init in FIXED else len(point.seed)
    return float(params.max_steps * params.stages * members * (20 + plays**2 / 50))
