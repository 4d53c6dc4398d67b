"""Verdicts on policies of a RAM: chains that are solved exactly, and their best exits."""

import numpy as np

from regimes.lab import Data, Values, judge, ran

COEFFICIENTS = {(5, 0.1): 1.4378, (10, 0.1): 1.4243, (5, 0.2): 1.4570}  # POM-10
MANY_STATES = {0.1: 1.4213, 0.2: 1.4434}  # [Geiger 2022, eq. 23]
SPOTS = {  # POM-13: q' at (M, mu, r)
    (5, 0.1, 1e-4): 0.15594,
    (10, 0.1, 1e-4): 0.03802,
    (20, 0.1, 1e-4): 0.00754,
    (5, 0.2, 1e-2): 0.12721,
    (20, 0.2, 1e-2): 0.09280,
}
FLOOR = {"states": 20, "gap": 0.2, "reset": 1e-4}  # where many states are as good as all

claim = judge.Claims()


@claim("POM-05", "q' = alpha^(M-1)/(1 + alpha^(M-1)) to 1e-6", exact=True)
def _linear(dataset: Data) -> judge.Parts:
    at = ran(dataset, "linear")
    off = np.abs(at.linear_q / at.linear_formula - 1)
    yield judge.below("largest relative difference", off.max(), 1e-6)
    states = at.linear_states.values
    return (
        f"M={states.min():g} to {states.max():g}, mu={_listed(at.linear_gaps)}, r=0, "
        f"eps={float(at.linear_exit):g}"
    )


@claim("POM-06", "no ratio of random policies above alpha^-2, some above alpha^-1; linear: all at")
def _ratios(dataset: Data) -> judge.Parts:
    at = ran(dataset, "ratios")
    printed, bound = (float(at.ratio_alpha) ** -power for power in (1, 2))
    largest = at.random_ratio.max("step").values
    off = np.abs(at.linear_ratio - bound).max()
    # the first number is what fresh draws change
    yield judge.below("largest ratio of random policies", largest.max(), bound * (1 + 1e-9))
    yield judge.above("the same", largest.max(), printed)
    yield judge.below("linear policy: largest |ratio - alpha^-2|", off, 1e-5)
    return (
        f"alpha^-1 = {printed:g}, alpha^-2 = {bound:g}; {len(largest)} random policies of four "
        f"states, of which {(largest > printed).sum()} exceed the printed bound alpha^-1; linear "
        f"policy of {at.sizes['linear_step'] + 1} states"
    )


@claim("POM-07", "q' = alpha^(2M-1)/(1 + alpha^(2M-1)) to 1e-5", exact=True)
def _column(dataset: Data) -> judge.Parts:
    at = ran(dataset, "column")
    off = np.abs(at.column_q / at.column_formula - 1)
    yield judge.below("largest relative difference", off.max(), 1e-5)
    states = at.column_states.values
    return (
        f"M={states.min():g} to {states.max():g}, mu={_listed(at.column_gaps)}, r=0, "
        f"eps={float(at.column_exit):g}"
    )


@claim("POM-08", "formulas: q' of M confidence levels is that of a line of 2M states", exact=True)
def _twice(dataset: Data) -> judge.Parts:
    at = ran(dataset, "column")
    gap = np.abs(at.column_formula / at.double_formula - 1)
    yield judge.below("largest relative difference", gap.max(), 1e-12)
    last = at.isel(column_state=-1, column_gap=-1)
    return (
        f"M={int(last.column_states):d}, mu={float(last.column_gaps):g}: q' = "
        f"{float(last.column_formula):.3g}; no policy of M_eff = 4M states is below q_HC(4M) = "
        f"{float(last.bit_formula):.3g}, that of one bit more"
    )


@claim("POM-08b", "solved chains: a column of M and a line of 2M agree to 1e-5", exact=True)
def _solved_twice(dataset: Data) -> judge.Parts:
    at = ran(dataset, "column")
    gap = np.abs(at.column_q / at.double_q - 1)
    yield judge.below("largest relative difference", gap.max(), 1e-5)
    return "criterion of our own: POM-08 compares a formula with itself"


@claim("POM-09", "exponent 0.50 ± 0.01", exact=True)
def _root(dataset: Data) -> judge.Parts:
    at = exits(dataset, 10, 0.2)
    yield judge.near("exponent of eps* in r", slope(at.exit_resets, at.exit_rate), 0.5, 0.01)
    return f"M=10, mu=0.2, r={_range(at.exit_resets)}"


@claim("POM-10", "eps*/sqrt(r) follows the corrected law within 0.3 %", exact=True)
def _coefficient(dataset: Data) -> judge.Parts:
    worst, told = 0.0, []
    for (states, gap), expected in COEFFICIENTS.items():
        at = judge.nearest(
            exits(dataset, states, gap).swap_dims(exit_reset="exit_resets"), exit_resets=1e-7
        )
        found = float(at.exit_rate) / float(at.exit_resets) ** 0.5
        law, printed = (float(at[name]) for name in ("exit_law", "exit_printed"))
        worst = max(worst, abs(found / law - 1), abs(found / expected - 1))
        told.append(f"({states}, {gap:g}): {found:.4f}, law {law:.4f}, as printed {printed:.4f}")
    yield judge.below("largest deviation from the law (%)", 100 * worst, 0.3)
    many = 0.0
    for states, gap in zip(dataset.exit_states.values, dataset.exit_gaps.values, strict=True):
        if states >= 10 and float(gap) in MANY_STATES:
            at = judge.nearest(
                exits(dataset, states, gap).swap_dims(exit_reset="exit_resets"), exit_resets=1e-7
            )
            found = float(at.exit_rate) / float(at.exit_resets) ** 0.5
            many = max(many, abs(found / MANY_STATES[float(gap)] - 1))
    yield judge.below("the same from sqrt(2/(1-mu^2)), M >= 10 (%)", 100 * many, 0.3)
    return f"eps*/sqrt(r) at r=1e-7 for (M, mu) = {'; '.join(told)}"


@claim("POM-11", "exponent 0.50 ± 0.03", exact=True)
def _cost(dataset: Data) -> judge.Parts:
    at = exits(dataset, 6, 0.15)
    cost = at.exit_q - at.exit_limit
    yield judge.near("exponent of q' - q'(r=0)", slope(at.exit_resets, cost), 0.5, 0.03)
    ends = slope(at.exit_resets[:3], cost[:3]), slope(at.exit_resets[-3:], cost[-3:])
    return (
        f"M=6, mu=0.15, r={_range(at.exit_resets)}; {ends[0]:.3f} over the three smallest r, "
        f"{ends[1]:.3f} over the three largest, where the next order shows"
    )


@claim("POM-12", "2/((1-mu) eps*) has the exponent -0.50 ± 0.01", exact=True)
def _residence(dataset: Data) -> judge.Parts:
    at = exits(dataset, 10, 0.2)
    time = 2 / ((1 - at.exit_gaps) * at.exit_rate)
    yield judge.near("exponent of the time", slope(at.exit_resets, time), -0.5, 0.01)
    return "the rates of POM-09 again, so it cannot come out otherwise; see POM-12b"


@claim("POM-12b", "time at the top of the solved chain: exponent -0.50 ± 0.01", exact=True)
def _time_at_top(dataset: Data) -> judge.Parts:
    at = exits(dataset, 10, 0.2)
    judge.need(at, "top_time")
    yield judge.near("exponent of the time", slope(at.exit_resets, at.top_time), -0.5, 0.01)
    ratio = at.top_time * (1 - at.exit_gaps) * at.exit_rate / 2
    return (
        "criterion of our own: mean plays from arriving at the top of the better arm's column to "
        f"the step down, of the policy as a RAM; {float(ratio.min()):.6f} to "
        f"{float(ratio.max()):.6f} times 2/((1-mu) eps*)"
    )


@claim(
    "POM-13",
    "spot values to 1e-3; floor = q_Bayes within 2 %; falls with M and with 1/r",
    exact=True,
)
def _two_regimes(dataset: Data) -> judge.Parts:
    at = ran(dataset, "lines")
    spots = np.abs(at.spot_q.values / np.array(list(SPOTS.values())) - 1)
    yield judge.below("spot values, largest relative difference", spots.max(), 1e-3)
    floor = _floor(at)
    yield judge.within("q'/q'_Bayes at M=20, mu=0.2, least", floor.min(), 1 - 1e-9, 1.02)
    yield judge.within("the same, most", floor.max(), 1 - 1e-9, 1.02)
    falls = [at.left_q.diff("left_reset").min(), -at.left_q.diff("left_state").max()]
    falls.append(-at.right_q.diff("right_state").max())
    yield judge.above("least fall of q' along 1/r and M", min(map(float, falls)), 0.0)
    first = at.left_q.isel(left_reset=0) / at.left_limit
    return (
        f"spots {', '.join(f'{q:.5f}' for q in at.spot_q.values)}; for r >= {FLOOR['reset']:g} "
        f"{floor.min():.5f} to {floor.max():.5f} times the floor; at "
        f"r={float(at.left_resets[0]):.1e} q' is {float(first.isel(left_state=0).min()):.2f} to "
        f"{float(first.max()):.3g} times its limit"
    )


@claim("POM-15", "formula for any arms, to 1e-5", exact=True)
def _any_arms(dataset: Data) -> judge.Parts:
    at = ran(dataset, "arms")
    off = np.abs(at.arms_q / at.arms_formula - 1)
    yield judge.below("largest relative difference", off.max(), 1e-5)
    told = ", ".join(
        f"({a:g}, {b:g}, M={int(m)}): {q:.6g}"
        for a, b, m, q in zip(
            at.arms_a.values, at.arms_b.values, at.arms_states.values, at.arms_q.values, strict=True
        )
    )
    return f"r=0, eps={float(at.arms_exit):g}; q' {told}"


def exits(dataset: Data, states: int, gap: float) -> Data:
    """The best exits of one column against r.

    Raises:
        Missing: this column was not solved.
    """
    at = ran(dataset, "exits")
    found = np.flatnonzero((at.exit_states == states) & np.isclose(at.exit_gaps, gap))
    if not len(found):
        raise judge.Missing(f"M = {states}, mu = {gap:g} was not solved")
    return at.isel(case=int(found[0])).set_coords("exit_resets")


def slope(x: Values, y: Values) -> float:
    """Exponent of a curve that holds nothing random."""
    return float(np.polyfit(np.log(x.values), np.log(y.values), 1)[0])


def _floor(at: Data) -> np.ndarray:
    state = int(np.flatnonzero(at.left_states == FLOOR["states"])[0])
    gap = int(np.flatnonzero(np.isclose(at.left_gaps, FLOOR["gap"]))[0])
    here = at.isel(left_state=state, left_gap=gap)
    ratio = (here.left_q / here.left_bound).values
    found: np.ndarray = ratio[at.left_resets.values >= FLOOR["reset"]]
    return found


def _listed(values: Values) -> str:
    return ", ".join(f"{value:g}" for value in values.values)


def _range(values: Values) -> str:
    return f"{float(values.min()):g} to {float(values.max()):g}"
