"""Best exits of the column of confidence on all of [Geiger 2022, fig. 2], against a search.

Run `python benchmarks/ccp_opt.py`. The left panel has 2 gaps, 3 heights and 20 resets, the right
one 2 gaps, 3 resets and 16 heights: 216 minima. Ours are roots of quadratic equations, one call for
each panel; the other way is scipy's `minimize_scalar` around a banded solve of the walk, point by
point. CPU times of rounds side by side in one process; the target is 20 s.
"""

from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import torch
from _machine import options, save, times_of
from scipy.linalg import solve_banded
from scipy.optimize import minimize_scalar

from regimes.decide import BestExit, ccp_opt

GAPS = [0.1, 0.2]
LEFT = ([5, 10, 20], [2.0**-power for power in range(20, 0, -1)])
RIGHT = ([1, 2, 3, 4, 5, 7, 9, 11, 14, 17, 20, 23, 26, 29, 33, 37], [1e-6, 1e-4, 1e-2])
TARGET = 20.0  # seconds of two cores


def at_once() -> list[BestExit]:
    """Both panels, each (gaps, heights, resets)."""
    gaps = torch.tensor(GAPS, dtype=torch.float64)[:, None, None]
    return [
        ccp_opt(torch.tensor(heights)[:, None], gaps, torch.tensor(resets, dtype=torch.float64))
        for heights, resets in (LEFT, RIGHT)
    ]


def one_by_one() -> list[tuple[float, float]]:
    """The same (eps, q) in the same order, by search."""
    return [
        searched(*point)
        for heights, resets in (LEFT, RIGHT)
        for point in itertools.product(GAPS, heights, resets)
    ]


def searched(mu: float, levels: int, r: float) -> tuple[float, float]:
    """The minimum over ln eps of the wrong plays."""
    found = minimize_scalar(
        lambda log: wrong(mu, levels, r, math.exp(log)),
        bounds=(math.log(r) - 1, 0.0),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return math.exp(found.x), float(found.fun)


def wrong(mu: float, levels: int, r: float, eps: float) -> float:
    """Mass on the side of the worse arm, by a banded solve of the walk."""
    good, bad = (1 + mu) / 2, (1 - mu) / 2
    down = np.repeat([good, good], levels)  # towards MA: A rewards, B does not
    up = np.repeat([bad, bad], levels)
    down[0], up[0], down[-1], up[-1] = 0.0, up[0] * eps, down[-1] * eps, 0.0
    bands = np.zeros((3, 2 * levels))
    bands[0, 1:] = -(1 - r) * down[1:]
    bands[1] = 1 - (1 - r) * (1 - down - up)
    bands[2, :-1] = -(1 - r) * up[:-1]
    start = np.zeros(2 * levels)
    start[levels - 1 : levels + 1] = r / 2
    return float(solve_banded((1, 1), bands, start)[levels:].sum())


def main() -> None:
    """Check that both agree, time both, print and save the ratio."""
    recorded = options(__doc__).parse_args().record
    q = torch.cat([panel.q.flatten() for panel in at_once()])
    expected = torch.tensor([each for _, each in one_by_one()], dtype=torch.float64)
    apart = float((q / expected - 1).abs().max())
    rounds = [(times_of(at_once, 0.2), times_of(one_by_one)) for _ in range(3)]
    wall = statistics.median(ours[0] for ours, _ in rounds)
    cpu, search = (statistics.median(each[i][1] for each in rounds) for i in (0, 1))
    ratio = statistics.median(search[1] / ours[1] for ours, search in rounds)
    print(f"{len(q)} minima: ours {wall:.4f} s (target {TARGET:g} s), CPU {cpu:.4f} s")
    print(f"search around a banded solve: CPU {search:.2f} s; {ratio:.0f} times ours")
    print(f"largest relative difference of q: {apart:.1e}")
    save(
        "ccp_opt",
        {
            "minima": len(q),
            "seconds": wall,
            "target_seconds": TARGET,
            "cpu_seconds": cpu,
            "search_cpu_seconds": search,
            "ratio": ratio,
            "largest_relative_difference": apart,
        },
        recorded,
    )


if __name__ == "__main__":
    main()
