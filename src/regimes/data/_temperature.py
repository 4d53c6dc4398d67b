"""From temperature and cut-off to displacements in pixels, and back; where fields are bijective."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import choose, positive_int, real
from regimes.data._displacement import sample_field
from regimes.data._modes import inverse_squares, mode_sums

_DEFINITIONS = {"asymptotic": 0, "average": 1, "centre": 2}


def displacement2(
    T: float, c: float, n: int, definition: str = "asymptotic", mode_rule: str = "half"
) -> float:
    """The mean squared displacement in pixels, `delta^2`, of fields at temperature T.

    - "asymptotic": `(pi/4) n^2 T ln c`, that of many modes [Petrini 2021, eq. 3];
    - "average": over the image, `(n^2 T/2) sum 1/(i^2+j^2)`, exact;
    - "centre": at the middle of the image, `2 n^2 T` times the sum over odd i and j, exact.

    Args:
        T: temperature.
        c: cut-off; above one for "asymptotic".
        n: pixels a side.
        definition: one of the three.
        mode_rule: as in `sample_field`; "asymptotic" does not know it.

    Returns:
        `delta^2` in pixels squared.

    Example:
        >>> kinds = ("asymptotic", "average", "centre")
        >>> [round(displacement2(1, 3, 1, kind), 4) for kind in kinds]
        [0.8628, 0.6125, 1.4]
    """
    heat, side = real("T", T), positive_int("n", n)
    if heat < 0:
        raise ValueError(f"T must not be negative, got {T!r}")
    return heat * side**2 * _coefficient(c, definition, mode_rule)


def temperature(
    delta: float, c: float, n: int, definition: str = "asymptotic", mode_rule: str = "half"
) -> float:
    """The temperature at which the typical displacement is `delta` pixels.

    The inverse of `displacement2`. The default is `T = 4 delta^2/(pi n^2 ln c)`
    [Petrini 2021, eq. 3].

    Args:
        delta: displacement in pixels.
        c: cut-off.
        n: pixels a side.
        definition: as in `displacement2`.
        mode_rule: as in `sample_field`.

    Returns:
        T.

    Example:
        >>> T = temperature(1.0, c=3, n=28)
        >>> round(displacement2(T, c=3, n=28), 12)
        1.0
    """
    wanted, side = real("delta", delta), positive_int("n", n)
    if wanted < 0:
        raise ValueError(f"delta is a length in pixels and cannot be negative, got {delta!r}")
    return wanted**2 / (side**2 * _coefficient(c, definition, mode_rule))


def _coefficient(c: float, definition: str, mode_rule: str) -> float:
    choose(definition, _DEFINITIONS, "definition of the displacement")
    if mode_rule == "square" and definition != "asymptotic":
        raise ValueError('displacements are for a cut-off c; mode_rule="square" has none')
    if definition == "asymptotic":
        if not real("c", c) > 1:
            raise ValueError(
                f"the asymptotic displacement (pi/4) n^2 T ln c needs c > 1, got {c!r}; "
                'definition="average" is exact for every c'
            )
        return math.pi / 4 * math.log(c)
    weights = inverse_squares(c, mode_rule)
    if definition == "average":
        return float(weights.sum()) / 2
    return 2 * float(weights[::2, ::2].sum())


def mean_norm2(T: float, c: float | None, n: int | None = None, mode_rule: str = "half") -> float:
    """`E int |grad tau|^2 = (pi^2/2) T N` of N modes, exactly.

    For many modes `(pi^3/8) c^2 T`, and `(pi^2/2) n^2 T` for "square" [Petrini 2021, sec. 2.1].

    >>> round(mean_norm2(1e-3, None, n=32, mode_rule="square"), 3)
    5.053
    """
    return math.pi**2 / 2 * real("T", T) * mode_sums(c, mode_rule, n)[0]


def visible_temperature(c: float, n: int) -> float:
    """`T_min = 1/(pi n^2 ln c)`: pixels move by a half [Petrini 2021, eq. 8].

    >>> round(displacement2(visible_temperature(3, 28), c=3, n=28), 12)
    0.25
    """
    return temperature(0.5, c, n)


def bijective_temperature(c: float) -> float:
    """`T_max = 4/(pi^3 c^2 ln c)`: half of the fields are bijective [Petrini 2021, eq. 14].

    It follows from the law `(c/2) sqrt(pi^3 T ln c)` for the median of `max Xi`
    [Petrini 2021, eq. 13].

    >>> round(bijective_temperature(10.0), 6)
    0.00056
    """
    if not real("c", c) > 1:
        raise ValueError(f"the border of bijective fields is known for c > 1, got {c!r}")
    return 4 / (math.pi**3 * c**2 * math.log(c))


@dataclass(frozen=True, eq=False)
class DeformationMap:
    """What fields do over the plane of cut-off and temperature, [c, T]."""

    c: Tensor  # (n_c,)
    T: Tensor  # (n_T,)
    bijective: Tensor  # share of the draws whose max Xi is below one
    xi: Tensor  # median over draws of max Xi
    average: Tensor  # root of the mean squared displacement, in pixels
    centre: Tensor  # the same at the middle of the image
    norm2: Tensor  # mean of int |grad tau|^2
    lowest: Tensor  # (n_c,), T_min: visible
    highest: Tensor  # (n_c,), T_max: bijective
    samples: int


def phase_diagram(
    n: int,
    c_grid: Sequence[float],
    T_grid: Sequence[float],
    samples: int = 100,
    mode_rule: str = "half",
    seed: int = 0,
) -> DeformationMap:
    """Which deformations can be seen, and which are bijective [Petrini 2021, fig. 1].

    Everything about a field is a multiple of `sqrt(T)`, so one set of draws at each cut-off serves
    all temperatures.

    Args:
        n: pixels a side.
        c_grid: cut-offs, above one.
        T_grid: temperatures.
        samples: draws at each cut-off.
        mode_rule: as in `sample_field`.
        seed: of the draws.

    Returns:
        The map with its two borders.

    Example:
        >>> found = phase_diagram(28, [3], [1e-4, 1e-1], samples=50)
        >>> found.bijective.tolist()
        [[1.0, 0.0]]
    """
    heats = torch.tensor([real("a temperature", t, above=0) for t in T_grid], dtype=torch.float64)
    rows = []
    for number, c in enumerate(c_grid):
        source = torch.Generator().manual_seed(1_000_003 * seed + number)
        field = sample_field(n, 1.0, c, samples, mode_rule, source, torch.float64)
        top = field.xi().amax((1, 2)) * heats[:, None].sqrt()  # (n_T, samples)
        move = field.pixels().square().sum(1)
        odd = field.at(3).pixels()[..., 1, 1] * n / 3  # the middle of the image, whatever n
        rows.append(
            (
                (top < 1).double().mean(1),
                top.median(1).values,
                (heats * move.mean()).sqrt(),
                (heats * odd.square().sum(1).mean()).sqrt(),
                heats * field.norm2().mean(),
            )
        )
    bijective, xi, average, centre, norm2 = (
        torch.stack(column) for column in zip(*rows, strict=True)
    )
    lowest = torch.tensor([visible_temperature(c, n) for c in c_grid], dtype=torch.float64)
    highest = torch.tensor([bijective_temperature(c) for c in c_grid], dtype=torch.float64)
    cuts = torch.tensor([float(c) for c in c_grid], dtype=torch.float64)
    return DeformationMap(
        cuts, heats, bijective, xi, average, centre, norm2, lowest, highest, samples=samples
    )
