"""Drawings of ensembles over scales: errors of one network and of the mean of all, variances."""

from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Data, Figure, draw

SCALE = "scale √h α (feature ← → lazy)"
PERCENT = "test error (%)"


def single_and_ensemble(figure: Figure, data: Data, over: str, name: str, color: str) -> None:
    """Test error over one dimension: the mean over networks dashed, that of the ensemble solid."""
    draw.curve(figure, 100 * data.error, over, f"single, {name}", color=color, dash="dash")
    draw.curve(figure, 100 * data.ensemble_error, over, f"ensemble, {name}", color=color)


def errors_at_each_scale(figure: Figure, data: Data, over: str) -> None:
    """`single_and_ensemble` of every scale, in its colour."""
    for scale, color, part in draw.each(data, "scale"):
        single_and_ensemble(figure, part, over, f"sqrt(h) alpha = {scale:g}", color)


def draw_errors(figure: Figure, row: Data, name: str = "", **options: Any) -> None:
    """`single_and_ensemble` of the runs that count, with bars for the ensemble too."""
    ran, over = _counted(row)
    single = {"dash": "dash", "width": 1.5, **options}
    draw.curve(figure, 100 * ran.error, over, f"{name}one network (mean)", **single)
    draw_jackknifed(figure, row, "ensemble_error", f"{name}ensemble", times=100, **options)


def draw_jackknifed(
    figure: Figure, row: Data, value: str, name: str, *, times: float = 1.0, **options: Any
) -> None:
    """A number that all seeds of a setting have together; bars from leaving one of them out."""
    ran, over = _counted(row)
    without = ran[f"{value}_without"].transpose(over, "seed").values
    bars = [times * rg.measure.jackknife_error(each[np.isfinite(each)]) for each in without]
    options = {"error": bars, "mode": "lines+markers", **options}
    draw.points(figure, ran[over], times * ran[value], name, **options)


def _counted(row: Data) -> tuple[Data, str]:
    """The places with runs enough for an ensemble, in order, and the dimension they lie along.

    Runs that do not count hold NaN.
    """
    over = str(row.ensemble_error.dims[0])
    row = row.isel({over: row.ensemble_error.notnull().values}).sortby(over)
    each = ("error", "ensemble_error_without", "variance_without")
    return row.assign({name: row[name].where(row.kept == 1) for name in each}), over
