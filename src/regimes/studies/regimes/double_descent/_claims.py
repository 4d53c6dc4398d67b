"""Verdicts on double descent: REG-56, REG-57 and REG-62."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Claim
from regimes.studies._parts import Part, claim_of_parts

if TYPE_CHECKING:
    import xarray as xr

AT = 30.0  # the scale of the ledger's rows
ENSEMBLE_WIDTH = 10
EXPECTED = {
    "REG-56": "the norm peaks at jamming, the error falls beyond it, ensembles do not care",
    "REG-57": "an ensemble just past jamming is as good as a wide network",
    "REG-62": "noise or decay lower the norm at jamming",
}


def descent_claims(dataset: xr.Dataset) -> list[Claim]:
    """All of them, from the widths that have run."""
    if "fitted" not in dataset:
        return [Claim.unclear(id, told, why="nothing has run") for id, told in EXPECTED.items()]
    scales = dataset.scale.max([n for n in dataset.scale.dims if n != "at"]).values
    chosen = dataset.isel(at=int(np.abs(np.log(scales / AT)).argmin()))
    flow = chosen.sel(trainer="flow").dropna("width", how="all", subset=["fitted"])
    jam = jamming(flow)
    if jam is None or flow.sizes["seed"] < 3:
        why = "the widths that ran hold no jamming width, or fewer than three seeds"
        return [Claim.unclear(id, told, why=why) for id, told in EXPECTED.items()]
    return [_descent(flow, jam), _ensembles(flow, jam), _regularised(chosen, jam)]


def jamming(flow: xr.Dataset) -> float | None:
    """sqrt(h1 h2) of the last width at which less than half of the runs fit, and the next."""
    share = flow.fitted.mean("seed").values
    narrow = np.flatnonzero(share < 0.5)
    if not len(narrow) or narrow[-1] + 1 >= len(share):
        return None
    widths = flow.width.values
    return float(np.sqrt(widths[narrow[-1]] * widths[narrow[-1] + 1]))


def _error_of_mean(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def _descent(flow: xr.Dataset, jam: float) -> Claim:
    widths = flow.width.values
    norm = flow.output_norm.median("seed").values
    peak = float(widths[norm.argmax()])
    near = flow.isel(width=int(np.abs(np.log(widths / jam)).argmin()))
    widest = flow.isel(width=-1)
    fall = near.error.values - widest.error.values  # same seeds, same data
    past = flow.isel(width=np.flatnonzero(widths > jam)).ensemble_error.values
    parts = [
        Part("width of the largest norm / jamming width", peak / jam, 0.5, 1.5),
        Part(
            "error at jamming less that of the widest", fall.mean(), 0.03, 1, _error_of_mean(fall)
        ),
        Part("range of the ensemble error past jamming", float(np.ptp(past)), high=0.03),
    ]
    told = ", ".join(
        f"{e:.3f} (ensemble {m:.3f}, norm {n:.3g}) at {h}"
        for h, e, m, n in zip(
            widths, flow.error.mean("seed").values, flow.ensemble_error.values, norm, strict=True
        )
    )
    return claim_of_parts("REG-56", parts, why=f"jamming at h = {jam:.3g}; error {told}")


def _ensembles(flow: xr.Dataset, jam: float) -> Claim:
    widths = flow.width.values
    k = int(np.abs(widths - ENSEMBLE_WIDTH).argmin())
    wide = flow.isel(width=-1).error.values
    ratio = float(flow.ensemble_error.isel(width=k)) / wide
    part = Part(
        f"ensemble error at h = {widths[k]} / single error at h = {widths[-1]}",
        ratio.mean(),
        high=1.0,
        error=_error_of_mean(ratio),
    )
    return claim_of_parts("REG-57", [part], why=f"jamming at h = {jam:.3g}")


def _regularised(chosen: xr.Dataset, jam: float) -> Claim:
    if "sgd" not in chosen.trainer.values or "decay" not in chosen.trainer.values:
        return Claim.unclear("REG-62", EXPECTED["REG-62"], why="only the flow was run")
    other = chosen.sel(trainer="sgd").output_norm.dropna("width", how="all").width.values
    if not len(other):
        return Claim.unclear("REG-62", EXPECTED["REG-62"], why="the other trainers have not run")
    h = int(other[np.abs(np.log(other / jam)).argmin()])
    norms = chosen.output_norm.sel(width=h).transpose("trainer", "seed")
    flow = norms.sel(trainer="flow").values
    parts = []
    for name in ("sgd", "decay"):
        ratio = np.log(norms.sel(trainer=name).values / flow)
        middle = float(np.exp(ratio.mean()))
        parts.append(
            Part(
                f"norm with {name} / with the flow",
                middle,
                high=1.0,
                error=middle * _error_of_mean(ratio),
            )
        )
    short = chosen.unfitted.sel(width=h).mean("seed")
    told = ", ".join(f"{float(short.sel(trainer=t)):.0f} ({t})" for t in chosen.trainer.values)
    why = f"at h = {h}, jamming at {jam:.3g}; points short of their margin at the end: {told}"
    return claim_of_parts("REG-62", parts, why=why)
