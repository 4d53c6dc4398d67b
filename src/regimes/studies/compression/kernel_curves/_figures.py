"""Learning curves of each task, and the gain by compression."""

from functools import partial
from typing import Any

import regimes as rg
from regimes.lab import Data, Figure, draw, judge
from regimes.studies.compression import _medians
from regimes.studies.compression.kernel_curves._claims import gain_scan
from regimes.studies.compression.kernel_curves._tasks import ROOT, TASKS

ERROR = "test error (fraction)"


def _curves(dataset: Data, name: str) -> Figure:
    task = TASKS[name]
    caption = (
        f"Test error of a hard-margin machine with the initial tangent kernel of an infinitely "
        f"wide network; medians over seeds, bars hold the middle half. {task.title}: "
        f"{task.d_par} of {task.d} directions decide the label. Shrinking the others as networks "
        "do lowers the error and steepens the curve. Grey: the exponents predicted "
        "for the limit of large p."
    )
    here = judge.need(dataset, "error", task=name)
    figure = _medians.axes(ERROR, ticks=here.n_train, caption=caption)
    shrunk = f"irrelevant directions / {task.reached:g} √p"
    for compression, label, color, beta in (
        ("1", "data as they are", draw.ORANGE, rg.theory.beta_lazy(task.d)),
        (ROOT, shrunk, draw.VIOLET, rg.theory.beta_feature(task.d, task.d_perp)),
    ):
        if compression in here.compression:
            curve = here.error.sel(compression=compression)
            _medians.curve(figure, curve, label, slope=-beta, color=color)
    return figure


def _gains(dataset: Data) -> Figure:
    scan = gain_scan(dataset)
    caption = (
        f"Test error at p = {int(scan.n_train)} when the irrelevant directions of the data are "
        "divided by a factor: a power law, whose exponent depends on how many directions matter. "
        "Grey: the predicted slopes."
    )
    x = "compression factor Lambda"
    figure = _medians.axes(ERROR, x=x, ticks=scan.compression, caption=caption)
    for name, color, errors in draw.each(scan, "task"):
        task = TASKS[name]
        gain = rg.theory.compression_exponent(task.d, task.d_perp)
        where: dict[str, Any] = {"over": "compression", "color": color}
        _medians.curve(figure, errors, task.title, slope=-gain, below=0.9, **where)
    return figure


FIGURES = {
    **{task.title: partial(_curves, name=name) for name, task in TASKS.items()},
    "Gain by compression": _gains,
}
