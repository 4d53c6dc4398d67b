"""Drawings of the variants: data sets and trainers, one change at a time, and the offset."""

from collections.abc import Callable

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.regimes._outcome_figures import PERCENT, SCALE, draw_errors, draw_jackknifed
from regimes.studies.regimes.variants._claims import over_alpha, variant_of, variants_run

CHANGES = {  # variant -> what it is, colour
    "plain": ("plain, depth {depth}", draw.BLUE),
    "deep": ("depth {depth}", draw.ORANGE),
    "soft": ("soft hinge 10, memory t/1000", draw.GREEN),
    "biases": ("with biases", draw.VIOLET),
}
PREDICTORS = {"f": ("α f", draw.ORANGE), "f-f0": ("α (f − f₀)", draw.BLUE)}


def _sets(dataset: Data) -> Figure:
    caption = (
        "Error on unseen images against the scale √h α of the output, from feature learning "
        "(left of 1) to lazy training (right), for fully connected networks on several sets of "
        "images, classes grouped into even and odd. Dashed: a single network; solid: the sign of "
        "the mean over seeds. Averaging seeds gains most on the lazy side, where on most sets it "
        "makes the lowest error of all; with few images of clothes and of photographs an "
        "intermediate or small scale stays level or ahead. Bars are one standard error. EMNIST is "
        "not at hand and was not run."
    )
    rows = _rows(dataset, lambda name: ":" in name)
    columns = min(3, len(rows))
    figure = draw.axes(
        "scale √h α",
        PERCENT,
        log="x",
        panels=[_title(row) for row in rows],
        columns=columns,
        height=110 + 270 * -(-len(rows) // columns),
        margin={"t": 90},
        caption=caption,
    )
    figure.update_xaxes(dtick=1)
    figure.update_layout(legend={"y": 1.0, "yref": "container", "yanchor": "top"})
    for panel, row in enumerate(rows, start=1):
        draw_errors(figure, row, panel=panel, color=draw.BLUE)
    return figure


def _title(row: Data) -> str:
    trainer, _, images = row.variant.item().partition(":")
    label = "10 components" if images == "pca" else images.replace("_", "-").replace("10", "-10")
    return f"{label}, {'Adam' if trainer == 'adam' else 'flow'}, P={int(row.p)}, d={int(row.d)}"


def _changes(dataset: Data) -> Figure:
    caption = (
        "One thing changed at a time. Left: error of a single network (dashed) and of the mean "
        "over seeds (solid); right: how much networks of different seeds disagree, times the "
        "width. A softer loss trained with memory and biases leave both as they were; depth makes "
        "networks disagree more. Bars are one standard error (jackknife over seeds)."
    )
    figure = draw.axes(
        SCALE,
        (PERCENT, "h × variance of F over seeds (1)"),
        log="x",
        panels=("errors", "variance"),
        legend="below",
        height=500,
        caption=caption,
    )
    figure.update_xaxes(dtick=1).update_yaxes(type="log", exponentformat="power", row=1, col=2)
    for row in _rows(dataset, CHANGES.__contains__):
        text, color = CHANGES[row.variant.item()]
        label = text.format(depth=int(row.depth))
        draw_errors(figure, row, f"{label}: ", color=color)
        beside = {"panel": 2, "color": color, "showlegend": False}
        draw_jackknifed(figure, row, "variance", label, times=float(row.width), **beside)
    return figure


def _offset(dataset: Data) -> Figure:
    caption = (
        "The network's function f times α is trained as it is, or after subtracting its value f₀ "
        "at the start. For small α the start is forgotten and the two agree. For large α the "
        "weights hardly move, α f₀ is large noise that stays in the prediction away from the "
        "training points, and the error of a single network (dashed) rises."
    )
    figure = draw.axes("scale α (1)", PERCENT, log="x", caption=caption)
    figure.update_xaxes(dtick=1)
    for row in _rows(dataset, PREDICTORS.__contains__):
        label, color = PREDICTORS[row.variant.item()]
        draw_errors(figure, over_alpha(row), f"{label}: ", color=color)
    return figure


def _rows(dataset: Data, shown: Callable[[str], bool]) -> list[Data]:
    """The variants of a figure that have run."""
    found = [variant_of(dataset, name) for name in variants_run(dataset) if shown(name)]
    if not found:
        raise judge.Missing("none of the variants that are compared here has run")
    return found


FIGURES = {
    "Data sets and trainers (figs. 6 and 7)": _sets,
    "Depth, loss and memory, biases (figs. 7 and 16)": _changes,
    "The predictor with and without f₀ (fig. 15)": _offset,
}
