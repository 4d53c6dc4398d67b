"""Verdicts on necklaces, their chains, and the policy that turns them."""

import numpy as np

from regimes.lab import Data, Values, judge, ran

CHAINS = {2: 3, 3: 4, 4: 5, 5: 8, 6: 13, 7: 20}  # POM-19
EXPONENTS = {3: 1.125, 5: 1.094, 7: 1.039, 11: 1.004}  # POM-23: m (n-1)/2^m
LEADING = {2: (4, 7), 3: (9, 31), 4: (16, 127)}  # POM-24: of 1/q - 1, necklace and column
LIMITS = {3: 0.14112, 4: 0.03876}  # POM-20: q* at mu = 0.1
ERRORS = {0.1: 0.098, 0.01: 0.0100, 0.001: 0.0010}  # POM-22: q/q* - 1 at eps1
EQUAL = {"inner": 0.68, "q": 0.354}  # POM-22: at eps0 = eps1 = 0.01

claim = judge.Claims()


@claim("POM-18", "words counted one by one, m = 1 to 14, equal the totient sum", exact=True)
def _number(dataset: Data) -> judge.Parts:
    at = ran(dataset, "count")
    gap = np.abs(at.counted - at.totient_sum)
    prime = at.is_prime.values.astype(bool)
    short = np.abs(at.counted - (2 + (2**at.count_m - 2) / at.count_m)).values[prime]
    yield judge.below("largest difference", gap.max(), 0)
    yield judge.below("prime m: largest difference from 2 + (2^m - 2)/m", short.max(), 1e-9)
    return f"N(m) = {_whole(at.counted)} for m = {_whole(at.count_m)}"


@claim(
    "POM-19", "a Gray chain of all necklaces for m = 2, 3, 5, 7; 5 for m = 4, 13 for 6", exact=True
)
def _chains(dataset: Data) -> judge.Parts:
    at = ran(dataset, "chains")
    expected = [CHAINS[int(m)] for m in at.chain_m.values]
    off = np.abs(at.chain_length.values - expected)
    yield judge.below("largest |n(m) - stated|", off.max(), 0)
    yield judge.below(
        "steps of the chains that flip more or less than one letter", at.wrong_steps.sum(), 0
    )
    yield judge.above("prime m: least n(m) - N(m)", _primes(at, at.chain_length - at.chain_all), 0)
    return f"m = {_whole(at.chain_m)}: n = {_whole(at.chain_length)} of N = {_whole(at.chain_all)}"


@claim("POM-20", "q/q* in [1, 1.004] for m = 3 and 4; q* = .14112 and .03876", exact=True)
def _limit(dataset: Data) -> judge.Parts:
    at = ran(dataset, "limit")
    ratio = at.limit_q / at.limit_star
    for k, depth in enumerate(at.limit_m.values):
        if int(depth) in LIMITS:
            name = f"m={int(depth)}: q/q*"
            yield judge.within(name, ratio.isel(limit_depth=k), 1 - 1e-9, 1.004)
            star = float(at.limit_star.isel(limit_depth=k))
            yield judge.near("q*", star, LIMITS[int(depth)], 5e-6)
    eps1, eps0 = float(at.limit_eps1), float(at.limit_eps0)
    told = ", ".join(f"{each:.5f}" for each in ratio.values)
    return f"mu={float(at.limit_gap):g}, r=0, eps1={eps1:g}, eps0={eps0:g}: q/q* {told}"


@claim("POM-21", "min q/q* >= 1 over pairs of exits in 1e-6..1", exact=True)
def _never_below(dataset: Data) -> judge.Parts:
    at = ran(dataset, "exits")
    ratio = at.pair_q / at.pair_star
    yield judge.above("smallest q/q*", ratio.min(), 1 - 1e-9)
    most = float(ratio.max())
    return f"m=3, mu={float(at.pair_gap):g}, {ratio.size} pairs (eps0, eps1), q/q* up to {most:.3g}"


@claim(
    "POM-22",
    "q/q* - 1 = .098, .0100, .0010 at eps1 = .1, .01, .001; equal exits: inner mass .68, q .354",
    exact=True,
)
def _order(dataset: Data) -> judge.Parts:
    at = ran(dataset, "exits")
    for eps1, expected in ERRORS.items():
        k = int(np.argmin(np.abs(at.order_eps1.values - eps1)))
        found = float(at.order_q[k] / at.pair_star - 1)
        yield judge.near(f"q/q* - 1 at eps1={eps1:g}", found, expected, 0.05 * expected)
    yield judge.near(
        "mass of inner necklaces, eps0=eps1", at.equal_inner, EQUAL["inner"], 0.01 * EQUAL["inner"]
    )
    yield judge.near("q there", at.equal_q, EQUAL["q"], 0.01 * EQUAL["q"])
    other = ", ".join(f"{each:.4f}" for each in (at.other_q / at.pair_star - 1).values[:3])
    return (
        f"m=3, mu={float(at.pair_gap):g}, eps0 = eps1^2/100; eps0=eps1={float(at.equal_exit):g}. "
        "The three numbers belong to other turns of the same words (AAB and BBA are left instead "
        f"of ABA and BAB), which give {other}; the protocol's exits err 2.5 times less. See POM-22b"
    )


@claim(
    "POM-22b",
    "the error is linear in eps1 (exponent 1 ± 0.02); equal exits .68 and .354",
    exact=True,
)
def _linear(dataset: Data) -> judge.Parts:
    at = ran(dataset, "exits")
    for name, words in (("order_q", "protocol's exits"), ("other_q", "other turns")):
        excess = at[name] / at.pair_star - 1
        slope = np.polyfit(np.log(at.order_eps1.values), np.log(excess.values), 1)[0]
        yield judge.near(f"exponent of q/q* - 1, {words}", slope, 1.0, 0.02)
    yield judge.near(
        "mass of inner necklaces", at.equal_inner, EQUAL["inner"], 0.01 * EQUAL["inner"]
    )
    yield judge.near("q there", at.equal_q, EQUAL["q"], 0.01 * EQUAL["q"])
    return "criterion of our own: what the paper says, whichever turn of a word is left"


@claim("POM-23", "ln q*/(2^m ln alpha) falls to 1 along prime m; m(n-1) = 2^m + m - 2", exact=True)
def _exponent(dataset: Data) -> judge.Parts:
    at = ran(dataset, "table")
    ratio = at.log_star / (2**at.prime_m * np.log(float(at.table_alpha)))
    whole = at.prime_m * (at.prime_length - 1) / 2**at.prime_m
    stated = [EXPONENTS[int(m)] for m in at.prime_m.values]
    yield judge.near("ln q*/(2^m ln alpha) at the largest m", ratio[-1], 1.0, 0.005)
    yield judge.above("least fall from one m to the next", -ratio.diff("prime").max(), 0.0)
    yield judge.below(
        "m(n-1)/2^m less the stated, largest", np.abs(whole.values - stated).max(), 5e-4
    )
    told = ", ".join(f"{value:.4f}" for value in ratio.values)
    power = (at.log_star - 2**at.prime_m * np.log(float(at.table_alpha)))[-1]
    return (
        f"m = {_whole(at.prime_m)}: {told}. Only the exponent's leading term is 2^m: at the last m "
        f"ln(q*/alpha^(2^m)) = {float(power):.2f}, and falls on"
    )


@claim("POM-24", "exponents of 1/q - 1: necklace 4, 9, 16, column 7, 31, 127", exact=True)
def _equal_memory(dataset: Data) -> judge.Parts:
    at = ran(dataset, "table")
    expected = np.array([LEADING[int(m)] for m in at.table_m.values]).T
    for k, name in enumerate(("necklace", "column")):
        found = at.table_exponent.isel(kind=k).values
        off = np.abs(found - expected[k]).max()
        yield judge.below(f"{name}: largest |exponent - stated|", off, 1e-6)
    return "; ".join(
        f"M_eff={4 ** int(m)}: {low:g} and {high:g}"
        for m, (low, high) in zip(
            at.table_m.values,
            at.table_exponent.transpose("table_depth", "kind").values,
            strict=True,
        )
    )


@claim("POM-25", "q of a player limited to m plays / q*(m) > 10, mu = 0.3, m = 5 and 7")
def _few_plays(dataset: Data) -> judge.Parts:
    at = ran(dataset, "plays")
    for k, m in enumerate(at.plays_m.values):
        q = at.plays_q.isel(plays_depth=k)
        star = float(at.plays_star[k])
        ratio = judge.mean_of(q / star)
        yield judge.above(f"q at play {int(m)} / q*({int(m)})", ratio, 10.0)
    told = ", ".join(f"{q:.4f}" for q in at.plays_q.mean("game").values)
    stars = ", ".join(f"{q:.2e}" for q in at.plays_star.values)
    return f"greedy Bayes players: q {told} against q* {stars}; {at.sizes['game']} draws"


@claim("POM-26", "formula for any arms, m = 3, to 1e-3", exact=True)
def _any_arms(dataset: Data) -> judge.Parts:
    at = ran(dataset, "arms")
    off = np.abs(at.arms_q / at.arms_formula - 1)
    yield judge.below("largest relative difference", off.max(), 1e-3)
    return (
        f"m=3, arms {float(at.arms_a):g} and {float(at.arms_b):g}, eps1={float(at.arms_eps1):g}, "
        f"eps0={float(at.arms_eps0):g}: q = {float(at.arms_q):.6f}"
    )


def _primes(at: Data, values: Values) -> float:
    prime = [m in (2, 3, 5, 7) for m in at.chain_m.values]
    if not any(prime):
        raise judge.Missing("no prime m was searched")
    return float(values.values[prime].min())


def _whole(values: Values) -> str:
    return ", ".join(f"{int(value)}" for value in values.values)
