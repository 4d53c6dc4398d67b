"""Verdicts on bounds and rescaled features."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, judge

claim = judge.Claims()


def _at(dataset: Data, half_width: float) -> Data:
    found = judge.need(dataset, "bound_best", half_width=half_width)
    return judge.where_ran(found, "seed", "bound_best")


def _over(at: Data, name: str) -> np.ndarray:
    found: np.ndarray = at[name].transpose("seed", "c").values
    return found


@claim("ALI-30", "bound of the ball explodes as c -> 1; the best one stays below 1 and follows")
def _bounds(dataset: Data) -> judge.Parts:
    widths = [float(a) for a in judge.need(dataset, "bound_best").half_width.values]
    told = []
    for a in widths:
        at = _at(dataset, a)
        c = at.c.values
        ball, best, error = (_over(at, name) for name in ("bound_identity", "bound_best", "error"))
        growth = judge.log_mean(ball[:, -1] / ball.min(1))
        yield judge.above(f"ball, c = 1 / least, a = {a:g}", growth, 1e3)
        highest = judge.mean_of(best.max(1))
        yield judge.below(f"best bound, most over c, a = {a:g}", highest, 1.0)
        later = judge.mean_of(best[:, c >= 0.1].max(1) / best[:, 0])
        yield judge.below(f"best bound, most of c >= 0.1 / c = 0, a = {a:g}", later, 0.75)
        yield judge.near(f"error at c = 0, a = {a:g}", judge.mean_of(error[:, 0]), 0.5, 0.05)
        middle = (c >= 0.1) & (c <= 0.99)
        small = judge.mean_of(error[:, middle].max(1))
        yield judge.below(f"error, most of c in [0.1, 0.99], a = {a:g}", small, 0.06)
        told.append(
            f"a = {a:g}: ball {ball[:, 0].mean():.2g} to {ball[:, -1].mean():.2g}, best "
            f"{best[:, 0].mean():.2f} to {best[:, -1].mean():.2f}"
        )
    return f"{'; '.join(told)}; {at.sizes['seed']} seeds of the features"


@claim("ALI-30b", "the ball's growth in decades, whose error is even: at least 3")
def _decades(dataset: Data) -> judge.Parts:
    for a in [float(a) for a in judge.need(dataset, "bound_best").half_width.values]:
        ball = _over(_at(dataset, a), "bound_identity")
        growth = np.log10(ball[:, -1] / ball.min(1))
        yield judge.above(f"decades, c = 1 / least, a = {a:g}", judge.mean_of(growth), 3.0)
    return f"{len(ball)} seeds of the features"


@claim(
    "ALI-31", "spread of the tenth weight over the first at c = .99 at least 3 times that at .25"
)
def _spread(dataset: Data) -> judge.Parts:
    at = _at(dataset, 1.0)
    spread = at.spread.transpose("seed", "c", "feature").values
    ratio = spread[..., 1] / spread[..., 0]
    places = {float(c): k for k, c in enumerate(at.c.values)}
    if not {0.25, 0.99} <= set(places):
        raise judge.Missing("c = 0.25 and 0.99 are compared")
    late, early = ratio[:, places[0.99]], ratio[:, places[0.25]]
    yield judge.above("ratio at 0.99 / at 0.25", judge.log_mean(late / early), 3.0)
    return f"{early.mean():.2f} to {late.mean():.2f}; {len(ratio)} seeds of the features"
