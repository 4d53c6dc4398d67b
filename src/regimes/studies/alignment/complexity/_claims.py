"""Verdicts on what follows the generalisation gap."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from regimes.lab import Data, judge, rows

claim = judge.Claims()


def over(dataset: Data, block: str, setting: str, *names: str) -> tuple[np.ndarray, np.ndarray]:
    """Values of a setting, and (seeds, values, names) of those seeds that ran at all of them."""
    table = rows(dataset, block)
    values = np.unique(table[setting].values)
    found = []
    for seed in np.unique(table.seed.values):
        at = table.isel(trial=table.seed.values == seed).sortby(setting)
        if at.sizes["trial"] == len(values):
            found.append(np.stack([at[name].values.astype(float) for name in names], 1))
    if len(found) < 2:
        raise judge.Missing(f"fewer than two seeds have run at every {setting}")
    return values, np.stack(found)


def _spearman(values: np.ndarray) -> float:
    """Rank correlation of two columns of means over seeds, (seeds, values, 2)."""
    from scipy.stats import spearmanr

    means = values.mean(0)
    return float(spearmanr(means[:, 0], means[:, 1]).statistic)


def _correlation(values: np.ndarray) -> judge.Measured:
    return judge.resampled(values, _spearman)


def _fits(dataset: Data, block: str) -> str:
    table = rows(dataset, block)
    count = int((table.fitted == 0).sum())
    return f"; {count} of {table.sizes['trial']} runs did not reach their loss" if count else ""


def _each(values: np.ndarray, form: Callable[[float], str]) -> str:
    return ", ".join(form(value) for value in values.mean(0))


@claim("ALI-34", "rank correlation of complexity and gap over widths at least 0.6")
def _widths(dataset: Data) -> judge.Parts:
    widths, found = over(dataset, "width", "width", "complexity", "gap")
    yield judge.above("rank correlation of C and the gap", _correlation(found), 0.6)
    return (
        f"h {', '.join(f'{h:.0f}' for h in widths)}: C {_each(found[..., 0], '{:.3g}'.format)}; "
        f"gap {_each(found[..., 1], '{:.4f}'.format)}; {len(found)} seeds" + _fits(dataset, "width")
    )


@claim(
    "ALI-35", "rank correlation at least 0.9 over corruption, and C five times larger at its end"
)
def _corruptions(dataset: Data) -> judge.Parts:
    shares, found = over(dataset, "corruption", "corruption", "complexity", "gap")
    yield judge.above("rank correlation of C and the gap", _correlation(found), 0.9)
    ends = found[:, -1, 0] / found[:, 0, 0]
    yield judge.above(f"C at {shares[-1]:g} / at {shares[0]:g}", judge.log_mean(ends), 5.0)
    return (
        f"C {_each(found[..., 0], '{:.3g}'.format)}; gap {_each(found[..., 1], '{:.3f}'.format)}; "
        f"{len(found)} seeds" + _fits(dataset, "corruption")
    )


@claim("ALI-36", "complexity and gap of VGG networks of several widths", report=True)
def _channels(dataset: Data) -> judge.Parts:
    bases, found = over(dataset, "channels", "base", "complexity", "gap")
    ends = found[:, -1] / found[:, 0]
    yield judge.within(f"C, base {bases[-1]:g} / {bases[0]:g}", judge.log_mean(ends[:, 0]))
    gaps = judge.mean_of(found[:, -1, 1] - found[:, 0, 1])
    yield judge.within("difference of the gaps", gaps)
    return (
        f"C {_each(found[..., 0], '{:.3g}'.format)}; gap {_each(found[..., 1], '{:.4f}'.format)}; "
        f"{len(found)} seeds" + _fits(dataset, "channels")
    )


GROW = ("fro", "l1max", "spec_l21", "spec_fro")
FOLLOW = ("overparam", "complexity")


@claim("ALI-37", "norms grow from h = 32 to 512; overparam and C are less at 128 than at 16")
def _rivals(dataset: Data) -> judge.Parts:
    widths, found = over(dataset, "width", "width", *GROW, *FOLLOW)
    place = {int(h): k for k, h in enumerate(widths)}
    if missing := sorted({16, 32, 128, 512} - set(place)):
        raise judge.Missing(f"widths {missing} were not run")
    for k, name in enumerate(GROW):
        ratio = found[:, place[512], k] / found[:, place[32], k]
        yield judge.above(f"{name}, h = 512 / 32", _known(ratio), 1.0)
    for k, name in enumerate(FOLLOW, start=len(GROW)):
        ratio = found[:, place[128], k] / found[:, place[16], k]
        yield judge.below(f"{name}, h = 128 / 16", _known(ratio), 1.0)
    return f"{len(found)} seeds"


def _known(ratio: np.ndarray) -> judge.Measured:
    """Geometric mean over the runs that fit, whose margin is positive."""
    known = ratio[np.isfinite(ratio)]
    if len(known) < 2:
        raise judge.Missing("fewer than two runs have a positive margin")
    return judge.log_mean(known)
