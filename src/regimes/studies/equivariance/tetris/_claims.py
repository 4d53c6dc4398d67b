"""Verdicts on Tetris pieces in voxels."""

from __future__ import annotations

from typing import Any

from regimes.lab import Data, judge

claim = judge.Claims()


def _at(dataset: Data, name: str, model: str, thinning: str) -> Any:
    at = judge.where_ran(dataset, "seed", name, model=model, thinning=thinning)
    return at[name].values


def _whole(dataset: Data) -> bool:
    """Whether the networks are the paper's."""
    return bool(judge.need(dataset, "paper_networks").paper_networks.max() > 0)


@claim("EQU-32", "with norms the loss takes at least as many epochs to reach 0.1 as with gates")
def _slower(dataset: Data) -> judge.Parts:
    norm = _at(dataset, "epochs_to_fit", "norm", "low-pass")
    gated = _at(dataset, "epochs_to_fit", "steerable", "low-pass")
    ratio = judge.median_of(norm) / judge.median_of(gated)
    yield judge.above("median epochs, norms / gates", ratio, 1.0)
    told = [f"{name} {', '.join(f'{each:g}' for each in found)}"
            for name, found in (("norms", norm), ("gates", gated))]  # fmt: skip
    right = _at(dataset, "accuracy", "norm", "low-pass")
    return f"epochs with {'; '.join(told)}; accuracy with norms {judge.mean_of(right)}"


@claim("EQU-34", "behind low-pass filters: steerable above 0.6 (0.95 in full), CNN below 0.4")
def _ahead(dataset: Data) -> judge.Parts:
    steerable = judge.mean_of(_at(dataset, "accuracy", "steerable", "low-pass"))
    cnn = judge.mean_of(_at(dataset, "accuracy", "cnn", "low-pass"))
    yield judge.above("accuracy, steerable", steerable, 0.95 if _whole(dataset) else 0.6)
    yield judge.below("accuracy, CNN", cnn, 0.4)
    yield judge.above("difference", steerable - cnn, 0.35)
    return _sizes(dataset)


@claim("EQU-35", "with plain strides: steerable below 0.5 (0.55 in full) and 0.25 below its twin")
def _drops(dataset: Data) -> judge.Parts:
    plain = judge.mean_of(_at(dataset, "accuracy", "steerable", "stride"))
    smooth = judge.mean_of(_at(dataset, "accuracy", "steerable", "low-pass"))
    yield judge.below("accuracy, steerable", plain, 0.55 if _whole(dataset) else 0.5)
    yield judge.above("low-pass less stride", smooth - plain, 0.25)
    moved = [
        judge.mean_of(_at(dataset, "spread", "steerable", thinning))
        for thinning in ("stride", "low-pass")
    ]
    yield judge.above("spread of features, stride / low-pass", moved[0] / moved[1], 2.0)
    cnn = judge.mean_of(_at(dataset, "accuracy", "cnn", "stride"))
    if _whole(dataset):
        yield judge.below("accuracy, CNN", cnn, 0.4)
    return f"CNN {cnn}; spreads {moved[0]} and {moved[1]}; {_sizes(dataset)}"


def _sizes(dataset: Data) -> str:
    told = []
    for model in ("steerable", "cnn"):
        found = judge.where_ran(dataset, "seed", "parameters", model=model, thinning="low-pass")
        told.append(f"{int(found.parameters.values[0])} parameters ({model})")
    side = int(judge.need(dataset, "side").side.max())
    return f"{', '.join(told)}; {side}^3 voxels, {dataset.sizes['seed']} seeds"
