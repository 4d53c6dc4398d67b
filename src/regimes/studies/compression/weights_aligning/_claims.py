"""Verdicts on aligning weights: COMP-16, COMP-31 and COMP-34."""

import numpy as np

from regimes.lab import Claim, Data
from regimes.lab.judge import Claims, Missing, Parts, below, mean_of, near, need, where_ran

DIMENSION = {"stripe": 2, "cylinder": 3}  # d of Figs 1 and 6
INFORMATIVE = {"stripe": 1, "cylinder": 2}
START_DIMENSION = {"stripe": 5, "cylinder": 3}  # d at which Lambda(0) is asked for (COMP-16)
ALIGNED = {"stripe": 0.95, "cylinder": 0.9}  # share of the informative directions at the end
LAZY = 1.0  # alpha at and above which a run counts as lazy

claim = Claims()


@claim("COMP-16", "before training no direction is larger than the others")
def _start(dataset: Data) -> Parts:
    ran = need(dataset, "amplification_start")
    values = ran.amplification_start.max("alpha").dropna("model", how="all")  # alpha is no matter
    width = int(ran.start_width.max())
    tolerance = 0.05 if width < 10_000 else 0.02
    scatter = values.std("draw", ddof=1)
    texts = [
        f"{model} (d={START_DIMENSION[model]}) {float(values.sel(model=model).mean()):.4f}, "
        f"scatter {float(scatter.sel(model=model)):.4f}"
        for model in values.model.values.tolist()
    ]
    worst = mean_of(values.isel(model=np.abs(values.mean("draw").values - 1).argmax()))
    yield near("Λ at the start, of the model farthest off", worst, 1.0, tolerance)
    yield below("scatter of one draw", scatter.max(), tolerance)
    draws = values.sizes["draw"]
    return f"h={width}, mean over {draws} draws and scatter of one draw: {'; '.join(texts)}"


@claim("COMP-31", "weights turn to the informative directions, unless training is lazy")
def _align(dataset: Data) -> Claim:
    ran = where_ran(dataset, "model", "share_end")
    feature = ran.alpha < LAZY
    texts, fine = [], True
    for model in ran.model.values.tolist():
        at, share = ran.sel(model=model), INFORMATIVE[model] / DIMENSION[model]
        start, end = (
            float(at[name].where(feature).mean()) for name in ("share_start", "share_end")
        )
        lazy_end = float(at.share_end.where(~feature).mean())
        if np.isnan(end + lazy_end):
            raise Missing(f"the {model} has not run with alpha below {LAZY:g} and above")
        fine &= end > ALIGNED[model]
        fine &= abs(start - share) < 0.1 and abs(lazy_end - share) < 0.1
        texts.append(
            f"{model}: {start:.3f} at the start, {end:.4f} at the end, {lazy_end:.3f} at the end "
            f"of lazy training (isotropic: {share:.3f})"
        )
    first = mean_of(ran.share_end.isel(model=0).sel(alpha=feature).dropna("alpha"))
    return Claim.holds(
        "COMP-31",
        fine,
        "> 0.95 at the end (cylinder > 0.9); isotropic value ± 0.1 at the start and when lazy",
        measured=first.value,
        error=first.error,
        why=(
            "; ".join(texts) + f". Weighted by (beta |w|)^2, h={int(ran.width.max())}, mean over "
            f"{ran.sizes['seed']} seeds; runs end at a mean loss of {float(ran.end_loss.max()):.3g}"
        ),
    )


@claim("COMP-34", "dead neurons rest, and no others")
def _dead(dataset: Data) -> Claim:
    ran = need(dataset, "dead")
    width, total = int(ran.width.max()), int(ran.dead.count())
    dead, unmoved, wrong = (
        int(ran[name].sum()) for name in ("dead", "unmoved", "dead_or_unmoved_only")
    )
    slow = float(ran.slow.where(ran.alpha < LAZY).mean()) / width
    why = (
        f"{dead} of {width * total} neurons are dead at the start, {unmoved} have exactly their "
        f"first weights at t*, {wrong} are one and not the other; of all neurons trained with "
        f"small alpha {slow:.0%} are alive but too slow to have doubled at t*"
    )
    if dead == 0:
        raise Missing(f"no neuron is dead; {why}")
    return Claim.holds(
        "COMP-34",
        wrong == 0 and dead == unmoved,
        "dead neurons at the start = neurons with unchanged weights at t*",
        measured=float(unmoved - dead),
        why=why,
    )
