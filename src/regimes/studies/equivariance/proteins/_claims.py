"""Verdicts on networks for chains of alpha carbons."""

from __future__ import annotations

from typing import Any

from regimes.lab import Data, judge

claim = judge.Claims()


def _ran(dataset: Data, model: str, per_class: int, turned: bool = True) -> Any:
    place = {"model": model, "per_class": per_class, "turned": turned}
    return judge.where_ran(dataset, "seed", "accuracy", **place)


def _accuracy(dataset: Data, *place: Any) -> judge.Measured:
    return judge.mean_of(_ran(dataset, *place).accuracy.values)


def _sizes(dataset: Data) -> list[int]:
    return [int(each) for each in judge.need(dataset, "accuracy").per_class.values]


@claim("EQU-40", "steerable at or above the CNN at every number of chains, with 20x fewer weights")
def _ahead(dataset: Data) -> judge.Parts:
    told = []
    for size in _sizes(dataset):
        steerable, cnn = (_accuracy(dataset, model, size) for model in ("steerable", "cnn"))
        yield judge.above(f"steerable less CNN, {size} a class", steerable - cnn, 0.0)
        told.append(f"{size} a class: {steerable} and {cnn}")
    counts = [
        float(_ran(dataset, model, _sizes(dataset)[0]).parameters.values[0])
        for model in ("cnn", "steerable")
    ]
    yield judge.above("parameters, CNN / steerable", counts[0] / counts[1], 20.0)
    return f"{'; '.join(told)}; {counts[1]:g} and {counts[0]:g} parameters"


@claim("EQU-41", "accuracy grows by no more than 0.05 as the CNN is narrowed to 1/4 and 1/16")
def _narrow(dataset: Data) -> judge.Parts:
    size = _sizes(dataset)[-1]
    names = ("cnn", "cnn/4", "cnn/16")
    found = [_accuracy(dataset, name, size) for name in names]
    for k, name in enumerate(names[1:]):
        yield judge.below(f"{name} less {names[k]}", found[k + 1] - found[k], 0.05)
    steerable = _accuracy(dataset, "steerable", size)
    told = ", ".join(f"{name} {each}" for name, each in zip(names, found, strict=True))
    return f"accuracies {told}, steerable {steerable}; {size} a class"


@claim("EQU-42", "turning the chains gains a CNN at least 0.05 more than a steerable network")
def _augmented(dataset: Data) -> judge.Parts:
    size = _sizes(dataset)[0]
    gains = {
        model: _accuracy(dataset, model, size) - _accuracy(dataset, model, size, False)
        for model in ("cnn", "steerable")
    }
    more = gains["cnn"] - gains["steerable"]
    yield judge.above("gain of the CNN less that of the steerable", more, 0.05)
    return f"gains {gains['cnn']} (CNN) and {gains['steerable']} (steerable); {size} a class"
