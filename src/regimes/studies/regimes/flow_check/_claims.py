"""Verdicts on the integration: predictions stay, steps multiply, memory does not matter."""

from contextlib import suppress

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.regimes._outcomes import training_points

SCALES = (1e-2, 1.0, 1e2, 1e4)  # what shorter steps are judged on
MEMORY_SCALES = (1.0, 1e3)  # and momentum
TINY = 60  # training points: below, nothing is judged
FULL = 10_000  # training points of the paper's own runs

claim = judge.Claims()


@claim("REG-45", "relative test differences < 3e-3")
def _outputs(dataset: Data) -> judge.Parts:
    """3e-3 on small problems, 1e-3 at the paper's size."""
    rows = _fitted(dataset, "steps", SCALES)
    high = 1e-3 if int(rows[0].p) >= FULL else 3e-3
    yield from sorted((_difference(row, high) for row in rows), key=lambda part: -part.measured)
    errors = "; ".join(
        f"scale {row.scale:g}: test error {100 * float(row.error.mean()):.2f} % and "
        f"{100 * float(row.altered_error.mean()):.2f} %"
        for row in rows
    )
    return f"eps {rows[0].eps:g} and 1/100 of it; {errors}"


@claim("REG-46", "the time is about doubled: steps multiplied by 4/3 to 3")
def _time(dataset: Data) -> judge.Parts:
    """The paper's factor of two, within a factor of 1.5 for its "roughly"."""
    told = []
    for row in _fitted(dataset, "steps", SCALES):
        yield judge.within(_steps_at(row), _more_steps(row), 2 / 1.5, 2 * 1.5)
        clock = float(row.altered_seconds / row.seconds)
        share = float(row.worst_output.max()) / 0.1
        told.append(
            f"scale {row.scale:g}: {float(row.steps.mean()):.0f} steps, clock x {clock:.1f}, "
            f"largest change of an output {100 * share:.0f} % and of the gradient "
            f"{100 * float((row.worst_gradient / row.eps).max()):.0f} % of what is allowed"
        )
    told.append(
        "a factor of two cannot be where the gradient's condition limits the steps: they "
        "are first order, a hundredth of eps is a tenth of the step"
    )
    return "; ".join(told)


@claim("REG-46b", "ours, of a first-order scheme: steps multiplied by 6 to 10 on small problems")
def _steps_of_first_order(dataset: Data) -> judge.Parts:
    for row in _fitted(dataset, "steps", SCALES):
        yield judge.within(_steps_at(row), _more_steps(row), 6.0, 10.0)
    return "steps of first order, whose error is that of the gradient's condition"


@claim("REG-47", "relative test differences < 1e-2")
def _memory(dataset: Data) -> judge.Parts:
    rows = _fitted(dataset, "memory", MEMORY_SCALES)
    for row in rows:
        yield _difference(row, 1e-2)
    told = [f"tau = {row.tau:g} at scale {row.scale:g}" for row in rows]
    with suppress(judge.Missing):
        longer = ", ".join(
            f"scale {row.scale:g}: {float(row.difference.mean()):.2g}"
            for row in _fitted(dataset, "memory x 10", MEMORY_SCALES)
        )
        told.append(f"ten times longer, not judged: {longer}")
    return "; ".join(told)


def _fitted(dataset: Data, check: str, scales: tuple[float, ...]) -> list[Data]:
    """The runs of a check that fitted both times, for each of these scales."""
    rows = []
    for scale in scales:
        row = judge.need(dataset, "difference", check=check, scale=scale)
        row = row.isel(seed=np.flatnonzero(row.kept.values == 1))
        if row.sizes["seed"] < 2:
            raise judge.Missing(f"fewer than two runs of {check} fitted at scale {scale:g}")
        rows.append(row)
    training_points(rows[0], TINY)
    return rows


def _steps_at(row: Data) -> str:
    return f"steps ratio at scale {row.scale:g}"


def _more_steps(row: Data) -> judge.Measured:
    return judge.mean_of(row.altered_steps / row.steps)


def _difference(row: Data, high: float) -> judge.Part:
    return judge.below(f"difference at scale {row.scale:g}", judge.mean_of(row.difference), high)
