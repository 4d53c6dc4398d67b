"""Verdicts on double descent: the peak at jamming, ensembles, and what removes the peak."""

import numpy as np

from regimes.lab import Data
from regimes.lab.judge import (
    Claims,
    Measured,
    Missing,
    Parts,
    above,
    below,
    log_mean,
    mean_of,
    nearest,
    need,
    resampled,
    within,
)

SCALE, ENSEMBLE_WIDTH = 30.0, 10  # at which claims are judged
NEARLY = 0.05  # share of points short of their margin in runs that count

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
    """Gradient flow at the scale that is judged, and its jamming width."""
    flow = nearest(flow_of(dataset), scale=SCALE)
    if flow.sizes["seed"] < 3:
        raise Missing(f"three seeds are needed, {flow.sizes['seed']} were run")
    return flow, jamming(flow)


@claim("REG-56", "the norm peaks at jamming, the error falls beyond it, ensembles do not care")
def _descent(dataset: Data) -> Parts:
    flow, jam = _judged(dataset)
    norm = flow.output_norm.median("seed")
    fall = nearest(flow, width=jam).error - flow.error.isel(width=-1)  # same seeds, same data
    past = flow.sel(width=flow.width > jam)
    yield within("width of the largest norm / jamming width", _peak(flow, jam), 0.5, 1.5)
    yield above("error at jamming less that of the widest", mean_of(fall), 0.03)
    yield below("range of the ensemble error past jamming", _range(past), 0.03)
    rows = zip(flow.width, flow.error.mean("seed"), flow.ensemble_error, norm, strict=True)
    told = ", ".join(f"{e:.3f} (ensemble {m:.3f}, norm {n:.3g}) at {h:d}" for h, e, m, n in rows)
    return f"jamming at h = {jam:.3g}; error {told}"


@claim("REG-57", "an ensemble just past jamming is as good as a wide network")
def _ensembles(dataset: Data) -> Parts:
    from regimes.measure import jackknife_error

    flow, jam = _judged(dataset)
    narrow, wide = nearest(flow, width=ENSEMBLE_WIDTH), flow.isel(width=-1)
    name = f"ensemble error at h = {int(narrow.width)} / single error at h = {int(wide.width)}"
    need(narrow, "ensemble_error_without")
    others = (wide.error.sum() - wide.error) / (wide.sizes["seed"] - 1)
    error = jackknife_error((narrow.ensemble_error_without / others).values)
    yield below(name, (narrow.ensemble_error / wide.error.mean(), error), 1.0)
    return f"jamming at h = {jam:.3g}"


@claim("REG-62", "noise or decay lower the norm at jamming")
def _regularised(dataset: Data) -> Parts:
    """Of runs that nearly fit: a norm that has not grown yet says nothing of noise or decay."""
    _, jam = _judged(dataset)
    by_all = nearest(dataset, scale=SCALE).dropna("width", subset=["output_norm"])
    here = nearest(by_all, width=jam)  # of the widths at which every trainer has run
    share = here.unfitted / float(need(dataset, "n_train").n_train.max())
    told = ", ".join(
        f"{trainer} {100 * float(part.mean()):.0f} %"
        for trainer, part in zip(here.trainer.values, share.transpose("trainer", ...), strict=True)
    )
    place = f"at h = {int(here.width)}, jamming at {jam:.3g}; points short of their margin: {told}"
    close = share <= NEARLY
    ratios = {}
    for trainer in ("sgd", "decay"):
        both = close.sel(trainer=trainer) & close.sel(trainer="flow")
        if both.sum() > 1:
            norms = here.output_norm.isel(seed=np.flatnonzero(both))
            ratios[trainer] = norms.sel(trainer=trainer) / norms.sel(trainer="flow")
    if not ratios:
        raise Missing(f"fewer than two runs of noise or decay nearly fit {place}")
    # "noise or decay": the one that lowers the norm more, of those whose runs fit
    found = {trainer: log_mean(ratio) for trainer, ratio in ratios.items()}
    best = min(found, key=lambda trainer: found[trainer].value)
    yield below(f"norm with {best} / with the flow", found[best], 1.0)
    each = ", ".join(f"{name} {found[name]} ({len(ratios[name])} runs)" for name in found)
    return f"{each}; {place}"


def _peak(flow: Data, jam: float) -> Measured:
    """Width of the largest median norm over the jamming width, by resampling seeds."""
    widths = flow.width.values
    norms = flow.output_norm.transpose("seed", "width").values
    return resampled(norms, lambda drawn: float(widths[np.median(drawn, 0).argmax()] / jam))


def _range(past: Data) -> Measured:
    """Largest less smallest error of ensembles over widths, with its jackknife error."""
    from regimes.measure import jackknife_error

    without = need(past, "ensemble_error_without").ensemble_error_without
    parts = np.ptp(without.transpose("width", "seed").values, axis=0)
    return Measured(float(np.ptp(past.ensemble_error.values)), jackknife_error(parts))
