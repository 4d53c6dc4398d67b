"""N_Delta/N against P/N and against the loss, misclassified points, steps to zero loss."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Data, Figure, draw, judge
from regimes.studies.landscape.jump import _scans as scans

NAMES = {
    ("random", "2x14"): "random labels, relu, L = 2, N = 406",
    ("deep", "3x12"): "random labels, relu, L = 3, N = 444",
    ("tanh", "3x10"): "random labels, tanh, L = 3, N = 310",
    ("parity", "2x9"): "digits, relu, L = 2, N = 180",
    ("large", "2x62"): "random labels, relu, L = 2, N = 7750",
    ("large", "3x51"): "random labels, relu, L = 3, N = 7854",
    ("large", "5x40"): "random labels, relu, L = 5, N = 8040",
}
X = "points per weight, P/N (no unit)"
Y = "unmet points per weight, N_Delta/N (no unit)"


def _each(dataset: Data) -> Iterator[tuple[str, str, Data]]:
    """Name, colour and runs of every network that ran."""
    found = 0
    dataset = judge.need(dataset, "classes")
    table = dataset.isel(trial=dataset.block.isin([block for block, _ in NAMES]).values)
    for block, network in dict.fromkeys(zip(table.block.values, table.network.values, strict=True)):
        try:
            runs = scans.scan(dataset, block, network=network)
        except judge.Missing:
            continue
        name = NAMES.get((block, network), f"{block}, {network}")
        yield name, draw.COLORS[found % len(draw.COLORS)], runs
        found += 1
    if not found:
        raise judge.Missing("no scan has finished")


def _against_ratio(dataset: Data) -> Figure:
    caption = (
        "How many points are short of their margin at the end of training, for each weight of the "
        "network; one mark per run, open where the run is dead (no gradient reaches its unmet "
        "points). With few points for each weight every run reaches all margins; past a sharp "
        "value none does, and the number of unmet points jumps to a finite share of the weights, "
        "below one for each (solid line)."
    )
    figure = draw.axes(X, Y, caption=caption)
    for name, color, runs in _each(dataset):
        flat = runs.drop_dims("moment").stack(run=("ratio", "seed"), create_index=False)
        open_ = (scans.dead(flat) == 1).values
        symbol = np.where(open_, "circle-open", "circle")
        place: dict[str, Any] = {"color": color, "symbol": symbol, "opacity": 0.7}
        draw.points(figure, flat.ratio.values, flat.share.values, name, **place)
    draw.level(figure, y=1, dash="solid")
    return figure


def _against_loss(dataset: Data) -> Figure:
    caption = (
        "The jammed runs alone, against the loss they end with. Nearer to the transition the loss "
        "is smaller, but the number of unmet points does not go to zero with it: the transition is "
        "a jump. Two and three hidden layers follow one curve, digits and tanh others."
    )
    figure = draw.axes("loss at the end of training (margin squared)", Y, log="x", caption=caption)
    for name, color, runs in _each(dataset):
        each = scans.alive(runs)
        jammed = each.isel(run=np.flatnonzero((scans.flag(each, "JAMMED") == 1).values))
        if jammed.sizes["run"]:
            draw.points(figure, jammed.loss.values, jammed.share.values, name, color=color)
    figure.update_yaxes(rangemode="tozero")
    return figure


def _wrong(dataset: Data) -> Figure:
    caption = (
        "Misclassified training points of the jammed runs, as a share of the unmet ones. Near the "
        "transition nearly all points that are short of their margin are still on the right side."
    )
    y = "misclassified share of the unmet points (no unit)"
    figure = draw.axes("loss at the end of training (margin squared)", y, log="x", caption=caption)
    for name, color, runs in _each(dataset):
        each = scans.alive(runs)
        jammed = each.isel(run=np.flatnonzero((scans.flag(each, "JAMMED") == 1).values))
        if jammed.sizes["run"]:
            share = jammed.misclassified / jammed.unfitted
            draw.points(figure, jammed.loss.values, share.values, name, color=color)
    return figure


def _steps(dataset: Data) -> Figure:
    caption = (
        "Steps of Adam until every margin is reached, of the runs that get there; medians over "
        "seeds, bars over the middle half. Training slows down as the transition is approached."
    )
    figure = draw.axes(X, "steps to zero loss (number of steps)", log="y", caption=caption)
    for name, color, runs in _each(dataset):
        steps = runs.steps.where(runs.unfitted == 0)
        seen = steps.dropna("ratio", how="all")
        if seen.sizes["ratio"]:
            draw.curve(figure, seen, "ratio", name, center="median", color=color)
    return figure


def _in_time(dataset: Data) -> Figure:
    caption = (
        "The same runs read at several shares of their training, means over seeds: the transition "
        "moves towards more points and sharpens while the networks train."
    )
    runs = next(iter(_each(dataset)))[2]
    figure = draw.axes(X, Y, log="y", caption=caption)
    read = (runs.unfitted_at / runs.weights).transpose("seed", "ratio", "moment")
    for moment, color, part in draw.each(read, "moment"):
        shown = part.where(part > 0, 1e-3)
        draw.curve(figure, shown, "ratio", f"after {100 * moment:g} % of the steps", color=color)
    figure.update_yaxes(range=[-3, 1])
    return figure


def _census(dataset: Data) -> Figure:
    caption = (
        "How the runs of two hidden layers ended, for every ratio: fitted, short by rounding, dead "
        "(no gradient reaches what is unmet), jammed, or none of these."
    )
    runs = next(iter(_each(dataset)))[2]
    figure = draw.axes(X, "share of the runs (no unit)", caption=caption, barmode="stack")
    for kind, color in zip(rg.measure.RunClass, ("", *draw.COLORS), strict=False):
        if kind < 0:
            continue
        share = scans.flag(runs, kind.name).mean("seed").values
        names = [f"{ratio:g}" for ratio in runs.ratio.values]
        draw.bars(figure, names, share, kind.name.lower(), color=color)
    figure.update_xaxes(type="category")
    return figure


FIGURES = {
    "The jump": _against_ratio,
    "Unmet points and the loss": _against_loss,
    "Misclassified points": _wrong,
    "Slowing down": _steps,
    "The transition in the course of training": _in_time,
    "How runs end": _census,
}
