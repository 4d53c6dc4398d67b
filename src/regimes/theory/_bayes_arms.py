"""The best that any memory can do with two arms: play the arm that is more likely the better one.

Every outcome moves the log odds of the two hypotheses by one and the same step, whichever arm was
played. So nothing is gained by trying the worse-looking arm, and greed is optimal.
"""

from __future__ import annotations

import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes.decide._arms import Number, number

_MOST_BELIEFS = 2_000_000  # on one side


def q_bayes(mu: Number, r: Number) -> Tensor:
    """How often a player with unbounded memory plays the worse arm, q': a lower bound for all.

    It is greed, a column of confidence without a top (docs/themes/pomdp.md, "The Bayes bound").
    With `g = 1-r`, `s = sqrt(1 - g^2 (1-mu^2))` and `u = (1-s)/(g (1+mu))`,

        q' = r (1 + s + g (1-mu)) / (2 s (1+s) (1-u)),

    which is `r/(2 mu^2)` where r is far below mu^2. Both arguments broadcast.

    Args:
        mu: gap between the two arms, in (0, 1).
        r: reset probability, in (0, 1).

    >>> q_bayes(0.1, 0.01)
    tensor(0.2128, dtype=torch.float64)
    """
    mu, r = number("mu", mu, 0, 1), number("r", r, 0, 1)
    g = 1 - r
    s = (r * (2 - r) + (g * mu) ** 2).sqrt()
    rest = ((2 * r + g * mu**2) / (s + r) + mu) / (1 + mu)  # 1 - u, without a difference
    return r * (1 + s + g * (1 - mu)) / (2 * s * (1 + s) * rest)


def q_bayes_iteration(
    mu: float, r: float, *, tolerance: float = 1e-13, max_steps: int = 1_000_000
) -> float:
    """`q_bayes` found by value iteration over beliefs, with nothing known of the best policy.

    A belief is the surplus k of outcomes in favour of A; `P(A is better) = 1/(1 + alpha^k)` with
    `alpha = (1-mu)/(1+mu)`. The least expected number of wrong plays until the reset obeys

        W(k) = min over arms of P(arm is wrong | k) + (1-r) E[W(k +- 1)],

    and `q' = r W(0)`. Beliefs further out than the rounding of float64 are cut off. Takes about
    `30/r` steps.

    Args:
        mu: gap between the two arms, in (0, 1).
        r: reset probability, in (0, 1).
        tolerance: on q', for what is left of the iteration.
        max_steps: after which a ValueError gives up.

    >>> abs(q_bayes_iteration(0.2, 0.05) - float(q_bayes(0.2, 0.05))) < 1e-12
    True
    """
    mu, r = real("mu", mu, 0, 1), real("r", r, 0, 1)
    tolerance = real("tolerance", tolerance, 0)
    log_alpha = torch.tensor((1 - mu) / (1 + mu), dtype=torch.float64).log()
    needed = float(40 / -log_alpha) + 2
    if needed > _MOST_BELIEFS:
        raise ValueError(
            f"mu = {mu:g} needs {needed:.0e} outcomes to be sure; take mu above 1e-5, or q_bayes"
        )
    widest = int(needed)
    surplus = torch.arange(-widest, widest + 1, dtype=torch.float64)
    right = torch.sigmoid(-surplus * log_alpha)  # P(A is better)
    plus_a = right * (1 + mu) / 2 + (1 - right) * (1 - mu) / 2  # P(A rewards); favours A
    plus_b = right * (1 - mu) / 2 + (1 - right) * (1 + mu) / 2  # P(B rewards); favours B
    wrong = torch.zeros_like(surplus)
    for _ in range(positive_int("max_steps", max_steps)):
        up = torch.cat([wrong[1:], wrong[-1:]])
        down = torch.cat([wrong[:1], wrong[:-1]])
        play_a = (1 - right) + (1 - r) * (plus_a * up + (1 - plus_a) * down)
        play_b = right + (1 - r) * (plus_b * down + (1 - plus_b) * up)
        new = torch.minimum(play_a, play_b)
        change = float((new - wrong).abs().max())
        wrong = new
        if change < tolerance:  # what is still to come is at most change (1-r)/r, times r
            return r * float(wrong[widest])
    raise ValueError(
        f"value iteration at r={r:g} is not done after {max_steps} steps; raise max_steps or r"
    )
