"""The diagram, and cuts through it."""

from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Data, Figure, draw
from regimes.studies.regimes import _lines as lines
from regimes.studies.regimes._outcome_figures import PERCENT, errors_at_each_scale

SCALE = "scale sqrt(h) alpha"
LEVELS = {0.01: "dot", 0.1: "dash", 1.0: "solid", 10.0: "dash", 100.0: "dot"}
BLACK = "#000000"  # on the map, whose colours are the same on every screen


def _diagram(dataset: Data) -> Figure:
    caption = (
        "Each cell is one width h and one scale sqrt(h) alpha; its colour is the test error of the "
        "mean prediction of all seeds, and the pointer shows all numbers of the cell. Left of the "
        "red line networks are jammed: too narrow, none fits all of its points within its steps; "
        "grey where more than 5 % of the points stay unfitted. The black line is where the "
        "tangent kernel changes by its own norm during training; above it training is lazy (the "
        "kernel stays), below it features are learned (the kernel is replaced). It is level: the "
        "crossover sits at one value of sqrt(h) alpha whatever the width. Dashed and dotted: "
        "changes by other factors. Bars: spread over resampled seeds; for the jamming line the two "
        "widths between which it lies. Towards both ends of the scale flows are slow, which moves "
        "that line to the right, and off the picture where no width fits in time; longer runs "
        "move it back."
    )
    plane = lines.plane(dataset)
    width = "width h (neurons per layer)"
    look: dict[str, Any] = {"log": "xy", "ticks": plane.width, "legend": "below", "height": 620}
    figure = draw.axes(width, SCALE, caption=caption, **look)
    error = 100 * lines.shown(plane, "ensemble_error")
    style: dict[str, Any] = {"colors": "Viridis_r", "hover": _numbers(plane)}
    draw.heat_map(figure, error, "width", "scale", "ensemble<br>error (%)", **style)
    figure.update_traces(hovertemplate="%{customdata}<extra></extra>")
    for level, dash in LEVELS.items():
        _crossover(figure, plane, level, dash)
    _jamming(figure, plane)
    x, y = (np.log10(draw.edges(plane[axis].values, log=True)) for axis in ("width", "scale"))
    _names(figure, plane, x, y)
    figure.update_xaxes(range=[x[0], x[-1]])
    figure.update_yaxes(range=[y[0], y[-1]], dtick=1)
    return figure


def _kernel_changes(dataset: Data) -> Figure:
    caption = (
        "How much training changes the tangent kernel, |Theta - Theta_0|/|Theta_0|, geometric mean "
        "over the seeds that fitted. Plotted against sqrt(h) alpha all widths fall on one curve: "
        "slope about -4/3 where features are learned, -1 in the lazy regime. The line at 1 is the "
        "crossover."
    )
    plane = lines.plane(dataset)
    figure = draw.axes(SCALE, "relative change of the kernel", log="xy", caption=caption)
    change = plane.kernel_change.where(plane.fitted > 0)
    for width, color, part in draw.each(change, "width", draw.shades(plane.sizes["width"])):
        draw.curve(figure, part, "scale", f"h = {width}", center="geometric", color=color)
    draw.level(figure, y=1, dash="solid", color=draw.INK)
    figure.update_xaxes(dtick=1)
    figure.update_yaxes(dtick=2)
    return figure


def _cuts(dataset: Data) -> Figure:
    caption = (
        "Test error against width at three scales: of single networks (dashed, mean over seeds) "
        "and of their mean prediction (solid). Ensembles of narrow networks past jamming are "
        "already as good as wide ones; single networks improve with width as their fluctuations "
        "fade."
    )
    plane = lines.plane(dataset)
    figure = draw.axes("width h (neurons)", PERCENT, log="x", ticks=plane.width, caption=caption)
    count = plane.sizes["scale"]
    chosen = plane.isel(scale=sorted({0, count // 2, count - 1}))
    errors_at_each_scale(figure, chosen, "width")
    return figure


def _numbers(plane: Data) -> np.ndarray:
    """What the pointer tells of every cell, (scale, width)."""
    texts = np.empty((plane.sizes["scale"], plane.sizes["width"]), dtype=object)
    for i in range(len(texts)):
        for j in range(texts.shape[1]):
            texts[i, j] = _told(plane.isel(scale=i, width=j))
    return texts


def _told(cell: Data) -> str:
    error, change = 100 * cell.error.values, cell.kernel_change.values
    found = rg.measure.regime(change, cell.fitted.values)
    place = found.phase.value
    if found.phase != "jammed":
        off = f"{found.distance:+.2f} ± {found.error:.2f}"
        place = f"{place}, {off} decades from the crossover"
    return (
        f"<b>h = {int(cell.width)}, sqrt(h) alpha = {float(cell.scale):g}</b><br>{place}"
        f"<br>confidence {found.confidence:.2f}"
        f"<br>ensemble error {100 * float(cell.ensemble_error):.2f} %"
        f"<br>single error {error.mean():.2f} ± {error.std(ddof=min(1, len(error) - 1)):.2f} %"
        f"<br>kernel change {np.exp(np.log(change).mean()):.3g}"
        f"<br>{100 * found.fitted:.0f} % of runs fit, "
        f"{float(cell.unfitted.mean()):.1f} points short"
    )


def _crossover(figure: Figure, plane: Data, level: float, dash: str) -> None:
    x, y, error = lines.crossover(plane, level)
    if len(x):
        width = 3 if level == 1 else 1.2
        style: dict[str, Any] = {"color": BLACK, "dash": dash, "size": 5, "width": width}
        style |= {"mode": "lines+markers", "error": error}
        draw.points(figure, x, y, f"kernel changes by {level:g}", **style)


def _jamming(figure: Figure, plane: Data) -> None:
    line = lines.jamming(plane)
    seen = np.isfinite(line.width)
    if seen.any():
        right, left = (line.fits - line.width)[seen], (line.width - line.jammed)[seen]
        bars = {"array": right, "arrayminus": left, "thickness": 1.5, "width": 3}
        style: dict[str, Any] = {"mode": "lines+markers", "color": draw.RED, "width": 3}
        x, y = line.width[seen], line.y[seen]
        draw.points(figure, x, y, "jamming line", error_x=bars, **style)


def _names(figure: Figure, plane: Data, x: np.ndarray, y: np.ndarray) -> None:
    """The phases' names, where they are; x and y are the logarithms of the cells' borders."""
    right = x[0] + 0.78 * (x[-1] - x[0])
    fits = (plane.fitted > 0).any(["seed", "width"]).values
    lowest = np.log10(plane.scale.values[fits].min()) if fits.any() else y[0]
    _, crossed, _ = lines.crossover(plane)
    highest = np.log10(np.median(crossed)) if len(crossed) else (y[0] + y[-1]) / 2
    look = {"font": {"size": 15, "color": BLACK}, "bgcolor": "rgba(255,255,255,.7)"}
    draw.words(figure, "<b>LAZY</b>", right, y[-1] - 0.12 * (y[-1] - y[0]), **look)
    middle = lowest + 0.35 * (highest - lowest)
    draw.words(figure, "<b>FEATURE LEARNING</b>", right, middle, **look)
    border = lines.jamming(plane).width
    if np.isfinite(border).any():
        jammed = (x[0] + np.log10(np.nanmin(border))) / 2  # left of the line at every scale
        draw.words(figure, "<b>JAMMED</b>", jammed, (y[0] + y[-1]) / 2, textangle=-90, **look)


FIGURES = {
    "Phase diagram of learning": _diagram,
    "Change of the tangent kernel": _kernel_changes,
    "Cuts at fixed scale": _cuts,
}
