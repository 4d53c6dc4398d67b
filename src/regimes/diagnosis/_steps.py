"""The parts of a diagnosis, the most telling first."""

from __future__ import annotations

from regimes.diagnosis._case import Case, Found
from regimes.diagnosis._deformed import deformations
from regimes.diagnosis._kernels import kernels
from regimes.diagnosis._linear import linear_models
from regimes.diagnosis._outputs import outputs
from regimes.diagnosis._sharpness import sharpness

STEPS = {
    "outputs": outputs,
    "kernels": kernels,
    "linear models": linear_models,
    "deformations": deformations,
    "curvature": sharpness,
}
_ALWAYS = ("outputs", "kernels")  # without them nothing can be said


def measure(case: Case, found: Found) -> None:
    """Everything, as far as the budget goes; an interruption keeps what was measured."""
    left_out = []
    try:
        for name, step in STEPS.items():
            if name not in _ALWAYS and case.watch.left <= 0:
                left_out.append(name)
                continue
            case.watch.say(name)
            with case.watch.part(name):
                step(case, found)
    except KeyboardInterrupt:
        found.warnings.append("Interrupted: only what had been measured by then is shown.")
    if left_out:
        found.warnings.append(
            f"The budget of {case.watch.budget:g} s left no time for {' and '.join(left_out)}."
        )
    if case.held is None:
        found.warnings.append(
            "No test points were given: accuracies are those of points the network was trained on."
        )
