"""Verdicts on how spectrum and alignment of the kernel change in training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from regimes.lab import Data, judge


@dataclass(frozen=True)
class _Limits:
    """What is asked of digits on a small network; the paper's sizes have their own."""

    top_gain: float = 8.0
    mean_gain: float = 5.0
    anisotropy: float = 1.5
    rank: float = 0.75
    rank_noisy: float = 0.95
    share: float = 0.08  # by how much the 40 largest eigenvalues hold more of the trace
    spectra: float = 0.12
    alignment: float = 2.5
    decades: float = 0.6
    slow_alignment: float = 1.3
    slow_rank: float = 1.0


_PAPER = _Limits(
    top_gain=100.0,
    mean_gain=100.0,
    rank=0.2,
    rank_noisy=0.3,
    spectra=0.15,
    alignment=3.0,
    decades=0.7,
    slow_rank=2.0,
)
FIRST = 300  # steps of the comparison of two rates on digits
EARLY = 200  # step by which the rank is least

claim = judge.Claims()


def _limits(at: Data) -> _Limits:
    return _Limits() if "digits" in at.images.values.ravel() else _PAPER


def run_of(dataset: Data, setting: str, *names: str) -> Data:
    """The seeds of one setting of the network that is judged: VGG19 where it ran, else the MLP."""
    names = (*names, "steps", "images")
    at = judge.need(dataset, setting=setting)
    known = [str(each) for each in at.network.values]
    network = "vgg19" if "vgg19" in known else known[0]
    at = judge.where_ran(at, "seed", "steps", network=network)
    at = judge.need(at, *names)
    return at.dropna("point", how="all", subset=["steps"])


def _over(at: Data, name: str) -> np.ndarray:
    """(seeds, points), or (seeds, points, layers)."""
    values = at[name]
    dims = ("seed", "point", "layer") if "layer" in values.dims else ("seed", "point")
    found: np.ndarray = values.transpose(*dims).values.astype(float)
    return found


def _steps(at: Data) -> np.ndarray:
    return np.asarray(at.steps.transpose("seed", "point").values[0], dtype=float)


def _seeds(at: Data) -> str:
    return f"{at.sizes['seed']} seeds"


def _gain(values: np.ndarray) -> np.ndarray:
    return np.nanmax(values, 1) / values[:, 0]


def _ratio(name: str, values: Any, low: float) -> judge.Part:
    return judge.above(name, judge.log_mean(values), low)


@claim("ALI-10", "largest and mean eigenvalue grow by more than 8 and 5 (VGG19: 100) times")
def _growth(dataset: Data) -> judge.Parts:
    at = run_of(dataset, "clean", "max_train", "mean_train", "accuracy_train")
    limits, fitted = _limits(at), _over(at, "accuracy_train")
    top, mean = (_over(at, name) for name in ("max_train", "mean_train"))
    yield _ratio("largest eigenvalue, end / start", top[:, -1] / top[:, 0], limits.top_gain)
    yield _ratio("mean eigenvalue, end / start", mean[:, -1] / mean[:, 0], limits.mean_gain)
    return f"train accuracy at the end {fitted[:, -1].mean():.3f}; {_seeds(at)}"


@claim("ALI-11", "the largest eigenvalue gains at least 1.5 times more than the median one")
def _anisotropy(dataset: Data) -> judge.Parts:
    at = run_of(dataset, "clean", "max_train", "median_train")
    top, median = (_over(at, name) for name in ("max_train", "median_train"))
    gains = (top / top[:, :1]) / (median / median[:, :1])
    yield _ratio("gain of the largest / of the median, most", gains.max(1), _limits(at).anisotropy)
    when = _steps(at)[gains.argmax(1)]
    return f"at step {np.median(when):.0f}; {_seeds(at)}"


@claim("ALI-12", "the effective rank falls to 0.75 (with noise 0.95) of its start by step 200")
def _rank_falls(dataset: Data) -> judge.Parts:
    clean, noisy = (run_of(dataset, s, "effective_rank_train") for s in ("clean", "noisy50"))
    limits = _limits(clean)
    rank, rank_noisy = (_over(at, "effective_rank_train") for at in (clean, noisy))
    least = judge.mean_of(rank.min(1) / rank[:, 0])
    yield judge.below("least effective rank / start, clean", least, limits.rank)
    least_noisy = judge.mean_of(rank_noisy.min(1) / rank_noisy[:, 0])
    yield judge.below("with noise", least_noisy, limits.rank_noisy)
    when = judge.log_mean(np.maximum(_steps(clean)[rank.argmin(1)], 1))
    yield judge.below("step of the least rank, clean", when, EARLY)
    return f"from {rank[:, 0].mean():.0f} to {rank.min(1).mean():.0f}; {_seeds(clean)}"


@claim("ALI-13", "the share of the 40 largest eigenvalues rises by at least 0.08")
def _share(dataset: Data) -> judge.Parts:
    at = run_of(dataset, "clean", "trace_ratio_40_train")
    share = _over(at, "trace_ratio_40_train")
    if _limits(at) is _PAPER:
        yield judge.above("largest share of the trace", judge.mean_of(share.max(1)), 0.6)
    else:
        rise = judge.mean_of(share.max(1) - share[:, 0])
        yield judge.above("rise of the share of the trace", rise, _limits(at).share)
    return f"{share[:, 0].mean():.3f} to {share.max(1).mean():.3f}; {_seeds(at)}"


@claim("ALI-14", "with noise the rank recovers 1.25 times while test accuracy falls by 0.1")
def _overfitting(dataset: Data) -> judge.Parts:
    at = run_of(dataset, "noisy50", "effective_rank_train", "accuracy_test")
    rank, accuracy, steps = (
        _over(at, "effective_rank_train"),
        _over(at, "accuracy_test"),
        _steps(at),
    )
    yield judge.above("rank, end / least", judge.log_mean(rank[:, -1] / rank.min(1)), 1.25)
    fall = accuracy.max(1) - accuracy[:, -1]
    yield judge.above("fall of the test accuracy from its peak", judge.mean_of(fall), 0.1)
    when = np.maximum(steps[rank.argmin(1)], 1) / np.maximum(steps[accuracy.argmax(1)], 1)
    yield judge.below("step of the least rank / of the best accuracy", judge.log_mean(when), 2.0)
    return (
        f"test accuracy {accuracy.max(1).mean():.3f} to {accuracy[:, -1].mean():.3f}; {_seeds(at)}"
    )


@claim("ALI-15", "mean relative difference of the ranks on training and test points below 0.12")
def _same_spectra(dataset: Data) -> judge.Parts:
    told = []
    for setting in ("clean", "noisy50"):
        at = run_of(dataset, setting, "effective_rank_train", "effective_rank_test")
        train, test = (_over(at, f"effective_rank_{probe}") for probe in ("train", "test"))
        gap = (np.abs(train - test) / train).mean(1)
        yield judge.below(f"mean difference, {setting}", judge.mean_of(gap), _limits(at).spectra)
        told.append(_seeds(at))
    return told[0]


@claim("ALI-16", "alignment rises at least 2.5 times on training and test points")
def _rises(dataset: Data) -> judge.Parts:
    at = run_of(dataset, "clean", "alignment_train", "alignment_test")
    told = []
    for probe in ("train", "test"):
        values = _over(at, f"alignment_{probe}")
        yield _ratio(f"peak / start, {probe}", _gain(values), _limits(at).alignment)
        told.append(f"{probe} {values[:, 0].mean():.3f} to {values.max(1).mean():.3f}")
    return f"{', '.join(told)}; {_seeds(at)}"


@claim("ALI-17", "with noise, alignment on test points at least 1.5 times that on training points")
def _generalises(dataset: Data) -> judge.Parts:
    at = run_of(dataset, "noisy50", "alignment_train", "alignment_test", "accuracy_test")
    ratio = _over(at, "alignment_test") / _over(at, "alignment_train")
    accuracy = _over(at, "accuracy_test")
    good = accuracy >= accuracy.max(1, keepdims=True) - 0.05
    best = np.where(good, ratio, -np.inf).max(1)
    yield _ratio("test / train, most while the test accuracy is within 0.05 of its peak", best, 1.5)
    return _seeds(at)


@claim("ALI-18", "the best layer is aligned at least as well as the whole, less 0.02")
def _best_layer(dataset: Data) -> judge.Parts:
    at = run_of(dataset, "clean", "layer_alignment_train", "alignment_train")
    layers = np.nan_to_num(_over(at, "layer_alignment_train")).max(1)  # (seeds, layers)
    layers = layers[:, layers.any(0)]
    whole, best = _over(at, "alignment_train").max(1), layers.max(1)
    which = ", ".join(f"{k + 1}" for k in np.unique(layers.argmax(1)))
    if _limits(at) is _PAPER:
        yield judge.above("best layer", judge.mean_of(best), 0.4)
        last = judge.mean_of(layers[:, -1] / best)
        yield judge.below("last layer / best layer", last, 0.5)
        inside = layers.argmax(1) / (layers.shape[1] - 1)
        yield judge.within(
            "place of the best, 0 first to 1 last", judge.mean_of(inside), 0.01, 0.99
        )
    else:
        yield judge.above("best layer less whole", judge.mean_of(best - whole), -0.02)
    each = ", ".join(f"{value:.3f}" for value in layers.mean(0))
    return f"best layer {which} of {layers.shape[1]}; peaks by layer {each}; {_seeds(at)}"


@claim("ALI-19", "layers on test points are aligned best within 0.6 decades of the best accuracy")
def _together(dataset: Data) -> judge.Parts:
    at = run_of(dataset, "noisy50", "layer_alignment_test", "accuracy_test")
    steps = np.log10(np.maximum(_steps(at), 1))
    best = np.nan_to_num(_over(at, "layer_alignment_test")).max(2).argmax(1)
    apart = np.abs(steps[best] - steps[_over(at, "accuracy_test").argmax(1)])
    yield judge.below("decades between the two peaks", judge.mean_of(apart), _limits(at).decades)
    return f"layers at step {np.median(10 ** steps[best]):.0f}; {_seeds(at)}"


@claim("ALI-20", "alignment without centring rises at least 1.3 times")
def _uncentred(dataset: Data) -> judge.Parts:
    at = run_of(dataset, "clean", "alignment_uncentred_train", "alignment_train")
    values = _over(at, "alignment_uncentred_train")
    yield _ratio("peak / start, not centred", _gain(values), 1.3)
    centred = judge.log_mean(_gain(_over(at, "alignment_train")))
    return (
        f"{values[:, 0].mean():.4f} to {values.max(1).mean():.4f}; centred: {centred}; {_seeds(at)}"
    )


def _rates(dataset: Data, upto: float) -> judge.Parts:
    names = ("alignment_train", "effective_rank_train")
    fast, slow = (run_of(dataset, setting, *names) for setting in ("clean", "slow"))
    peaks, ranks = [], []
    for at in (fast, slow):
        seen = _steps(at) <= upto
        peaks.append(_over(at, "alignment_train")[:, seen].max(1))
        ranks.append(_over(at, "effective_rank_train")[:, seen].min(1))
    count = min(len(each) for each in peaks)  # the same seeds
    ratio = peaks[0][:count] / peaks[1][:count]
    yield _ratio("peak alignment, large rate / small", ratio, _limits(fast).slow_alignment)
    least = ranks[1][:count] / ranks[0][:count]
    yield _ratio("least rank, small rate / large", least, _limits(fast).slow_rank)
    span = f"within {upto:g} steps" if np.isfinite(upto) else "over all steps"
    return f"{span}; {count} seeds"


@claim("ALI-24", "a four times larger rate: alignment 1.3 times higher, rank no higher")
def _rate(dataset: Data) -> judge.Parts:
    at = run_of(dataset, "clean", "steps")
    return (yield from _rates(dataset, FIRST if _limits(at) is not _PAPER else np.inf))


@claim("ALI-24b", "the same when the small rate takes four times as many steps")
def _rate_same_time(dataset: Data) -> judge.Parts:
    return (yield from _rates(dataset, np.inf))
