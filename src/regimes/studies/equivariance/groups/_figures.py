"""How many maps there are between fields, kernels as arrows, and how exact architectures are."""

from __future__ import annotations

from typing import Any

import numpy as np

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.equivariance.groups._finite import CASES, TABLE, TWELVE, WAYS
from regimes.studies.equivariance.groups._pictures import SHOWN

_COLUMNS = 4
_TINY = 1e-17  # an error of zero is drawn there


def _first(dataset: Data, name: str) -> Any:
    """What only one of the seeds has kept."""
    at = judge.where_ran(dataset, "seed", name)
    return at.isel(seed=0)


def _table(dataset: Data) -> Figure:
    caption = (
        "How many linear maps between fields on a cube commute with its 24 rotations. Fields live "
        "on faces, edges or corners, on the body as a whole, or on the rotations themselves "
        "(nothing). Their values are numbers (trivial), arrows (tangent, vector), or functions of "
        "the rotations that keep the place (regular). A network has so many weights for a pair "
        "of fields, and not one more."
    )
    found = _first(dataset, "cube_maps").cube_maps.transpose("out", "given").values
    figure = draw.axes("field that goes in", "field that comes out", caption=caption, height=620)
    names = list(TABLE)
    figure.add_heatmap(
        x=names, y=names, z=np.log2(1 + found), colorscale="Blues", showscale=False,
        text=found.astype(int), texttemplate="%{text}",
        hovertemplate="%{x} to %{y}: %{text}<extra></extra>",
    )  # fmt: skip
    return figure


def _ways(dataset: Data) -> Figure:
    caption = (
        "The same number found in five ways: the null space of all maps (full), kernels on the "
        "group, on its cosets and on its double cosets, and the characters (line). The ways "
        "differ in the size of the equations, not in the answer."
    )
    at = judge.where_ran(dataset, "seed", "dimensions").isel(seed=0)
    found = at.dimensions.transpose("case", "way").values
    names = [*CASES, TWELVE][: len(found)]
    figure = draw.axes(
        "", "equivariant maps", log="y", caption=caption, height=560, legend="below",
    )  # fmt: skip
    draw.line(figure, names, at.characters.values, "characters", color=draw.SLATE)
    for k, (way, symbol) in enumerate(
        zip(WAYS, ("circle-open", "square-open", "diamond-open", "cross-thin-open"), strict=True)
    ):
        draw.points(
            figure, names, found[:, k], way.replace("_", " "), size=16 - 3 * k, symbol=symbol,
            color=draw.COLORS[k],
        )  # fmt: skip
    figure.update_xaxes(tickangle=40, automargin=True)
    figure.update_yaxes(tickvals=sorted({float(n) for n in found.ravel()}))
    figure.update_layout(legend={"y": 1.12, "yanchor": "bottom"})
    return figure


def _arrows(dataset: Data) -> Figure:
    caption = (
        "All kernels that make arrows of a number so that turning or mirroring the lattice turns "
        "and mirrors the arrows: within 5 points of the square lattice (blue) and of the hexagonal "
        "one (orange). Of a number whose sign mirrors change they make whirls (green). Each kernel "
        "lives on one orbit of points. A point on a mirror line has its arrow along the line, or "
        "across it for whirls; the others are free, hence two kernels with eight arrows."
    )
    at = _first(dataset, "kernel_arrows")
    table, number = at.kernel_arrows.transpose("arrow", "xyuv").values, at.kernel_number.values
    kernels = int(number.max()) + 1
    known = list(SHOWN.values())
    kind = [_kind(table[number == k]) for k in range(kernels)]
    panels = [known[kind[k]] for k in range(kernels)]
    rows = -(-kernels // _COLUMNS)
    figure = draw.axes(
        "", "", caption=caption, panels=panels, columns=_COLUMNS, height=230 * rows,
    )  # fmt: skip
    for k in range(kernels):
        x, y, u, v = table[number == k].T
        draw.points(figure, x, y, color=draw.SOFT, size=4, panel=k + 1)
        long = np.hypot(u, v) > 1e-6
        tails = np.stack([x, y], 1)[long]
        tips = tails + 0.85 * np.stack([u, v], 1)[long]
        draw.arrows(figure, tails, tips, color=draw.COLORS[kind[k]], size=8, digits=3, panel=k + 1)
        where = draw.place(figure, k + 1)
        figure.update_xaxes(range=[-2.8, 2.8], visible=False, **where)
        anchor = "x" if k == 0 else f"x{k + 1}"
        figure.update_yaxes(range=[-2.8, 2.8], visible=False, scaleanchor=anchor, **where)
    return figure


def _kind(rows: np.ndarray) -> int:
    """Which of the shown fields a kernel belongs to: squares, hexagons, or whirls on hexagons."""
    x, y, u, v = rows.T
    whirls = np.abs(x * u + y * v).max() < 1e-6
    return 0 if len(x) == 25 else 2 if whirls else 1


def _errors(dataset: Data) -> Figure:
    caption = (
        "Every row of the table of published architectures that can be built, tried with "
        "elements of its group: how much acting before the network differs from acting after "
        "it, the largest of seeds and elements. Rounding alone is left. An error of zero is drawn "
        "at the lower border."
    )
    from regimes import nets

    at = judge.where_ran(dataset, "seed", "architecture_error")
    found = at.architecture_error.transpose("precision", "architecture", "seed").values
    rows = nets.taxonomy()
    names = [
        f"{number + 1}. {row.space}, {row.representation.split(';')[0]}: {case}"
        for number, row in enumerate(rows)
        for case in row.cases
    ][: found.shape[1]]
    figure = draw.axes(
        "relative error", "", log="x", caption=caption, height=26 * len(names) + 160,
        legend="below",
    )  # fmt: skip
    told = ("float32", "float64")[-len(found) :]
    for k, name in enumerate(told):
        worst = np.maximum(found[k].max(1), _TINY)
        draw.points(figure, worst, names, name, size=9, color=draw.COLORS[k])
    figure.update_yaxes(autorange="reversed", automargin=True)
    return figure


FIGURES = {
    "Maps between fields on a cube": _table,
    "Kernels that make arrows": _arrows,
    "One number, five ways": _ways,
    "Published architectures": _errors,
}
