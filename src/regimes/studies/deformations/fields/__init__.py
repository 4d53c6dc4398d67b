"""The ensemble of smooth deformations: its norm, displacements, and where it is bijective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies._types import Tensor

RULES = ("half", "sharp")
BORDER = (0.25, 1.0, 4.0)  # temperatures over T_max at which fields are counted
TORN = (1.0, 30.0)  # the same for the disc
SHAPE = 128  # points a side on which the disc is drawn


@dataclass(frozen=True)
class Params:
    """Scanned: seed. Fixed: numbers of fields, and the cut-offs of each law."""

    seed: tuple[int, ...] = (0, 1)
    fields: int = 20  # of the norm without cut-off, of max Xi, and of the borders
    many: int = 100  # of sums over modes, which need no map
    discs: int = 8
    norm_cuts: tuple[float, ...] = (3.0, 10.0)
    move_cuts: tuple[float, ...] = (3.0, 15.0)
    far_cuts: tuple[float, ...] = (15.0, 30.0, 300.0)
    xi_cuts: tuple[float, ...] = (3.0, 5.0)
    border_cuts: tuple[float, ...] = (5.0, 10.0)
    n: int = 32
    T: float = 1e-3


@study(
    "deformations/fields",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=tuple(range(10)),
            fields=300,
            many=5000,
            discs=200,
            norm_cuts=(3.0, 10.0, 30.0),
            xi_cuts=(3.0, 5.0, 10.0, 15.0, 30.0),
        ),
        "paper": Params(
            seed=tuple(range(10)),
            fields=500,
            many=10_000,
            discs=500,
            norm_cuts=(3.0, 10.0, 30.0, 100.0, 300.0),
            far_cuts=(15.0, 30.0, 100.0, 300.0),
            xi_cuts=(3.0, 5.0, 10.0, 15.0, 30.0, 100.0),
            n=320,
        ),
    },
    axes=[Axis("seed")],
)
class Fields:
    """Random smooth displacements of images: how much they bend, how far they move, when they fold.

    Every mode has the same energy. Displacements grow as the root of temperature times the
    logarithm of the cut-off; above a temperature T_max fields stop being bijective.

    The paper: [Petrini 2021, sec. 2 and apps. A to C, figs. 1 and 8].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """All laws on the fields of one seed."""
        seed = point.seed
        arrays = _norms(params, seed) | _displacements(params, seed) | _edges(params, seed)
        arrays |= _foldings(params, seed) | _discs(params, seed)
        return TrialResult(_identities(params, seed), arrays)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Fine grids take most of the time."""
        return float(params.fields * max(params.xi_cuts) ** 2)


def _drawn(n: int, T: float, c: float | None, batch: int, rule: str, seed: int, stream: str) -> Any:
    import torch

    from regimes import data
    from regimes._random import generator

    source = generator(seed, f"fields/{stream}/{c}/{rule}")
    return data.sample_field(n, T, c, batch, rule, source, torch.float64)


def _norms(params: Params, seed: int) -> dict[str, Array]:
    """DEF-01 and -02: the mean of `int |grad tau|^2`, by coefficients and on a grid."""
    import math

    from regimes import data

    whole = _drawn(params.n, params.T, None, params.fields, "square", seed, "norm")
    grid = sum(
        float(part.grad(2 * params.n + 1)[..., :-1, :-1].square().sum((1, 2)).mean((1, 2)).sum())
        for part in _pieces(whole, 50)
    )
    sampled = [
        [
            float(_drawn(8, 1.0, c, params.many // 5, rule, seed, "cut").norm2().mean())
            / data.mean_norm2(1.0, c, mode_rule=rule)
            for c in params.norm_cuts
        ]
        for rule in RULES
    ]
    asymptote = [
        [
            data.mean_norm2(1.0, c, mode_rule=rule) / (math.pi**3 / 8 * c**2)
            for c in params.norm_cuts
        ]
        for rule in RULES
    ]
    law = math.pi**2 / 2 * params.n**2 * params.T
    return {
        "norm_whole": Array("way", [float(whole.norm2().mean()) / law, grid / len(whole) / law]),
        "norm_sampled": Array(("rule", "norm_cut"), sampled),
        "norm_asymptote": Array(("rule", "norm_cut"), asymptote),
        "norm_cut": Array("norm_cut", params.norm_cuts),
    }


def _displacements(params: Params, seed: int) -> dict[str, Array]:
    """DEF-05: mean squared displacements over their exact sums, and these over the law."""
    from regimes import data

    average, centre = [], []
    for rule in RULES:
        for c in params.move_cuts:
            field = _drawn(3, 1.0, c, params.many, rule, seed, "move")
            over = field.coefficients.square().sum((1, 2, 3)).mean() / 4  # int |tau|^2 of sines
            middle = (field.pixels()[..., 1, 1] / field.n).square().sum(1).mean()
            average.append(float(over) / data.displacement2(1.0, c, 1, "average", rule))
            centre.append(float(middle) / data.displacement2(1.0, c, 1, "centre", rule))
    shape = (len(RULES), len(params.move_cuts))
    far = {
        f"far_{kind}": Array(
            ("rule", "far_cut"),
            [
                [
                    data.displacement2(1.0, c, 1, kind, rule)
                    - data.displacement2(1.0, c, 1, "asymptotic")
                    for c in params.far_cuts
                ]
                for rule in RULES
            ],
        )
        for kind in ("average", "centre")
    }
    return {
        "move_average": Array(("rule", "move_cut"), _shaped(average, shape)),
        "move_centre": Array(("rule", "move_cut"), _shaped(centre, shape)),
        "move_cut": Array("move_cut", params.move_cuts),
        "far_cut": Array("far_cut", params.far_cuts),
        **far,
    }


def _edges(params: Params, seed: int) -> dict[str, Array]:
    """DEF-07 and -08: the median of max Xi over its law, and shares of bijective fields."""
    import math

    import torch

    from regimes import data

    ratio = torch.zeros(len(RULES), len(params.xi_cuts), dtype=torch.float64)
    share = torch.zeros(len(RULES), len(params.border_cuts), len(BORDER), dtype=torch.float64)
    for row, rule in enumerate(RULES):
        for column, c in enumerate(params.xi_cuts):
            law = c / 2 * math.sqrt(math.pi**3 * math.log(c))
            ratio[row, column] = _largest(params, c, rule, seed).median() / law
        for column, c in enumerate(params.border_cuts):
            top = _largest(params, c, rule, seed)
            heat = data.bijective_temperature(c)
            for k, times in enumerate(BORDER):
                share[row, column, k] = (top * math.sqrt(times * heat) < 1).double().mean()
    return {
        "xi_ratio": Array(("rule", "xi_cut"), ratio),
        "xi_cut": Array("xi_cut", params.xi_cuts),
        "bijective": Array(("rule", "border_cut", "times_border"), share),
        "border_cut": Array("border_cut", params.border_cuts),
        "times_border": Array("times_border", BORDER),
    }


def _largest(params: Params, c: float, rule: str, seed: int) -> Tensor:
    """The largest Xi of every field at T = 1, on a grid of eight points a mode."""
    import torch

    field = _drawn(2, 1.0, c, params.fields, rule, seed, "xi")
    side = max(params.n, int(8 * c))
    return torch.cat([part.xi(side).amax((1, 2)) for part in _pieces(field, 25)])


def _foldings(params: Params, seed: int) -> dict[str, Array]:
    """Means of energies of every mode: DEF-03."""
    import torch

    field = _drawn(8, 1.0, 4.0, params.many * 2, "half", seed, "modes")
    number = torch.arange(1, field.coefficients.shape[-1] + 1, dtype=torch.float64) ** 2
    energy = field.coefficients.square().mean(0) * (number[:, None] + number)
    kept = energy[0] > 0
    away = (energy[:, kept] - 1) / (2 / len(field)) ** 0.5
    return {"mode_deviation": Array("mode", away.flatten())}


def _discs(params: Params, seed: int) -> dict[str, Array]:
    """DEF-09: the share of discs that stay one piece in one piece of surroundings."""
    import torch
    from scipy.ndimage import label

    from regimes import data

    pixel = torch.arange(SHAPE, dtype=torch.float64) / (SHAPE - 1)
    whole = torch.zeros(len(params.border_cuts), len(TORN), dtype=torch.float64)
    for row, c in enumerate(params.border_cuts):
        for column, times in enumerate(TORN):
            heat = times * data.bijective_temperature(c)
            field = _drawn(SHAPE, heat, c, params.discs, "half", seed, f"disc/{times}")
            u, v = pixel - field.dx / SHAPE, pixel[:, None] - field.dy / SHAPE
            inside = ((u - 0.5) ** 2 + (v - 0.5) ** 2 < 1 / 16).numpy()
            kept = sum(label(each)[1] == label(~each)[1] == 1 for each in inside)
            whole[row, column] = kept / len(inside)
    return {
        "disc_whole": Array(("border_cut", "times_torn"), whole),
        "times_torn": Array("times_torn", TORN),
    }


def _identities(params: Params, seed: int) -> dict[str, float]:
    """DEF-04, -06 and -10."""
    import torch

    from regimes import data
    from regimes.data import participation_ratio

    field = _drawn(28, 0.3, 10.0, params.many // 5, "half", seed, "frame")
    moved = field.pixels()
    sides = (moved[..., 0, :], moved[..., -1, :], moved[..., 0], moved[..., -1])
    both = torch.stack([field.dx.flatten(), field.dy.flatten()])
    lowest = max(
        abs(data.displacement2(data.visible_temperature(c, n), c, n) ** 0.5 - 0.5)
        for c, n in ((3, 28), (10, 32), (100, 320))
    )
    return {
        "frame": max(float(side.abs().max()) for side in sides),
        "correlation": float(torch.corrcoef(both)[0, 1]),
        "variance_ratio": float(both[0].var() / both[1].var()),
        "half_a_pixel": lowest,
        "participation": participation_ratio(0.4715),
    }


def _pieces(field: Any, size: int) -> Any:
    """The same fields a few at a time, for maps that need memory."""
    from regimes.data import Field

    return [Field(part, field.n) for part in field.coefficients.split(size)]


def _shaped(values: list[float], shape: tuple[int, int]) -> Tensor:
    import torch

    return torch.tensor(values, dtype=torch.float64).view(shape)
