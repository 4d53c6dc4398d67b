"""Verdicts on directions and signs: LAND-32, -33, -34 and -37.

Protocols are in docs/themes/landscape.md, "Directions and signs".
"""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, judge, ran
from regimes.studies.landscape.identities._signs import POWERS

claim = judge.Claims()


@claim("LAND-32", "N_eff = n_total - L h: exact for two of three at L = 2, within 5 % at L = 3")
def _directions(dataset: Data) -> judge.Parts:
    own = ran(dataset, "directions")
    lost = own.total - own.hidden - own["count"]
    two = (own.depth == 2).values
    shallow, deep = (np.flatnonzero(mask).tolist() for mask in (two, ~two))
    if not shallow or not deep:
        raise judge.Missing("networks of two and of three layers are needed")
    constant = own.always_on + own.always_off
    for i in shallow:
        here = lost.isel(network=i)
        total = int(own.total[i])
        yield judge.above(f"share exact, n_total = {total}", float((here == 0).mean()), 2 / 3)
        odd = (here != 0) & (constant.isel(network=i) == 0)
        yield judge.below(f"unexplained deficits, n_total = {total}", float(odd.sum()), 0.0)
    share = (abs(lost) / (own.total - own.hidden)).isel(network=deep)
    yield judge.below("largest deficit at L = 3", float(share.max()), 0.05)
    told = []
    for i in range(own.sizes["network"]):
        counts = ", ".join(f"{each:g}" for each in own["count"].isel(network=i).values)
        told.append(f"{counts} of {float(own.total[i] - own.hidden[i]):g}")
    return "; ".join(told)


@claim("LAND-33", "N_eff: dead layer 1, linear d + 1, square (d+1)(d+2)/2, all exact", exact=True)
def _collapsed(dataset: Data) -> judge.Parts:
    own = ran(dataset, "collapsed")
    yield judge.below("largest |N_eff - expected|", float(abs(own.apart).max()), 0.0)
    return f"{own.apart.size} networks of {own.apart.sizes['kind']} kinds"


@claim("LAND-34", "no unit on: all but the output bias rest, the loss stays above 0", exact=True)
def _silent(dataset: Data) -> judge.Parts:
    own = ran(dataset, "silent")
    yield judge.below("largest move of all but the output bias", float(own.moved.max()), 0.0)
    yield judge.above("smallest loss", float(own.loss.min()), 1e-3)
    yield judge.below("networks that fit", float(own.fitted.sum()), 0.0)
    return f"the output bias moved by {float(own.bias_moved.mean()):.3g}"


@claim("LAND-37", "odd traces of Hp vanish over labels; the flipped network has the negated Hp")
def _signs(dataset: Data) -> judge.Parts:
    own = ran(dataset, "signs")
    for i, power in enumerate(POWERS):
        draws = own.odd.isel(power=i).values.ravel()
        error = draws.std(ddof=1) / len(draws) ** 0.5
        name = f"|mean| of tr Hp^{power:g} / tr |Hp|^{power:g} in standard errors"
        yield judge.below(name, abs(draws.mean()) / error, 3.0)
    yield judge.below("spectrum of the flipped network", float(own.flipped.max()), 1e-12)
    means = own.weighed_odd.mean(("start", "draw")).values
    told = ", ".join(f"{each:.3f}" for each in means)
    return (
        f"{own.odd.isel(power=0).size} draws of labels; with the slopes of the hinge at the start "
        f"the means are {told}"
    )
