"""Verdicts on double descent: the peak at jamming, ensembles, and what removes the peak."""

import numpy as np

from regimes.lab import Data
from regimes.lab.judge import (
    Claims,
    Missing,
    Parts,
    below,
    log_mean,
    mean_of,
    nearest,
    need,
    within,
)

SCALE, ENSEMBLE_WIDTH = 30.0, 10  # of the ledger's rows

claim = Claims()


def flow_of(dataset: Data) -> Data:
    """The widths at which gradient flow has run."""
    flow = need(dataset, "fitted", trainer="flow")
    return flow.dropna("width", how="all", subset=["fitted"]).sortby("width")


def jamming(flow: Data) -> float:
    """sqrt(h1 h2) of the last width at which less than half of the runs fit, and the next."""
    widths = flow.width.values
    narrow = np.flatnonzero(flow.fitted.mean("seed").values < 0.5)
    if not len(narrow) or narrow[-1] + 1 >= len(widths):
        raise Missing("the widths that ran hold no jamming width")
    return float(np.sqrt(widths[narrow[-1]] * widths[narrow[-1] + 1]))


def _judged(dataset: Data) -> tuple[Data, float]:
    """Gradient flow at the ledger's scale, and its jamming width."""
    flow = nearest(flow_of(dataset), scale=SCALE)
    if flow.sizes["seed"] < 3:
        raise Missing(f"three seeds are needed, {flow.sizes['seed']} were run")
    return flow, jamming(flow)


@claim("REG-56", "the norm peaks at jamming, the error falls beyond it, ensembles do not care")
def _descent(dataset: Data) -> Parts:
    flow, jam = _judged(dataset)
    norm = flow.output_norm.median("seed")
    fall = nearest(flow, width=jam).error - flow.error.isel(width=-1)  # same seeds, same data
    past = flow.ensemble_error.sel(width=flow.width > jam)
    yield within("width of the largest norm / jamming width", norm.idxmax() / jam, 0.5, 1.5)
    yield within("error at jamming less that of the widest", mean_of(fall), 0.03, 1)
    yield below("range of the ensemble error past jamming", np.ptp(past.values), 0.03)
    rows = zip(flow.width, flow.error.mean("seed"), flow.ensemble_error, norm, strict=True)
    told = ", ".join(f"{e:.3f} (ensemble {m:.3f}, norm {n:.3g}) at {h:d}" for h, e, m, n in rows)
    return f"jamming at h = {jam:.3g}; error {told}"


@claim("REG-57", "an ensemble just past jamming is as good as a wide network")
def _ensembles(dataset: Data) -> Parts:
    flow, jam = _judged(dataset)
    narrow, wide = nearest(flow, width=ENSEMBLE_WIDTH), flow.isel(width=-1)
    name = f"ensemble error at h = {int(narrow.width)} / single error at h = {int(wide.width)}"
    yield below(name, mean_of(narrow.ensemble_error / wide.error), 1.0)
    return f"jamming at h = {jam:.3g}"


@claim("REG-62", "noise or decay lower the norm at jamming")
def _regularised(dataset: Data) -> Parts:
    _, jam = _judged(dataset)
    by_all = nearest(dataset, scale=SCALE).dropna("width", subset=["output_norm"])
    here = nearest(by_all, width=jam)  # of the widths at which every trainer has run
    flow = here.output_norm.sel(trainer="flow")
    for trainer in ("sgd", "decay"):
        ratio = need(here, trainer=trainer).output_norm / flow
        yield below(f"norm with {trainer} / with the flow", log_mean(ratio), 1.0)
    short = here.unfitted.mean("seed")
    told = ", ".join(f"{n:.0f} ({t})" for t, n in zip(short.trainer.values, short, strict=True))
    return f"at h = {int(here.width)}, jamming at {jam:.3g}; points short of their margin: {told}"
