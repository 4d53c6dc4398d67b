"""Random smooth displacement fields of images, with their exact derivatives."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import instance, positive_int, shown
from regimes.data._dataset import float_dtype
from regimes.data._modes import inverse_squares

_WHOLE = 2**21  # entries of a table of all modes on the grid


@dataclass(frozen=True, eq=False)
class Field:
    """Displacement fields of a batch, by their coefficients: the same at every resolution.

    `tau_u(u, v) = sum_ij C_ij sin(i pi u) sin(j pi v)` and `tau_v` likewise with D
    [Petrini 2021, eq. 2], with u along a row of pixels and v down a column, both in [0, 1].
    """

    coefficients: Tensor  # (batch, 2, m, m): C and D, [i - 1, j - 1]
    n: int  # pixels a side

    def __len__(self) -> int:
        """Fields of the batch."""
        return len(self.coefficients)

    def at(self, n: int) -> Field:
        """The same continuous fields on an image of another size."""
        return Field(self.coefficients, positive_int("n", n, least=2))

    @property
    def dx(self) -> Tensor:
        """Displacement along rows in pixels, `n tau_u` at pixel [row, column], (batch, n, n)."""
        return self.pixels()[:, 0]

    @property
    def dy(self) -> Tensor:
        """Displacement down the columns in pixels, `n tau_v`, (batch, n, n)."""
        return self.pixels()[:, 1]

    def pixels(self) -> Tensor:
        """Both displacements in pixels, (batch, 2, n, n): `dx` and `dy`."""
        scaled = Field(self.n * self.coefficients, self.n)  # fewer numbers to scale than pixels
        return scaled._maps(self.n, "sin", "sin")

    def grad(self, points: int | None = None) -> Tensor:
        """Exact derivatives, (batch, 2, 2, points, points).

        Args:
            points: of the grid, a side; None takes the pixels.

        Returns:
            `[:, a, b]` is the derivative of component a along coordinate b, both in (u, v), without
            unit: no pixels and no finite differences enter.
        """
        side = self.n if points is None else positive_int("points", points, least=2)
        along_u = self._maps(side, "cos", "sin", by=0)
        along_v = self._maps(side, "sin", "cos", by=1)
        return torch.stack([along_u, along_v], 2)

    def norm2(self) -> Tensor:
        """`int |grad tau|^2 = (pi^2/4) sum_ij (C_ij^2 + D_ij^2) (i^2 + j^2)`, (batch,).

        [Petrini 2021, eqs. 1 and 7].
        """
        number = torch.arange(1, self.coefficients.shape[-1] + 1).to(self.coefficients) ** 2
        weights = number[:, None] + number
        return math.pi**2 / 4 * (self.coefficients**2 * weights).sum((1, 2, 3))

    def xi(self, points: int | None = None) -> Tensor:
        """The largest eigenvalue of the symmetric part of `grad tau`, (batch, points, points).

        Where it is below one everywhere, no direction is turned by a right angle or more: the field
        is bijective [Petrini 2021, eqs. 11 and 12, with the sign of the trace for images that are
        read at `s - tau(s)`].

        Args:
            points: of the grid, a side; None takes `max(n, 8 m)` with m the modes of an axis, as
                maxima slip through a coarse grid.
        """
        (uu, uv), (vu, vv) = self._jacobian(points)
        return (torch.sqrt((uu - vv) ** 2 + (uv + vu) ** 2) + uu + vv) / 2

    def is_diffeomorphism(self, criterion: str = "angle", points: int | None = None) -> Tensor:
        """Whether every field of the batch is bijective, (batch,) booleans.

        Args:
            criterion: "angle" (`max Xi < 1`, sufficient), "determinant" (`det(1 - grad tau) > 0`
                everywhere, so that nothing is turned over), or "norm" (`max |d_b tau_a| < 1`).
            points: as in `xi`.
        """
        if criterion == "angle":
            return self.xi(points).amax((1, 2)) < 1
        (uu, uv), (vu, vv) = jacobian = self._jacobian(points)
        if criterion == "determinant":
            return ((1 - uu) * (1 - vv) - uv * vu).amin((1, 2)) > 0
        if criterion == "norm":
            return torch.stack([d.abs().amax((1, 2)) for row in jacobian for d in row]).amax(0) < 1
        raise ValueError(
            f'criterion must be "angle", "determinant" or "norm", got {shown(criterion)}'
        )

    def _jacobian(self, points: int | None) -> tuple[tuple[Tensor, ...], ...]:
        fine = max(self.n, 8 * self.coefficients.shape[-1])
        d = self.grad(fine if points is None else points)
        return (d[:, 0, 0], d[:, 0, 1]), (d[:, 1, 0], d[:, 1, 1])

    def _maps(self, side: int, over_u: str, over_v: str, by: int | None = None) -> Tensor:
        """`S C S^T` of both components, (batch, 2, side, side), [row v, column u]."""
        found = self.coefficients
        if by is not None:
            number = torch.arange(1, found.shape[-1] + 1).to(found) * math.pi
            found = found * (number[:, None] if by == 0 else number)
        m, where = found.shape[-1], (found.dtype, found.device)
        if m**2 * side**2 <= _WHOLE:  # one product for all fields, where products of modes fit
            return (found.flatten(2) @ _waves(side, m, over_u, over_v, *where)).unflatten(
                -1, (side, side)
            )
        u, v = _table(side, m, over_u, *where), _table(side, m, over_v, *where)
        return v @ (u @ found).mT  # (u @ C)[x, j], turned to [j, x], summed over j


@functools.lru_cache(maxsize=8)
def _waves(
    side: int, modes: int, over_u: str, over_v: str, dtype: torch.dtype, device: torch.device
) -> Tensor:
    """Every mode on the grid, (modes^2, side^2): [(i, j), (row v, column u)]."""
    u, v = (_table(side, modes, kind, dtype, device) for kind in (over_u, over_v))
    return torch.einsum("xi,yj->ijyx", u, v).reshape(modes**2, side**2)


@functools.lru_cache(maxsize=32)
def _table(side: int, modes: int, kind: str, dtype: torch.dtype, device: torch.device) -> Tensor:
    """`sin(i pi a/(side-1))` or the cosine of pixel a and mode i, (side, modes).

    Angles are reduced as whole numbers first, so that the frame is exactly at rest.
    """
    period = 2 * (side - 1)
    turns = torch.arange(side)[:, None] * torch.arange(1, modes + 1) % period
    angle = turns.double() * (math.pi / (side - 1))
    if kind == "sin":
        table = torch.where(turns % (side - 1) == 0, 0.0, torch.sin(angle))
    else:
        table = torch.cos(angle)
    return table.to(dtype).to(device)


def sample_field(
    n: int,
    T: float | Tensor,
    c: float | None,
    batch: int = 1,
    mode_rule: str = "half",
    generator: torch.Generator | None = None,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> Field:
    """Draw smooth displacement fields at temperature T [Petrini 2021, eq. 2].

    `C_ij, D_ij ~ N(0, T/(i^2+j^2))`: the fields of largest entropy at a given mean of
    `|grad tau|^2`, in which every mode has the same energy [Petrini 2021, app. A].

    Args:
        n: pixels a side.
        T: temperature, one for all or one for each field, (batch,).
        c: cut-off, the number of oscillations; None for the rule "square".
        batch: number of fields.
        mode_rule: "half" keeps modes with `sqrt(i^2+j^2) < c + 1/2`, "sharp" those with
            `i^2+j^2 <= c^2`, "square" all up to n.
        generator: of the draws. The same state gives the same continuous field for every n, dtype
            and device (but for "square", whose modes depend on n). None seeds one with 0.
        dtype: of the fields.
        device: of the fields; None takes the device of T, or the CPU.

    Returns:
        The fields.

    Raises:
        ValueError: for sizes, temperatures, cut-offs or rules that do not fit.

    Example:
        >>> field = sample_field(28, T=1e-3, c=3, batch=100)
        >>> field.dx.shape, bool(field.is_diffeomorphism().all())
        (torch.Size([100, 28, 28]), True)
    """
    n, batch = positive_int("n", n, least=2), positive_int("batch", batch)
    float_dtype(dtype)
    if generator is None:
        generator = torch.Generator().manual_seed(0)
    instance("generator", generator, torch.Generator, "a torch.Generator or None")
    spread = inverse_squares(c, mode_rule, n).sqrt()
    heat = temperatures(T, batch)
    own = heat.device if isinstance(T, Tensor) else torch.device("cpu")
    where = own if device is None else torch.device(device)
    drawn = torch.randn(
        batch, 2, *spread.shape, generator=generator, dtype=torch.float64, device=generator.device
    )
    drawn = drawn.to(where) * spread.to(where)
    scale = heat.to(device=where, dtype=torch.float64).sqrt()
    return Field((drawn * scale[:, None, None, None]).to(dtype), n)


def temperatures(T: float | Tensor, batch: int) -> Tensor:
    """One checked temperature for each field of a batch."""
    heat = torch.as_tensor(T, dtype=None if isinstance(T, Tensor) else torch.float64)
    if not heat.is_floating_point() or heat.ndim > 1 or (heat.ndim == 1 and len(heat) != batch):
        raise ValueError(f"T must be a number or a tensor of {batch} temperatures, got {shown(T)}")
    if not bool(((heat >= 0) & torch.isfinite(heat)).all()):
        raise ValueError(f"T must not be negative, infinite or NaN, got {shown(T)}")
    return heat.expand(batch) if heat.ndim == 0 else heat
