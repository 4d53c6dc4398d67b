"""Verdicts on the number of training images."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from regimes.lab import Data, Values, judge
from regimes.studies.deformations._runs import END

claim = judge.Claims()

FITTED = 0.01  # loss on the training set below which networks are compared by their G_f
DECADE = (7.9, 12.7)  # ratios of sizes that count as a decade
FEW, MANY = 1000, 8000  # images
COINCIDE = ("lenet", "resnet18", "efficientnet_b0")


def _curve(dataset: Data, network: str, name: str) -> Values:
    """One number (seeds, sizes) of a network that has run at all its sizes."""
    at = judge.where_ran(dataset, "n_train", name, network=network)
    values = at[name].isel(when=END) if "when" in at[name].dims else at[name]
    values = values.transpose("seed", "n_train").dropna("n_train", how="any")
    if not values.sizes["n_train"] or int(values.n_train[-1]) < MANY:
        raise judge.Missing(f"needs all seeds of {network} on {MANY} images or more")
    return values


def _residual(dataset: Data) -> str:
    """The ResNet that ran: ResNet18, or the small one."""
    names = [str(name) for name in judge.need(dataset, "R").network.values]
    return "resnet18" if "resnet18" in names else "mini8"


def _steepest(curve: Values) -> tuple[judge.Measured, str]:
    """The steepest slope of log R_f over a decade of sizes, where its mean over seeds is least."""
    P, logs = curve.n_train.values.astype(float), np.log(curve.values)
    found = []
    for low, high in combinations(range(len(P)), 2):
        if DECADE[0] <= P[high] / P[low] <= DECADE[1]:
            slopes = (logs[:, high] - logs[:, low]) / np.log(P[high] / P[low])
            found.append((judge.mean_of(slopes), f"{P[low]:g} to {P[high]:g}"))
    if not found:
        raise judge.Missing("needs sizes that are a decade apart")
    return min(found, key=lambda each: each[0].value)


@claim("DEF-15", "fully connected: R_f within a factor 3 from 500 to 10,000 images, and above 1")
def _modest(dataset: Data) -> judge.Parts:
    curve = _curve(dataset, "fc4", "R")
    groups = list(curve.values.T)
    yield judge.below("largest / smallest", judge.largest_ratio(groups), 3.0)
    for P, group in zip(curve.n_train.values, groups, strict=True):
        yield judge.above(f"R_f at {P}", judge.log_mean(group), 1.0)
    return f"{curve.sizes['seed']} networks of each"


@claim("DEF-17", "ResNet: R_f on few images above that on many, and its slope in P negative")
def _falls(dataset: Data) -> judge.Parts:
    network = _residual(dataset)
    curve = _curve(dataset, network, "R")
    ratio = curve.values[:, 0] / curve.values[:, -1]
    P = curve.n_train.values
    yield judge.above(f"R_f at {P[0]} over that at {P[-1]}", judge.log_mean(ratio), 1.0)
    yield judge.below("slope", judge.log_slope(P, curve.values), 0.0)
    means = ", ".join(f"{value:.2g}" for value in np.exp(np.log(curve.values).mean(0)))
    return f"{network}: {means} at P = {', '.join(str(each) for each in P)}"


@claim("DEF-18", "ResNet18: slope of R_f in P over its steepest decade -1 +- 0.4")
def _inverse(dataset: Data) -> judge.Parts:
    slope, where = _steepest(_curve(dataset, "resnet18", "R"))
    yield judge.near(f"slope from {where}", slope, -1.0, 0.4)
    return None


@claim("DEF-18b", "slope of R_f in P over its steepest decade, small ResNet", report=True)
def _small_inverse(dataset: Data) -> judge.Parts:
    slope, where = _steepest(_curve(dataset, "mini8", "R"))
    yield judge.within(f"slope from {where}", slope)
    return None


@claim("DEF-19", "slope over the steepest decade: EfficientNet B0's above ResNet18's")
def _slower(dataset: Data) -> judge.Parts:
    efficient, where = _steepest(_curve(dataset, "efficientnet_b0", "R"))
    residual, there = _steepest(_curve(dataset, "resnet18", "R"))
    yield judge.above("difference of slopes", efficient - residual, 0.0)
    return f"EfficientNet B0 {efficient} from {where}, ResNet18 {residual} from {there}"


@claim("DEF-30", "fitted networks: G_f on many images above that on 1,000")
def _rougher(dataset: Data) -> judge.Parts:
    told = []
    for network in ("mini8", "resnet18", "efficientnet_b0"):
        try:
            G, loss = (_curve(dataset, network, name) for name in ("G", "train_loss"))
        except judge.Missing:
            continue
        P = G.n_train.values
        few = int(abs(np.log(P / FEW)).argmin())
        worst = float(loss.values[:, few:].max())
        if worst >= FITTED:
            told.append(f"{network} not fitted: loss up to {worst:.2g}")
            continue
        ratio = judge.log_mean(G.values[:, -1] / G.values[:, few])
        yield judge.above(f"{network}: G_f at {P[-1]} over that at {P[few]}", ratio, 1.0)
        told.append(f"{network}: loss at most {worst:.2g}")
    if not any("at most" in each for each in told):
        raise judge.Missing("; ".join(told) or "no ResNet ran at all sizes")
    return "; ".join(told)


@claim("DEF-31", "slopes of D_f in P", report=True)
def _no_trend(dataset: Data) -> judge.Parts:
    slopes = {}
    for network in judge.need(dataset, "D").network.values:
        try:
            curve = _curve(dataset, str(network), "D")
        except judge.Missing:
            continue
        slopes[str(network)] = judge.log_slope(curve.n_train.values, curve.values)
        yield judge.within(str(network), slopes[str(network)])
    if not slopes:
        raise judge.Missing("no network ran at all sizes")
    signs = {slope.value > 0 for slope in slopes.values()}
    return "both signs occur" if len(signs) == 2 else "one sign occurs"


@claim("DEF-36", "LeNet, ResNet18 and EfficientNet B0: R_f on the fewest images within a factor 3")
def _coincide(dataset: Data) -> judge.Parts:
    curves = [_curve(dataset, network, "R") for network in COINCIDE]
    groups = [curve.values[:, 0] for curve in curves]
    yield judge.below("largest / smallest", judge.largest_ratio(groups), 3.0)
    told = [f"{name} {judge.log_mean(group)}" for name, group in zip(COINCIDE, groups, strict=True)]
    return f"{', '.join(told)} on {int(curves[0].n_train[0])} images"
