"""Verdicts on fourteen networks, trained alike on 8,000 images of CIFAR-10."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.deformations import _judging
from regimes.studies.deformations._networks import KINDS
from regimes.studies.deformations._runs import END, START

claim = judge.Claims()

MODERN = ("resnet18", "efficientnet_b0")
FAMILIES = ("vgg11bn", "resnet18", "efficientnet_b0")  # whose profiles by depth are judged
LEAST = 12  # networks of a correlation
ENOUGH = 1000  # training images: below, nothing is judged
FITTED = 0.05  # training error, mean over seeds, above which a network has not been trained


def _at(dataset: Data, network: str) -> Data:
    """The seeds of one network that fits its images: the claims are about trained networks."""
    one = judge.where_ran(_whole(dataset), "seed", "R", network=network)
    if not fits(one):
        raise judge.Missing(
            f"needs {network} trained to an error of at most {FITTED:g} on its training images, "
            f"which ended at {float(one.train_error.mean()):.2g}"
        )
    return one


def fits(one: Data) -> bool:
    """Whether a network was trained at all, mean over its seeds."""
    return float(one.train_error.mean()) <= FITTED


def _whole(dataset: Data) -> Data:
    if float(judge.need(dataset, "points").points.max()) < ENOUGH:
        raise judge.Missing(f"needs networks that were trained on {ENOUGH} images or more")
    return dataset


def _of(dataset: Data, network: str, name: str, when: int = END) -> Any:
    return _at(dataset, network)[name].transpose("seed", "when").values[:, when].astype(float)


def _all(dataset: Data) -> tuple[list[str], dict[str, Any]]:
    """Logarithms (seeds, networks) of the error and of R, D, G and R by means, of all networks."""
    whole = _whole(dataset).dropna("network", how="any", subset=["error"])
    left = whole.train_error.mean("seed").to_series()
    alive = np.isfinite(whole.R.transpose("network", "seed", "when").values[..., END]).all(1)
    fitted = [fits(whole.sel(network=name)) for name in whole.network.values]
    whole = whole.isel(network=alive & fitted)
    names = [str(name) for name in whole.network.values]
    if len(names) < LEAST:
        ends = ", ".join(f"{name} {value:.2g}" for name, value in left.items())
        raise judge.Missing(
            f"needs all seeds of {LEAST} networks that fit their training images (error at most "
            f"{FITTED:g}), {len(names)} do: {ends}"
        )
    logs = {"error": np.log(whole.error.transpose("seed", "network").values)}
    for name in ("R", "D", "G", "R_mean"):
        values = whole[name].transpose("seed", "network", "when").values[..., END]
        logs[name] = np.log(values.astype(float))
    return names, logs


@claim("DEF-13", "ResNet18 and EfficientNet B0: R_f below 0.5, and below 0.4 of what it was")
def _stable(dataset: Data) -> judge.Parts:
    for network in MODERN:
        end, start = _of(dataset, network, "R"), _of(dataset, network, "R", START)
        yield judge.below(f"R_f of {network}", judge.log_mean(end), 0.5)
        yield judge.below(f"{network}, trained / before", judge.log_mean(end / start), 0.4)
    return f"{len(end)} networks of each; 8,000 images where the paper has 50,000"


@claim("DEF-13b", "R_f of trained modern networks, which the paper has in [0.01, 0.1]", report=True)
def _range(dataset: Data) -> judge.Parts:
    for network in MODERN:
        yield judge.within(network, judge.log_mean(_of(dataset, network, "R")), 0.01, 0.1)
    return "on 8,000 images where the paper has 50,000"


@claim("DEF-14b", "fully connected, 4 layers, on CIFAR-10: R_f above 1, and above what it was")
def _full(dataset: Data) -> judge.Parts:
    end, start = _of(dataset, "fc4", "R"), _of(dataset, "fc4", "R", START)
    yield judge.above("R_f", judge.log_mean(end), 1.0)
    yield judge.above("trained / before", judge.log_mean(end / start), 1.0)
    return f"{len(end)} networks"


@claim("DEF-16b", "LeNet on CIFAR-10, which the paper has at 0.6 on 50,000 images", report=True)
def _lenet(dataset: Data) -> judge.Parts:
    end = _of(dataset, "lenet", "R")
    yield judge.within("R_f", judge.log_mean(end))
    return f"{len(end)} networks; 8,000 images"


@claim("DEF-21", "one of each family: flat before, falling over the last four outputs, < 0.6")
def _profile(dataset: Data) -> judge.Parts:
    told = []
    for network in FAMILIES:
        at = _at(dataset, network)
        layers = at.profile.transpose("seed", "when", "layer").values
        layers = layers[:, :, np.isfinite(layers).all((0, 1))]
        if layers.shape[-1] < _judging.LAST:
            raise judge.Missing(f"needs the stabilities of {_judging.LAST} layers of {network}")
        for part in _judging.profile(layers[:, START], layers[:, END]):
            yield replace(part, name=f"{network}: {part.name}")
        ends = [_judging.listed(np.exp(np.log(layers[:, when]).mean(0))) for when in (START, END)]
        told.append(f"{network} before {ends[START]}, trained {ends[END]}")
    return "; ".join(told)


@claim("DEF-22", "correlation of log R_f and log error above 0.9")
def _predicts(dataset: Data) -> judge.Parts:
    names, logs = _all(dataset)
    yield judge.above("correlation", _judging.correlation(logs["R"], logs["error"]), 0.9)
    lost = sorted(set(map(str, _whole(dataset).network.values)) - set(names))
    told = (
        f"; without {', '.join(lost)}: not fitted, or with one answer to most images"
        if lost
        else ""
    )
    return _judging.described(names, logs) + told


@claim("DEF-23", "prefactor of error = A sqrt(R_f): 0.24 +- 0.06")
def _root(dataset: Data) -> judge.Parts:
    names, logs = _all(dataset)
    prefactor, slope = _judging.half_power(logs["R"], logs["error"])
    yield judge.near("prefactor A", prefactor, 0.24, 0.06)
    return f"free slope {slope} in place of 1/2; {len(names)} networks on 8,000 images"


@claim("DEF-24", "correlations of the error with D_f, 0.62 +- 0.2, and with 1/G_f, 0.85 +- 0.1")
def _each(dataset: Data) -> judge.Parts:
    _, logs = _all(dataset)
    R, D, G = (_judging.correlation(logs[name], logs["error"]) for name in "RDG")
    yield judge.near("with D_f", D, 0.62, 0.2)
    yield judge.near("with 1/G_f", -G, 0.85, 0.1)
    yield judge.above("with R_f, less with D_f", R - D, 0.0)
    yield judge.above("with R_f, less with 1/G_f", judge.Measured(R.value + G.value, R.error), 0.0)
    return f"with R_f {R}"


@claim("DEF-26", "|correlation of log R_f and depth| below that of log R_f and log error")
def _depth(dataset: Data) -> judge.Parts:
    names, logs = _all(dataset)
    depth = np.array([KINDS[name].depth for name in names], dtype=float)
    both = np.stack([logs["R"], logs["error"]], 1)

    def gap(drawn: np.ndarray) -> float:
        R, error = drawn.mean(0)
        return float(np.corrcoef(R, error)[0, 1] - abs(np.corrcoef(R, depth)[0, 1]))

    yield judge.above("difference of the two", judge.resampled(both, gap), 0.0)
    R = logs["R"].mean(0)
    told = [f"depth {np.corrcoef(R, depth)[0, 1]:.2f}"]
    for kind in ("batch_norm", "skips"):
        has = np.array([getattr(KINDS[name], kind) for name in names], dtype=float)
        told.append(f"{kind.replace('_', ' ')} {np.corrcoef(R, has)[0, 1]:.2f}")
    return f"correlation of log R_f with {', '.join(told)}"


@claim("DEF-28b", "with means in place of medians: correlation of log R_f and log error above 0.9")
def _means(dataset: Data) -> judge.Parts:
    names, logs = _all(dataset)
    yield judge.above("correlation", _judging.correlation(logs["R_mean"], logs["error"]), 0.9)
    ratio = np.exp((logs["R_mean"] - logs["R"]).mean(0))
    return f"means over medians from {ratio.min():.2f} to {ratio.max():.2f}; {len(names)} networks"


@claim("DEF-35", "G_f falls with the error: correlation of logs below 0")
def _sensitive(dataset: Data) -> judge.Parts:
    names, logs = _all(dataset)
    yield judge.below("correlation", _judging.correlation(logs["G"], logs["error"]), 0.0)
    return f"{len(names)} networks on CIFAR-10"
