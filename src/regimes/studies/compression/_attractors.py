"""The attractors of the single stripe (docs/themes/compression.md, "Fixed points")."""

from __future__ import annotations

from statistics import NormalDist

import regimes as rg
from regimes.lab import draw
from regimes.studies._types import FixedPoint

EDGES = (-0.3, NormalDist().inv_cdf(NormalDist().cdf(-0.3) + 0.5))  # of the balanced stripe
CLASSES = ((1, -1), (1, 1), (-1, 1))  # signs of w_1 and beta, in the order of the table
NAMES = ("w₁ > 0, β < 0", "w₁ > 0, β > 0", "w₁ < 0, β > 0")
COLOURS = (draw.BLUE, draw.ORANGE, draw.GREEN)

# d -> z* and tau/tau* of the three classes.
TABLE = {
    2: ((-1.2262, 0.2376), (0.6466, 0.0786), (0.4500, 0.4221)),
    3: ((-1.3355, 0.2577), (0.6663, 0.0810), (0.5082, 0.4295)),
    5: ((-1.4805, 0.2810), (0.6848, 0.0833), (0.5705, 0.4373)),
    10: ((-1.6870, 0.3077), (0.7010, 0.0851), (0.6328, 0.4449)),
}


def fastest_attractor(d: int) -> FixedPoint:
    """The attractor of the stripe whose neurons grow fastest."""
    return rg.theory.dominant(rg.theory.stripe_fixed_points(*EDGES, d))
