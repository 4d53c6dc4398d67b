"""Verdicts on single neurons of networks: COMP-05, COMP-07 and COMP-10."""

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.compression._attractors import NAMES, TABLE

FOLLOWED = 5  # neurons compared with the ODE (COMP-10)
CLOSE = 0.25  # in the logarithm of a weight

claim = judge.Claims()


@claim("COMP-05", "kinks end at three places of the informative axis")
def _places(dataset: Data) -> judge.Parts:
    at = judge.need(dataset, "z_mean", part="places")
    tolerance = 0.06 if int(at.h) < 10_000 else 0.03
    expected = np.array([z for z, _ in TABLE[2]])
    mean, share, early = (
        at[name].mean("seed", skipna=False).values for name in ("z_mean", "near_axis", "z_early")
    )
    errors = judge.standard_error(at.z_mean.transpose("seed", "class").values)
    away, shares = np.abs(mean - expected), at.near_axis.transpose("class", "seed").values
    for k in np.argsort(-away):  # the farthest first: its number stands for the claim
        yield judge.below(f"|z_1 - theory|, {NAMES[k]}", (away[k], errors[k]), tolerance)
    for name, each in zip(NAMES, shares, strict=True):
        yield judge.above(f"share with |z_2| < .1, {name}", judge.mean_of(each), 0.6)
    yield judge.below("roots, distance from the table", at.table_error.max(), 1e-4)
    listing = "; ".join(
        f"{name}: {m:.3f} ± {e:.3f} for {z:.3f}, {s:.0%} near the axis"
        for name, m, e, z, s in zip(NAMES, mean, errors, expected, share, strict=True)
    )
    return (
        f"z_1 at t*, amplitude-weighted, mean over {at.sizes['seed']} data sets: {listing}; at "
        f".8 t*, before points are fitted, {', '.join(f'{z:.3f}' for z in early)}. "
        f"p={int(at.p)}, h={int(at.h)}; one data set alone scatters "
        f"by {float(at.z_mean.std('seed').max()):.2f}, as 1/sqrt(p) moves the fixed points"
    )


@claim("COMP-07", "weights grow at the rate that theory gives at the fastest attractor")
def _growth(dataset: Data) -> judge.Parts:
    at = judge.need(dataset, "growth", part="growth")
    rate, part = float(at.rate), 0.06 if int(at.p) < 100_000 else 0.02
    yield judge.near("rate of growth (1/tau)", judge.mean_of(at.growth), rate, part * rate)
    return (
        "slope of ln |w_1| over the last third before t* of the neurons with w_1 < 0, beta > 0; by "
        f"data set {', '.join(f'{s:.3f}' for s in at.growth.values)}; p={int(at.p)}, "
        f"h={int(at.h)}, d=5"
    )


@claim("COMP-10", "single neurons of a network follow the equation of one neuron")
def _equation(dataset: Data) -> judge.Parts:
    """Neurons as they come, and the noise on w_perp alone [Paccolat 2021, app. C.3]."""
    return _followed(dataset, "source")


@claim("COMP-10b", "ours: they do if the data set's noise acts on w_1 and b too")
def _equation_with_all_noise(dataset: Data) -> judge.Parts:
    """The growth rate of a data set varies as 1/sqrt(p), and the logarithms with it."""
    return _followed(dataset, "all")


def _followed(dataset: Data, noise: str) -> judge.Parts:
    at = judge.need(dataset, f"gap_{noise}", part="equation")
    gaps, grown = at[f"gap_{noise}"].values, at[f"gap_grown_{noise}"].values
    yield judge.below("largest difference of a logarithm, median", judge.median_of(gaps), CLOSE)
    return (
        f"largest difference of ln|w_1|, ln|b|, ln|beta| at .8 t* among the first {FOLLOWED} "
        f"living neurons, median over {len(gaps)} networks; by network "
        f"{', '.join(f'{gap:.3f}' for gap in gaps)}, {int((gaps > CLOSE).sum())} above {CLOSE}. "
        f"Of all living neurons {float(at[f'close_share_{noise}'].mean()):.0%} are within {CLOSE}, "
        f"of those whose weights have doubled {float(at[f'close_grown_{noise}'].mean()):.0%}, and "
        f"the first {FOLLOWED} of these have the median {np.median(grown):.3f}; p={int(at.p)}, "
        f"h={int(at.h)}"
    )
