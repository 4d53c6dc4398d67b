"""Verdicts on small networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.deformations import _judging
from regimes.studies.deformations.networks import ELSEWHERE

claim = judge.Claims()

START, END = 0, 1
SMALL = 0.1  # noise up to which the answer is quadratic
ABSENT = "are not at hand and were not run"


def _at(dataset: Data, network: str, images: str = "mnist") -> Data:
    """The seeds of one network."""
    return judge.where_ran(dataset, "seed", "R", images=images, network=network)


def _three(dataset: Data, network: str, name: str, when: int, images: str = "mnist") -> Any:
    at = _at(dataset, network, images)
    return at[name].transpose("seed", "when").values[:, when].astype(float)


def _R(dataset: Data, network: str, when: int = END, images: str = "mnist") -> Any:  # noqa: N802
    return _three(dataset, network, "R", when, images)


@claim("DEF-11", "small ResNet: bilinear / gaussian within 1.3 at delta = 1 and 2, worse at 0.1")
def _interpolation(dataset: Data) -> judge.Parts:
    at = _at(dataset, "mini8")
    ratio = at.R_interpolated.transpose("seed", "interpolation", "delta").values
    logs = np.log(ratio[:, 0] / ratio[:, 1])
    deltas = [float(each) for each in at.delta.values]
    if not {0.1, 1.0, 2.0} <= set(deltas):
        raise judge.Missing(f"needs delta = 0.1, 1 and 2, {deltas} were run")
    where = {delta: deltas.index(delta) for delta in (0.1, 1.0, 2.0)}
    for delta in (1.0, 2.0):
        found = judge.log_mean(np.exp(logs[:, where[delta]]))
        yield judge.within(f"ratio at delta = {delta:g}", found, 1 / 1.3, 1.3)
    away = judge.mean_of(abs(logs[:, where[0.1]]) - abs(logs[:, where[1.0]]))
    yield judge.above("|log ratio| at 0.1 less that at 1", away, 0.0)
    small = judge.log_mean(np.exp(logs[:, where[0.1]]))
    return f"ratio at 0.1 {small}; {len(logs)} networks"


@claim("DEF-13", "small ResNet: R_f below 0.5, and below 0.4 of what it was before training")
def _stable(dataset: Data) -> judge.Parts:
    end, start = _R(dataset, "mini8"), _R(dataset, "mini8", START)
    yield judge.below("R_f trained", judge.log_mean(end), 0.5)
    yield judge.below("R_f trained / before", judge.log_mean(end / start), 0.4)
    return f"{_judging.listed(end)}; {len(end)} networks"


@claim("DEF-14", "fully connected, 4 layers: R_f above 1.5, and above what it was")
def _full(dataset: Data) -> judge.Parts:
    end, start = _R(dataset, "fc4"), _R(dataset, "fc4", START)
    yield judge.above("R_f trained", judge.log_mean(end), 1.5)
    yield judge.above("R_f trained / before", judge.log_mean(end / start), 1.0)
    return f"{_judging.listed(end)}; {len(end)} networks"


@claim("DEF-16", "LeNet on MNIST: R_f above 1; on Fashion-MNIST and CIFAR-10 it is told")
def _lenet(dataset: Data) -> judge.Parts:
    end = _R(dataset, "lenet")
    yield judge.above("R_f on MNIST", judge.log_mean(end), 1.0)
    told = []
    for images, name in (("fashion_mnist", "Fashion-MNIST"), ("cifar10", "CIFAR-10")):
        try:
            found = str(judge.log_mean(_R(dataset, "lenet", images=images)))
        except judge.Missing as missing:
            found = str(missing)
        told.append(f"on {name} {found}")
    return "; ".join([*told, f"{len(end)} networks"])


@claim(
    "DEF-21", "flat before (max/min below 2), falling over the last four outputs, last < 0.6 first"
)
def _profile(dataset: Data) -> judge.Parts:
    at = _at(dataset, "mini8")
    layers = at.profile.transpose("seed", "when", "layer").values
    layers = layers[:, :, np.isfinite(layers).all((0, 1))]
    yield from _judging.profile(layers[:, START], layers[:, END])
    means = np.exp(np.log(layers).mean(0))
    told = [", ".join(f"{value:.2f}" for value in row) for row in means]
    return f"before {told[START]}; trained {told[END]}; {len(layers)} networks"


def _all(dataset: Data, images: str = "mnist") -> tuple[list[str], dict[str, Any]]:
    """Logarithms (seeds, networks) of error, R, D and G of every network on some images."""
    names = [str(name) for name in judge.need(dataset, "R").network.values]
    at = [_at(dataset, name, images) for name in names]
    if len({each.sizes["seed"] for each in at}) > 1:
        raise judge.Missing(f"needs as many seeds of each network on {images}")
    least = 1e-4  # one error in more test images than there are
    errors = [np.maximum(each.error.values, least) for each in at]
    logs: dict[str, Any] = {"error": np.log(np.stack(errors, 1))}
    for name in ("R", "D", "G"):
        ends = [each[name].transpose("seed", "when").values[:, END] for each in at]
        logs[name] = np.log(np.stack(ends, 1))
    if len(names) < 4:
        raise judge.Missing(f"needs four networks, {len(names)} ran")
    return names, logs


@claim("DEF-22", "six small networks: correlation of log R_f and log error above 0.6")
def _predicts(dataset: Data) -> judge.Parts:
    names, logs = _all(dataset)
    yield judge.above("correlation", _judging.correlation(logs["R"], logs["error"]), 0.6)
    return _judging.described(names, logs)


@claim("DEF-23", "prefactor of error = A sqrt(R_f)", report=True)
def _root(dataset: Data) -> judge.Parts:
    names, logs = _all(dataset)
    prefactor, slope = _judging.half_power(logs["R"], logs["error"])
    yield judge.within("prefactor A", prefactor)
    return f"free slope {slope} in place of 1/2; {len(names)} networks on MNIST"


@claim("DEF-24", "correlations of the error with D_f and 1/G_f; R_f the best", report=True)
def _each(dataset: Data) -> judge.Parts:
    _, logs = _all(dataset)
    R, D, G = (_judging.correlation(logs[name], logs["error"]) for name in "RDG")
    yield judge.within("correlation with R_f", R)
    yield judge.within("with D_f", D)
    yield judge.within("with 1/G_f", -G)
    best = max((("R_f", R), ("D_f", D), ("1/G_f", -G)), key=lambda each: each[1].value)[0]
    return f"{best} correlates best"


@claim("DEF-25", "on other images too errors grow with D_f and R_f and fall with G_f")
def _others(dataset: Data) -> judge.Parts:
    for images, name in (("mnist", "MNIST"), ("fashion_mnist", "Fashion-MNIST")):
        names, logs = _all(dataset, images)
        R, D, G = (_judging.correlation(logs[each], logs["error"]) for each in "RDG")
        yield judge.above(f"{name}: correlation with R_f", R, 0.0)
        yield judge.above(f"{name}: with D_f", D, 0.0)
        yield judge.below(f"{name}: with G_f", G, 0.0)
    return f"{len(names)} small networks; SVHN and Tiny ImageNet {ABSENT}"


@claim("DEF-28", "means over medians of R_f in [0.7, 1.6] for three networks")
def _means(dataset: Data) -> judge.Parts:
    for name in ("fc4", "lenet", "mini8"):
        at = _at(dataset, name)
        ratio = at.R_mean.values / at.R.transpose("seed", "when").values[:, END]
        yield judge.within(name, judge.log_mean(ratio), 0.7, 1.6)
    return "trained networks"


@claim("DEF-29", "R_f of fully connected above small ResNet at (delta, c) = (1,3), (2,3), (1,5)")
def _robust(dataset: Data) -> judge.Parts:
    high, low = _at(dataset, "fc4"), _at(dataset, "mini8")
    yield judge.above(
        "ratio at (1, 3)", judge.log_mean(_R(dataset, "fc4") / _R(dataset, "mini8")), 1
    )
    for k, (delta, c) in enumerate(ELSEWHERE):
        one, other = (each.R_elsewhere.transpose("seed", "setting").values for each in (high, low))
        ratio = judge.log_mean(one[:, k] / other[:, k])
        yield judge.above(f"ratio at ({delta:g}, {c:g})", ratio, 1.0)
    return f"{high.sizes['seed']} networks of each"


@claim("DEF-32", "small ResNet: slope 2 +- 0.15 for noise up to 0.1; off by 0.2 between 0.3 and 10")
def _quadratic(dataset: Data) -> judge.Parts:
    at = _at(dataset, "mini8")
    noise = at.noise.values.astype(float)
    shaken = at.shaken.transpose("seed", "when", "noise").values[:, END]
    few = noise <= SMALL * 1.001
    if few.sum() < 2 or noise.max() < 10:
        raise judge.Missing("needs noise from 0.01 to 10")
    yield judge.near("slope of small noise", judge.log_slope(noise[few], shaken[:, few]), 2.0, 0.15)
    local = np.diff(np.log(shaken), axis=1) / np.diff(np.log(noise))
    some = (noise[:-1] >= 0.3) & (noise[1:] <= 10.1)
    away = abs(local[:, some] - 2)
    most = away.mean(0).argmax()
    yield judge.above("largest |slope - 2| beyond 0.3", judge.mean_of(away[:, most]), 0.2)
    means = ", ".join(f"{value:.2f}" for value in local.mean(0))
    return f"local slopes {means}"


@claim("DEF-33", "change per squared noise at the largest noise, trained over before", report=True)
def _far(dataset: Data) -> judge.Parts:
    for name in ("mini8", "lenet", "fc4"):
        at = _at(dataset, name)
        far = at.shaken.transpose("seed", "when", "noise").values[:, :, -1]
        V = at.V.transpose("seed", "when").values
        yield judge.within(name, judge.log_mean(far[:, END] / far[:, START]))
        scaled = (far / V)[:, END] / (far / V)[:, START]
        yield judge.within(f"{name}, in units of V", judge.log_mean(scaled))
    norm, most = float(at.image_norm.median()), float(at.noise.values[-1])
    return f"at noise {most:g}, {most / norm:.0f} times the norm of an image"


@claim("DEF-35", "sign of the correlation of log G_f and log error", report=True)
def _sensitive(dataset: Data) -> judge.Parts:
    names, logs = _all(dataset)
    yield judge.below("correlation", _judging.correlation(logs["G"], logs["error"]), 0.0)
    return f"{len(names)} networks on MNIST"


@claim("DEF-37", "prefactors of error against R_f on MNIST and SVHN within a factor 2")
def _shared(dataset: Data) -> judge.Parts:
    raise judge.Missing(f"the images of SVHN {ABSENT}")
    yield


@claim("DEF-38", "fully connected networks and LeNet end with a loss above 1 on Tiny ImageNet")
def _tiny(dataset: Data) -> judge.Parts:
    raise judge.Missing(f"the images of Tiny ImageNet {ABSENT}")
    yield


@claim(
    "DEF-44", "ResNet101 and EfficientNet B2 on ImageNet: R_f in [0.01, 0.1] at c = 3, 10 and 30"
)
def _large(dataset: Data) -> judge.Parts:
    raise judge.Missing(f"the images of ImageNet, and networks trained on them, {ABSENT}")
    yield
