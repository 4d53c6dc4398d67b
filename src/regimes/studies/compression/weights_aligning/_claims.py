"""Verdicts on aligning weights: COMP-16, COMP-31 and COMP-34."""

import numpy as np

from regimes.lab import Data, judge

DIMENSION = {"stripe": 2, "cylinder": 3}  # d of [Paccolat 2021, figs. 1 and 6]
INFORMATIVE = {"stripe": 1, "cylinder": 2}
START_DIMENSION = {"stripe": 5, "cylinder": 3}  # d at which Lambda(0) is asked for (COMP-16)
ALIGNED = {"stripe": 0.95, "cylinder": 0.9}  # share of the informative directions at the end
LAZY = 1.0  # alpha at and above which a run counts as lazy

claim = judge.Claims()


@claim("COMP-16", "before training no direction is larger than the others")
def _start(dataset: Data) -> judge.Parts:
    ran = judge.need(dataset, "amplification_start")
    values = ran.amplification_start.max("alpha").dropna("model", how="all")  # alpha is no matter
    width = int(ran.start_width.max())
    tolerance = 0.05 if width < 10_000 else 0.02
    for model in values.model.values.tolist():
        each = values.sel(model=model).values.ravel()
        each = each[np.isfinite(each)]
        name = f"{model}, d={START_DIMENSION[model]}"
        yield judge.near(f"Λ at the start, {name}", judge.mean_of(each), 1.0, tolerance)
        scatter = judge.resampled(each, lambda drawn: float(drawn.std()))
        yield judge.below(f"scatter of one draw, {name}", scatter, tolerance)
    return f"h={width}, {values.isel(model=0).size} draws"


@claim("COMP-31", "weights turn to the informative directions, unless training is lazy")
def _align(dataset: Data) -> judge.Parts:
    ran = judge.where_ran(dataset, "model", "share_end")
    models = ran.model.values.tolist()
    for model in models:
        at, share = ran.sel(model=model), INFORMATIVE[model] / DIMENSION[model]
        small, lazy = (at.sel(alpha=kind) for kind in (at.alpha < LAZY, at.alpha >= LAZY))
        start, end, lazy_end = (
            values.values[np.isfinite(values.values)]
            for values in (small.share_start, small.share_end, lazy.share_end)
        )
        if not len(end) or not len(lazy_end):
            raise judge.Missing(f"the {model} has not run with alpha below {LAZY:g} and above")
        yield judge.above(f"{model}: share at the end", judge.mean_of(end), ALIGNED[model])
        yield judge.near(f"{model}: at the start", judge.mean_of(start), share, 0.1)
        yield judge.near(
            f"{model}: at the end of lazy training", judge.mean_of(lazy_end), share, 0.1
        )
    return (
        f"weighted by (beta |w|)^2, h={int(ran.width.max())}, means over {ran.sizes['seed']} "
        f"seeds; runs end at a mean loss of {float(ran.end_loss.max()):.3g}"
    )


@claim("COMP-34", "dead neurons rest, and no others")
def _dead(dataset: Data) -> judge.Parts:
    ran = judge.need(dataset, "dead")
    width, total = int(ran.width.max()), int(ran.dead.count())
    dead, unmoved, wrong = (
        int(ran[name].sum()) for name in ("dead", "unmoved", "dead_or_unmoved_only")
    )
    slow = float(ran.slow.where(ran.alpha < LAZY).mean()) / width
    told = (
        f"{dead} of {width * total} neurons are dead at the start, {unmoved} have exactly their "
        f"first weights at t*; of all neurons trained with small alpha {slow:.0%} are alive but "
        "too slow to have doubled at t*"
    )
    if dead == 0:
        raise judge.Missing(f"no neuron is dead; {told}")
    yield judge.near("unmoved at t* less dead at the start, in all runs", unmoved - dead, 0.0, 0.0)
    yield judge.near("neurons that are one and not the other, in all runs", wrong, 0.0, 0.0)
    return told
