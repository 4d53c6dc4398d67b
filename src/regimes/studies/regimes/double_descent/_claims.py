"""Verdicts on double descent: the peak at jamming, ensembles, and what removes the peak."""

import numpy as np

import regimes as rg
from regimes.lab import Data, judge
from regimes.studies.regimes._outcomes import range_of_ensembles
from regimes.studies.regimes._remarks import percent, seeds

SCALE, ENSEMBLE_WIDTH = 30.0, 10  # at which claims are judged
NEARLY = 0.05  # share of points short of their margin in runs that count

claim = judge.Claims()


def flow_of(dataset: Data) -> Data:
    """The widths at which gradient flow has run."""
    return judge.where_ran(dataset, "width", "fitted", trainer="flow").sortby("width")


def jamming(flow: Data) -> float:
    """sqrt(h1 h2) of the last width at which less than half of the runs fit, and the next."""
    found = rg.measure.n_half(flow.width.values, flow.fitted.transpose("seed", "width").values)
    if found is None:
        raise judge.Missing("the widths that ran hold no jamming width")
    return found.middle


def _judged(dataset: Data) -> tuple[Data, float]:
    """Gradient flow at the scale that is judged, and its jamming width."""
    flow = judge.nearest(flow_of(dataset), scale=SCALE)
    if flow.sizes["seed"] < 3:
        raise judge.Missing(f"three seeds are needed, {flow.sizes['seed']} were run")
    return flow, jamming(flow)


@claim("REG-56", "the norm peaks at jamming, the error falls beyond it, ensembles do not care")
def _descent(dataset: Data) -> judge.Parts:
    flow, jam = _judged(dataset)
    fall = judge.nearest(flow, width=jam).error - flow.error.isel(width=-1)  # same seeds, same data
    norms = flow.output_norm.transpose("seed", "width").values
    peak = judge.resampled(
        norms, lambda drawn: flow.width.values[np.median(drawn, 0).argmax()] / jam
    )
    yield judge.near("width of the largest norm / jamming width", peak, 1.0, 0.5)
    past = range_of_ensembles(flow.sel(width=flow.width > jam))
    yield judge.above("error at jamming less that of the widest", judge.mean_of(fall), 0.03)
    yield judge.below("range of the ensemble error past jamming", past, 0.03)
    return (
        f"jamming at h = {jam:.3g}; error {percent(flow.error.mean('seed').values)}; {seeds(flow)}"
    )


@claim("REG-57", "an ensemble just past jamming is as good as a wide network")
def _ensembles(dataset: Data) -> judge.Parts:
    flow, jam = _judged(dataset)
    narrow, wide = judge.nearest(flow, width=ENSEMBLE_WIDTH), flow.isel(width=-1)
    name = f"ensemble error at h = {int(narrow.width)} / single error at h = {int(wide.width)}"
    without = judge.need(narrow, "ensemble_error_without").ensemble_error_without
    others = (wide.error.sum() - wide.error) / (wide.sizes["seed"] - 1)
    yield judge.below(
        name, judge.left_out(narrow.ensemble_error / wide.error.mean(), without / others), 1.0
    )
    return f"jamming at h = {jam:.3g}"


@claim("REG-62", "noise or decay lower the norm at jamming")
def _regularised(dataset: Data) -> judge.Parts:
    """Of runs that nearly fit: a norm that has not grown yet says nothing of noise or decay."""
    _, jam = _judged(dataset)
    by_all = judge.nearest(dataset, scale=SCALE).dropna("width", subset=["output_norm"])
    here = judge.nearest(by_all, width=jam)  # of the widths at which every trainer has run
    share = here.unfitted / float(judge.need(dataset, "n_train").n_train.max())
    told = f"{percent(share.mean('seed').values)} ({', '.join(map(str, here.trainer.values))})"
    place = f"at h = {int(here.width)}, jamming at {jam:.3g}; points short of their margin: {told}"
    norm = here.output_norm.where(share <= NEARLY)
    ratios = {
        trainer: (norm.sel(trainer=trainer) / norm.sel(trainer="flow")).dropna("seed")
        for trainer in ("sgd", "decay")
    }
    found = {name: judge.log_mean(ratio) for name, ratio in ratios.items() if len(ratio) > 1}
    if not found:
        raise judge.Missing(f"fewer than two runs of noise or decay nearly fit {place}")
    # "noise or decay": the one that lowers the norm more, of those whose runs fit
    best = min(found, key=lambda trainer: found[trainer].value)
    yield judge.below(f"norm with {best} / with the flow", found[best], 1.0)
    each = ", ".join(f"{name} {found[name]} ({len(ratios[name])} runs)" for name in found)
    return f"{each}; {place}"
