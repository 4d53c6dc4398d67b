"""Training curves [Geiger 2022, figs. 2 and 4]."""

from __future__ import annotations

from typing import Any

import numpy as np

from regimes.lab import Data, Figure, draw, judge, rows, those_run
from regimes.studies.pomdp import _pictures
from regimes.studies.pomdp.training._curves import LINES, PANELS, beside_columns, runs

COLORS = {
    "random": draw.BLUE,
    "linear": draw.ORANGE,
    "columns": draw.GREEN,
    "ccp": draw.RED,
    "cycles": draw.ORANGE,
    "necklace": draw.VIOLET,
    "ram": draw.BLUE,
    "memento": draw.GREEN,
}


def _curves(dataset: Data) -> Figure:
    caption = (
        "Probability q of playing the worse arm while a policy is trained, against the time of the "
        "flow (mu = 0.1): a thin line a seed, a thick one their median as far as all have come. "
        "Starts with structure help a RAM (A, B) a lot and a Memento (C, D) little. At equal "
        "memory and from random starts (E, F) the Memento, which is told what to remember, learns "
        "more. Dashed: the best column of confidence, and the limit of the necklace policy without "
        "resets; dotted: the bound of all players."
    )
    titles = []
    for block, letter in PANELS.items():
        try:
            at = rows(dataset, block)
        except judge.Missing:
            titles.append(f"{letter}: not run")
            continue
        kinds = ", ".join(
            name.replace("-", " ") for name in dict.fromkeys(at.memory.values.tolist())
        )
        titles.append(f"{letter}: {kinds}, r={float(at.reset[0]):g}")
    if all(title.endswith("not run") for title in titles):
        raise judge.Missing("no flow has finished")
    figure = draw.axes(
        "time t",
        "q",
        log="xy",
        panels=titles,
        columns=2,
        caption=caption,
        height=1050,
        legend="below",
    )
    from regimes.theory import q_necklace

    for panel, block in enumerate(PANELS, start=1):
        try:
            at = rows(dataset, block)
        except judge.Missing:
            continue
        for k in range(at.sizes["trial"]):
            one = at.isel(trial=k).dropna("seed", how="all", subset=["end_q"])
            name = (
                str(one.init.item())
                if block[:5] != "equal"
                else str(one.memory.item()).split("-")[0]
            )
            _bundle(figure, one, name, panel)
        for name in dict.fromkeys(at.memory.values.tolist()):
            kind, _, size = name.partition("-")
            if kind == "memento":  # without resets, where it is known
                draw.level(figure, y=float(q_necklace(int(size), 0.1)), dash="dash", panel=panel)
        for q in np.unique(at.ccp_q.values[np.isfinite(at.ccp_q.values)]):
            draw.level(figure, y=float(q), dash="dash", panel=panel)
        reset = float(at.reset[0])
        draw.level(figure, y=float(at.bayes_q[0]) * (1 - reset) + reset / 2, panel=panel)
    return figure


def _bundle(figure: Figure, one: Data, name: str, panel: int) -> None:
    t, q = one.t.values, one.q.transpose("seed", "t").values
    if (q[1:] == q[:1]).all() or np.allclose(q, q[:1], equal_nan=True):
        q = q[:1]  # nothing is random: one run stands for all seeds
    color = COLORS[name]
    x, y = draw.joined(
        np.stack([np.broadcast_to(t, q.shape), q], axis=-1).transpose(1, 0, 2), digits=6
    )
    thin: dict[str, Any] = {"width": 0.7, "opacity": 0.35, "hoverinfo": "skip", "showlegend": False}
    draw.line(figure, x, y, color=color, panel=panel, **thin)
    whole = np.isfinite(q).all(0)
    middle = np.exp(np.median(np.log(q[:, whole]), axis=0))
    draw.line(figure, t[whole], middle, name, color=color, width=3, panel=panel)


def _symbols(dataset: Data) -> Figure:
    """Above the figure as in the paper, below the same as ratios."""
    caption = (
        "Training from a slightly blurred column of confidence. Above: q at the end (symbols) and "
        "q of the best column (lines). Below: one over the other, for every size M, gap mu and "
        "reset r, between the limits of the claim (dotted). Training returns to the column's value "
        "and gains next to nothing, so the column is a local optimum."
    )
    every, names = beside_columns(dataset), those_run(dataset, *LINES)
    along = {"line": ("reset probability r", "reset"), "heights": ("states M", "states")}
    figure = draw.axes(
        [along[name][0] for name in names] * 2,
        ["q"] * len(names) + ["final q / q of the best column"] * len(names),
        log="x",
        panels=[""] * 2 * len(names),
        columns=len(names),
        caption=caption,
        height=820,
        legend="below",
    )
    for panel, block in enumerate(names, start=1):
        at = every.isel(trial=np.flatnonzero(every.block.values == block))
        states = [float(name.partition("-")[2]) for name in at.memory.values]
        at = at.assign(states=("trial", states), last=at.end_q.max("seed"))
        setting = along[block][1]
        other = "states" if setting == "reset" else "reset"
        keys = list(zip(at[other].values, at.gap.values, strict=True))
        below = panel + len(names)
        for k, key in enumerate(dict.fromkeys(keys)):
            one = at.isel(trial=[i for i, each in enumerate(keys) if each == key]).sortby(setting)
            name = f"{'M' if other == 'states' else 'r'}={key[0]:g}, mu={key[1]:g}"
            look: Any = {"color": draw.COLORS[k % 8], "symbol": draw.SYMBOLS[k % 6], "size": 7}
            x, column = one[setting].values, one.ccp_q.values
            draw.line(
                figure, x, column, color=look["color"], width=1, showlegend=False, panel=panel
            )
            draw.points(figure, x, one["last"].values, name, panel=panel, **look)
            draw.points(
                figure, x, one["last"].values / column, name, panel=below, showlegend=False, **look
            )
        figure.update_yaxes(type="log", row=1, col=panel)
        for y in (0.995, 1.01):
            draw.level(figure, y=y, panel=below)
    return figure


def _learned(dataset: Data) -> Figure:
    """What one seed of each kind has learned."""
    caption = (
        "Policies at the end of training, one seed each. Left a RAM from columns: rows are memory, "
        "last arm and outcome, columns the next memory and arm. Right a Memento from cycles: "
        "probability of playing the opposite of the oldest arm, for words of arms (rows) and of "
        "outcomes (columns)."
    )
    ram = runs(dataset, "small-ram", init="columns").policy
    memento = runs(dataset, "small-memento", init="cycles").policy
    play = ram.dropna("observation", how="all").dropna("action", how="all").values
    states = play.shape[1] // 2
    words = memento.dropna("observation", how="all").dropna("action", how="all").values
    m = round(np.log(len(words)) / np.log(4))
    titles = [f"RAM, M={states}", f"Memento, m={m}"]
    figure = draw.axes("", "", panels=titles, caption=caption, height=620)
    rows_ram = [f"{n + 1}{e}{y}" for n in range(states) for e in "AB" for y in "+-"]
    actions = [f"{n + 1}{e}" for n in range(states) for e in "AB"]
    _pictures.matrix(figure, play, rows_ram, actions, panel=1)
    table = words.reshape(2**m, 2**m, 2)  # arms, outcomes, next arm
    oldest = np.arange(2**m) >> (m - 1)
    flip = np.where(oldest[:, None] == 0, table[..., 1], table[..., 0])
    _pictures.matrix(figure, flip, _pictures.words(m, "AB"), _pictures.words(m, "+-"), panel=2)
    return figure


FIGURES = {
    "Training curves (fig. 4)": _curves,
    "Training from a column of confidence (fig. 2)": _symbols,
    "Policies that were learned": _learned,
}
