"""Verdicts on the noise of kernels and outputs: exponents in the width."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Values, judge, rows

WIDE = 256  # from this width on the change in training is below the noise at the start
LEAST = 3  # widths of an exponent, of which the widest is WIDE at least
claim = judge.Claims()


def table(dataset: Data, block: str, **place: object) -> Data:
    """The widths of a block that ran, from narrow to wide."""
    own = rows(judge.need(dataset, "kernel_apart"), block, **place).sortby("width")
    own = own.isel(trial=own.kernel_apart.notnull().any("seed").values)
    if own.sizes["trial"] < LEAST or float(own.width.max()) < WIDE:
        raise judge.Missing(f"block {block!r} needs {LEAST} widths up to {WIDE} or more")
    return own.isel(seed=own.kernel_apart.notnull().any("trial").values)


def exponent(own: Data, values: Values) -> judge.Measured:
    """Of the root mean square over seeds in the width, with its spread over resamples of them."""
    logs = np.log(own.width.values.astype(float))

    def slope(drawn: np.ndarray) -> float:
        return float(np.polyfit(logs, 0.5 * np.log(np.square(drawn).mean(0)), 1)[0])

    return judge.resampled(values.transpose("seed", "trial").values, slope)


def listed(own: Data, values: Values) -> str:
    """Root mean squares over seeds, from narrow to wide."""
    rms = np.sqrt((values**2).mean("seed").values)
    return ", ".join(
        f"{each:.3g} (h = {h})" for each, h in zip(rms, own.width.values.astype(int), strict=True)
    )


@claim("LAND-59", "|Theta_0 - mean| / |mean| falls as h^-1/2")
def start(dataset: Data) -> judge.Parts:
    own = table(dataset, "start")
    yield judge.within("exponent", exponent(own, own.kernel_apart), -0.6, -0.42)
    return f"{listed(own, own.kernel_apart)}; {own.sizes['seed']} networks"


@claim("LAND-60", "|Theta_T - Theta_0| / |Theta_0| falls as 1/h, below the noise of the start")
def change(dataset: Data) -> judge.Parts:
    told = []
    for block, depth in (("shallow", 1), ("deep", 2)):
        own = table(dataset, block, subtract_init=True)
        moved, noise = own.kernel_change, own.kernel_apart
        yield judge.within(f"L = {depth}: exponent", exponent(own, moved), -1.15, -0.75)
        wide = own.width.values >= WIDE
        pairs = np.stack([each.transpose("seed", "trial").values for each in (moved, noise)], 1)

        def largest(drawn: np.ndarray, wide: np.ndarray = wide) -> float:
            size = np.sqrt(np.square(drawn).mean(0))
            return float((size[0] / size[1])[wide].max())

        yield judge.below(f"L = {depth}: change / noise", judge.resampled(pairs, largest), 1.0)
        told.append(f"L = {depth}: change {listed(own, moved)}, noise {listed(own, noise)}")
    return "; ".join(told)


@claim("LAND-62", "outputs fluctuate as h^-1/2 without their initial function, else by a constant")
def noise(dataset: Data) -> judge.Parts:
    told = []
    for subtract, name, low, high in (
        (True, "without the initial function", -0.65, -0.35),
        (False, "with it", -0.25, 0.25),
    ):
        own = table(dataset, "shallow", subtract_init=subtract)
        yield judge.within(f"exponent {name}", exponent(own, own.apart_test), low, high)
        lost = int((own.fitted < 1).sum())
        told.append(f"{name}: {listed(own, own.apart_test)}, {lost} runs unfitted")
    return "; ".join(told)
