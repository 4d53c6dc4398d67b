"""Error, error of the ensemble and variance of the output, against width and scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Array, Axis, Claim, Point, TrialResult, study
from regimes.studies.regimes import _cases, _setting
from regimes.studies.regimes.fluctuations import _claims as _fluctuation_claims
from regimes.studies.regimes.fluctuations import _figures as _fluctuation_figures

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr
    from torch import Tensor

    from regimes.lab import Results

SMALL = "small"  # the scan of the longest runs: its steps may be coarser, and there is a cap
WIDTHS = (10, 14, 19, 27, 37, 52, 72, 100, 139, 193, 268, 373, 518, 720, 1000, 1390)
HALF_DECADES = (*(float(f"{m}e{k}") for k in range(-2, 4) for m in (1, 3)), 1e4)
ALPHAS = (*(float(f"{m}e{k}") for k in range(-4, 7) for m in (1, 3.2)), 1e7)


@dataclass(frozen=True)
class Params:
    """Scanned: case, and seeds trained side by side. Fixed: the rest."""

    case: tuple[str, ...] = (
        *_cases.cases("widths", L=2, P=10, h=(6, 12), at=(0.1, 1e4)),
        *_cases.cases("scales", L=2, P=10, h=(6, 12), at=(0.1, 1e4)),
        *_cases.cases("sizes", L=2, P=(6, 12), h=8, at=1e5),
        *_cases.cases(SMALL, L=3, P=8, h=6, at=(1e-3, 1e-2)),
    )
    seed: tuple[int, ...] = (0, 1, 2)
    images: str = "digits"
    components: int | None = _setting.COMPONENTS
    n_test: int = 200
    eps: float = 1e-1  # what a step may change the gradient by
    small_eps: float = 1e-1
    max_steps: int = 40
    small_steps: int = 40


@study(
    "regimes/fluctuations",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            case=(
                *_cases.cases(
                    "widths", L=2, P=50, h=(32, 45, 64, 91, 128, 181, 256), at=(0.1, 1e4)
                ),
                *_cases.cases("scales", L=2, P=100, h=(30, 100), at=HALF_DECADES),
                *_cases.cases("sizes", L=2, P=(25, 50, 100, 200), h=(16, 32, 64, 128), at=1e5),
                *_cases.cases(SMALL, L=3, P=100, h=60, at=(1e-6, 1e-5, 1e-4, 1e-3, 1e-2)),
            ),
            seed=tuple(range(24)),
            images="mnist",
            n_test=5000,
            eps=3e-4,
            small_eps=1e-3,
            max_steps=20_000,
            small_steps=10_000,
        ),
        "paper": Params(
            case=(
                *_cases.cases("widths", L=3, P=10_000, h=WIDTHS, at=(1e-4, 1e-2, 1.0, 1e4)),
                *_cases.cases(
                    "variance",
                    L=3,
                    P=1000,
                    h=(*WIDTHS[3:], 1930, 2680, 3730, 5170),
                    at=(1e-2, 1.0, 1e2, 1e4),
                ),
                *_cases.cases("scales", L=3, P=10_000, h=(100, 300, 1000), at=ALPHAS),
                *_cases.cases("sizes", L=3, P=(500, 1000, 2000, 4000), h=WIDTHS[1:], at=1e6),
                *_cases.cases(
                    SMALL, L=3, P=10_000, h=100, at=(1e-6, 1e-5, 3.2e-5, 1e-4, 1e-3, 1e-2)
                ),
            ),
            seed=tuple(range(20)),
            images="fashion_mnist",
            components=None,
            n_test=50_000,
            eps=1e-4,
            small_eps=1e-4,
            max_steps=100_000,
            small_steps=200_000,
        ),
    },
    axes=[Axis("case"), Axis("seed", stacked=True)],
    units={"test_error": "fraction", "ensemble_error": "fraction", "variance": "1"},
    watch={"ensemble_error": "min"},
    judges=_fluctuation_claims.JUDGED,
)
class Fluctuations:
    """Networks that differ in their initialisation alone: how much their outputs differ.

    The output of a trained network fluctuates with its initial weights by about 1/sqrt(h). That
    costs test error; the mean over an ensemble of networks does not pay it, and its error hardly
    depends on the width. Both regimes, lazy and feature, behave so.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train the networks of one case and compare their outputs on the test points."""
        own = _cases.settings_of(point.case)
        data = _cases.points(
            params.images,
            int(own["P"]),
            params.n_test,
            components=params.components,
            dtype=point.dtype,
            device=point.device,
        )
        start, alpha = _setting.members(
            data.x_train[0].numel(),
            int(own["h"]),
            int(own["L"]),
            [float(own["at"])],
            point.seed,
            dtype=point.dtype,
            device=point.device,
        )
        small = own["scan"] == SMALL
        run = _setting.train(
            start,
            data,
            alpha,
            eps=params.small_eps if small else params.eps,
            max_steps=params.small_steps if small else params.max_steps,
        )
        if run.outputs_test is None:
            raise ValueError("fluctuations are measured on test points, and there are none")
        whole, without = fluctuation(run.outputs_test[..., 0], data.y_test)
        arrays = {
            **without,
            "fitted": _setting.fitted(run),
            "steps": run.steps,
        }
        count = sum(value[0].numel() for value in start.parameters.values())
        return TrialResult(
            {"parameters": count, **whole},
            {name: Array("seed", values) for name, values in arrays.items()},
        )

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Arithmetic of a step, what a step costs anyway, and more steps where at is small."""
        own = _cases.settings_of(point.case)
        width, at = int(own["h"]), float(own["at"])
        weights = width**2 * (int(own["L"]) - 1) + 10 * width
        steps = int(own["P"]) ** 0.5 * (1.0 + max(0.0, 1.0 / at) ** 0.25)
        return steps * (1e7 + 6.0 * int(own["P"]) * weights * len(point.seed))

    @staticmethod
    def summarise(results: Results) -> xr.Dataset:
        """A table with a row a case."""
        return _cases.tabled(results)

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """Those whose scans have run."""
        return _fluctuation_figures.figures(dataset)

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """REG-25, 28, 36, 37, 38, 40 and 61."""
        return _fluctuation_claims.claims(dataset)


def fluctuation(outputs: Tensor, y: Tensor) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    """What an ensemble of networks is, and what it would be without each of its members.

    Args:
        outputs: F on the test points, (R, n), R >= 3.
        y: their labels.

    Returns:
        `ensemble_error` and `variance` of all; and, one entry a member, its `test_error` and the
        two numbers without it, from which error bars follow (`jackknife`).
    """
    from regimes import measure

    whole = {
        "ensemble_error": float(measure.ensemble_error(outputs, y)),
        "variance": float(measure.ensemble_variance(outputs)),
    }
    without = [[j for j in range(len(outputs)) if j != i] for i in range(len(outputs))]
    return whole, {
        "test_error": measure.test_error(outputs, y).cpu().numpy(),
        "ensemble_error_without": np.array(
            [float(measure.ensemble_error(outputs[rest], y)) for rest in without]
        ),
        "variance_without": np.array(
            [float(measure.ensemble_variance(outputs[rest])) for rest in without]
        ),
    }
