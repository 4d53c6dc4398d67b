"""Verdicts on what holds for every policy."""

import numpy as np

from regimes.lab import Data, judge, ran

claim = judge.Claims()


@claim("POM-01", "G of the discounted sum is E_p[R]/r of the steady state with resets")
def _reset(dataset: Data) -> judge.Parts:
    at = ran(dataset, "reset")
    direct = at.value_direct.transpose("problem", "discount").values
    others = {
        way: (np.abs(at.value_reset.isel(solver=k).values - direct) / np.abs(direct)).max()
        for k, way in enumerate(("solve", "power", "series"))
    }
    yield judge.below("largest relative difference", others["solve"], 1e-10)
    told = ", ".join(f"{way} {gap:.1e}" for way, gap in others.items())
    return (
        f"{direct.shape[0]} random problems, discounts "
        f"{', '.join(f'{g:g}' for g in at.discounts.values)}; by solver: {told}"
    )


@claim("POM-02", "max difference 1e-7; squarings <= ceil(log2(40/r))")
def _squaring(dataset: Data) -> judge.Parts:
    at = ran(dataset, "squaring")
    most = int(np.ceil(np.log2(40 / float(at.squared_reset))))
    yield judge.below("largest |power - solve| / largest p", at.power_gap.max(), 1e-7)
    yield judge.below("squarings, most of all", at.squarings.max(), most)
    gaps = ", ".join(f"{gap:.1e}" for gap in at.power_gap.max("squared_policy").values)
    return f"{at.squared.item()}, r={float(at.squared_reset):g}: differences {gaps}"


@claim("POM-03", "reward 0 and q = 1/2 for uniform and one-armed play", exact=True)
def _blind(dataset: Data) -> judge.Parts:
    at = ran(dataset, "blind")
    yield judge.below("largest |E_p[R]|", np.abs(at.blind_reward).max(), 1e-12)
    yield judge.below("largest |q - 1/2|", np.abs(at.blind_q - 0.5).max(), 1e-12)
    return f"{at.blind_q.size} players: arms at random, always A, always B; both memories"


@claim("POM-04", "E_p[R] = mu (1 - 2q), to 1e-12")
def _reward(dataset: Data) -> judge.Parts:
    at = ran(dataset, "reward")
    gap = at.random_reward / at.random_gap - (1 - 2 * at.random_q)
    yield judge.below("largest |E_p[R]/mu - (1-2q)|", np.abs(gap).max(), 1e-12)
    spread = at.random_q.values
    return f"{spread.size} random policies, q from {spread.min():.3f} to {spread.max():.3f}"


@claim("POM-35", "a Memento policy earns the same as a policy of a RAM with 4^(m-1) states")
def _embedding(dataset: Data) -> judge.Parts:
    at = ran(dataset, "embedding")
    gap = np.abs(at.embedded_reward - at.memento_reward) / at.embedded_gap
    yield judge.below("no resets: largest difference of the reward / mu", gap[..., 0].max(), 1e-10)
    yield judge.below("with resets, short words kept too", gap[..., 1].max(), 1e-10)
    depths = ", ".join(f"m={int(m)} in M={4 ** (int(m) - 1)}" for m in at.embedded_depth.values)
    return (
        f"{at.sizes['embedded_policy']} random policies, {depths}; r={float(at.embedded_reset):g}"
    )
