"""Verdicts on other losses: LAND-13, LAND-16 and LAND-65.

Protocols are in docs/themes/landscape.md, "Other losses".
"""

from itertools import pairwise

import numpy as np

from regimes.lab import Data, judge, rows
from regimes.studies.landscape.losses import _scans as scans

MARGINS = (0.0, 0.1, 0.2, 0.4)

claim = judge.Claims()


@claim("LAND-13", "N* of cross-entropy over that of the hinge in [0.6, 1.6], P = 500")
def _alike(dataset: Data) -> judge.Parts:
    (entropy, told), (hinge, other) = (scans.star(dataset, name) for name in ("entropy", "hinge"))
    yield judge.within("N* of cross-entropy over that of the hinge", entropy / hinge, 0.6, 1.6)
    return f"L = 2, d = 10, the same steps; cross-entropy {told}, hinge {other}"


@claim("LAND-16", "cross-entropy: no errors, loss > 0, weights grow on; hinge: weights rest")
def _growth(dataset: Data) -> judge.Parts:
    entropy, hinge = (
        rows(dataset, "growth", kind=name).isel(trial=0) for name in ("cross_entropy", "hinge")
    )
    norms, rest = (each.norm.transpose("seed", "octave").values for each in (entropy, hinge))
    growth = np.diff(np.log(norms[np.isfinite(norms).all(1)]), axis=1)
    yield judge.above("growth of log |W| in an octave, mean", judge.mean_of(growth.mean(1)), 1e-9)
    yield judge.above("the same, smallest of all", growth.min(), 1e-9)
    yield judge.below("misclassified points", float(entropy.wrong.max()), 0.0)
    yield judge.above("loss at the end, smallest", float(entropy.final_loss.min()), 1e-300)
    moved = np.abs(np.log(rest[:, -1] / rest[:, -2]))
    yield judge.below("hinge: change of log |W| in the last octave", np.nanmax(moved), 1e-12)
    yield judge.below("hinge: loss at the end", float(hinge.final_loss.max()), 0.0)
    octaves = ", ".join(f"{each:.3f}" for each in growth.mean(0))
    return f"{len(growth)} seeds; mean growth in the last three octaves {octaves}"


@claim("LAND-65", "with a fixed norm of the output N* grows with the margin")
def _margin(dataset: Data) -> judge.Parts:
    found = {margin: scans.star(dataset, "norm", margin=margin) for margin in MARGINS}
    stars = [measured for measured, _ in found.values()]
    yield judge.above("N* at margin 0.4 over that at 0", stars[-1] / stars[0], 1.0)
    least = min((after / before).value for before, after in pairwise(stars))
    yield judge.above("smallest rise from margin to margin", least, 1.0)
    return "; ".join(f"margin {margin:g}: N* {told}" for margin, (_, told) in found.items())
