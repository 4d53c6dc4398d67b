"""Verdicts on the kernel while a disk is learned."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, judge

SLOW, FAST = 0.0125, 0.05

claim = judge.Claims()


def _at(dataset: Data, rate: float) -> Data:
    found = judge.need(dataset, "ratio", rate=rate)
    return judge.where_ran(found, "seed", "ratio")


def _over(at: Data, name: str) -> np.ndarray:
    found: np.ndarray = at[name].transpose("seed", "point").values
    return found


@claim("ALI-07", "twentieth eigenvalue 1.0 to 2.2 % of the first before training")
def _start(dataset: Data) -> judge.Parts:
    at = _at(dataset, SLOW)
    ratio = 100 * _over(at, "ratio")[:, 0]
    yield judge.within("%, median", judge.median_of(ratio), 1.0, 2.2)
    plain = 100 * np.median(_over(at, "ratio_uncentred")[:, 0])
    return f"{ratio.min():.2f} to {ratio.max():.2f}, not centred {plain:.3f}; {len(ratio)} seeds"


@claim("ALI-08", "at rate 0.0125 the ratio halves at least, with 95 % of the training points right")
def _sharper(dataset: Data) -> judge.Parts:
    at = _at(dataset, SLOW)
    ratio, right = _over(at, "ratio"), _over(at, "accuracy")
    yield judge.below("ratio, end / start", judge.log_mean(ratio[:, -1] / ratio[:, 0]), 0.5)
    yield judge.above("training points right at the end", judge.mean_of(right[:, -1]), 0.95)
    plain = _over(at, "ratio_uncentred")
    told = ""
    for rate in dataset.rate.values:
        other = _over(_at(dataset, float(rate)), "ratio")
        told += f"; rate {rate:g}: {100 * np.median(other[:, 0]):.2f} % to "
        told += (
            f"{100 * np.median(other[:, -1]):.2f} %, least {100 * np.median(other.min(1)):.2f} %"
        )
    grown = np.median(plain[:, -1] / plain[:, 0])
    return f"centred; not centred the ratio grows {grown:.1f} times{told}; {len(ratio)} seeds"


@claim("ALI-09", "at rate 0.05 the alignment doubles, and the label enters the top five modes")
def _circle(dataset: Data) -> judge.Parts:
    at = _at(dataset, FAST)
    alignment, overlap = _over(at, "alignment"), _over(at, "overlap")
    gain = judge.log_mean(alignment.max(1) / alignment[:, 0])
    yield judge.above("peak alignment with the labels of the grid / start", gain, 2.0)
    rise = judge.mean_of(overlap[:, -1] - overlap[:, 0])
    yield judge.above("rise of the label's share in one of the top five", rise, 0.0)
    return (
        f"alignment {alignment[:, 0].mean():.3f}, most {alignment.max(1).mean():.3f}, end "
        f"{alignment[:, -1].mean():.3f}; share {overlap[:, 0].mean():.2f} to "
        f"{overlap[:, -1].mean():.2f}; {len(alignment)} seeds"
    )
