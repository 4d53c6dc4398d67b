"""The verdict on convolutional networks."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, judge, rows

claim = judge.Claims()


def curves(dataset: Data, block: str) -> Data:
    """The channels of a block that ran, few to many."""
    own = rows(judge.need(dataset, "error"), block)
    own = own.dropna("trial", how="all", subset=["error"]).sortby("channels")
    own = own.isel(seed=own.error.notnull().any("trial").values)
    own = own.swap_dims(trial="channels")
    if own.sizes["channels"] < 3 or own.sizes["seed"] < 3:
        raise judge.Missing(
            f"block {block!r}: {own.sizes['channels']} numbers of channels and "
            f"{own.sizes['seed']} seeds have run, three are needed"
        )
    return own


def jamming(own: Data) -> int | None:
    """Where the channels begin from which on every network fits its points; None if they do not."""
    clean = (own.train_error.max("seed") == 0).values
    where = [k for k in range(len(clean)) if clean[k:].all()]
    return where[0] if where else None


@claim("LAND-67", "training error 0 from some f on; ensembles better there; errors fall with f")
def picture(dataset: Data) -> judge.Parts:
    return (yield from _picture(curves(dataset, "main")))


@claim("LAND-67b", "LAND-67 with the hinge summed over classes and twice as many steps")
def longer(dataset: Data) -> judge.Parts:
    return (yield from _picture(curves(dataset, "longer")))


def _picture(own: Data) -> judge.Parts:
    f, first = own.channels.values, jamming(own)
    alone = own.error.transpose("seed", "channels").values
    groups = own.group_error.transpose("group", "channels").values
    groups = groups[np.isfinite(groups).all(1)]
    size = len(alone) // len(groups)
    shown = ", ".join(
        f"{c}: {100 * t:.1f} / {100 * a:.1f} / {100 * g:.1f}"
        for c, t, a, g in zip(
            f, own.train_error.mean("seed").values, alone.mean(0), groups.mean(0), strict=True
        )
    )
    shown = f"errors in %, training / test / ensembles of {size}, at f = {shown}"
    if first is None:
        left = judge.mean_of(own.train_error.isel(channels=-1))
        yield judge.below(f"training error at f = {f[-1]}", left, 0.0)
        return f"no f from which on every network learns all points; {shown}"
    yield judge.below("f from which on all points are learned", float(f[first]), f[-2])
    paired = alone[: size * len(groups)].reshape(len(groups), size, -1).mean(1) - groups
    for k in range(first, len(f)):
        yield judge.above(
            f"error of single networks less ensembles' at f = {f[k]}",
            judge.mean_of(paired[:, k]),
            0.0,
        )
    yield judge.above(
        f"fall of the single error from f = {f[first]} to {f[-1]}",
        judge.mean_of(alone[:, first] - alone[:, -1]),
        0.0,
    )
    return shown
