"""Pictures of columns of confidence [Geiger 2022, figs. 1 and 2]."""

import numpy as np

from regimes.lab import Data, Figure, draw, judge, ran
from regimes.studies.pomdp import _pictures
from regimes.studies.pomdp.columns._claims import exits


def _scheme(dataset: Data) -> Figure:
    policy = ran(dataset, "scheme").scheme_policy.values
    caption = (
        "A column of confidence with M = 8 states of memory, drawn from its policy. Left the last "
        "arm was A, right it was B; the number is the memory. A win raises the confidence in the "
        "arm that is being played, a loss lowers it, and at the bottom, where the player starts "
        "with either arm, a loss makes it change arms. The top is left with a small probability "
        "only (dotted)."
    )
    figure = draw.axes("", "", caption=caption, height=560)
    _pictures.columns_of(figure, policy)
    return figure


def _matrix(dataset: Data) -> Figure:
    policy = ran(dataset, "scheme").scheme_policy.values
    states = policy.shape[1] // 2
    rows = [f"{n + 1}{e}{y}" for n in range(states) for e in "AB" for y in "+-"]
    columns = [f"{n + 1}{e}" for n in range(states) for e in "AB"]
    caption = (
        "The same policy as a matrix. A row is an observation (memory, last arm, its outcome), a "
        "column an action (next memory, next arm)."
    )
    figure = draw.axes("action", "observation", caption=caption, height=620)
    _pictures.matrix(figure, policy, rows, columns)
    return figure


def _lines(dataset: Data) -> Figure:
    at = ran(dataset, "lines")
    caption = (
        "Probability q' of playing the worse arm with the best column of confidence. Left against "
        "the reset probability r, right against the number of memory states M. Dashed: the bound "
        "of a player that forgets nothing. Small memories stop improving as resets become rare; "
        "beyond some size more memory does not help."
    )
    panels = ["against r", "against M"]
    titles = ["reset probability r", "states of memory M"]
    figure = draw.axes(
        titles, "q'", log="xy", panels=panels, caption=caption, height=460, legend="below"
    )
    bound = {"color": draw.SOFT, "dash": "dash"}
    for g, gap in enumerate(at.left_gaps.values):
        dash = draw.DASHES[2 * g % len(draw.DASHES)]
        for s, (states, color) in enumerate(zip(at.left_states.values, draw.COLORS, strict=False)):
            q = at.left_q.isel(left_gap=g, left_state=s).values
            name = f"M={int(states)}, mu={gap:g}"
            draw.line(figure, at.left_resets.values, q, name, color=color, dash=dash)
        floor = at.left_bound.isel(left_gap=g).values
        draw.line(figure, at.left_resets.values, floor, "bound of all players", **bound)
    colors = draw.COLORS[3:]
    for g, gap in enumerate(at.left_gaps.values):
        dash = draw.DASHES[2 * g % len(draw.DASHES)]
        for k, (reset, color) in enumerate(zip(at.right_resets.values, colors, strict=False)):
            q = at.right_q.isel(right_gap=g, right_reset=k).values
            name = f"r={reset:g}, mu={gap:g}"
            draw.line(figure, at.right_states.values, q, name, color=color, dash=dash, panel=2)
    return figure


def _rates(dataset: Data) -> Figure:
    at = exits(dataset, 10, 0.2)
    caption = (
        "The best probability of leaving the top against the reset probability (M = 10, mu = 0.2): "
        "circles are minima of q', the line is the law for small r; as printed (dashed) its root "
        "reaches too far. Squares: plays spent at the top, measured in the solved chain."
    )
    figure = draw.axes(
        "reset probability r",
        ["best exit eps*", "plays at the top"],
        log="xy",
        panels=["rate", "time"],
        caption=caption,
        height=420,
    )
    r = at.exit_resets.values
    draw.points(figure, r, at.exit_rate.values, "best exit", color=draw.BLUE)
    draw.line(figure, r, at.exit_law.values * np.sqrt(r), "law for small r", color=draw.INK)
    printed = at.exit_printed.values * np.sqrt(r)
    draw.line(figure, r, printed, "as printed", color=draw.SOFT, dash="dash")
    judge.need(at, "top_time")
    draw.points(
        figure,
        r,
        at.top_time.values,
        "time at the top",
        symbol="square",
        color=draw.ORANGE,
        panel=2,
    )
    draw.guide(figure, r, -0.5, (r[0], float(at.top_time[0])), "slope -1/2", panel=2)
    return figure


FIGURES = {
    "A column of confidence (fig. 1C)": _scheme,
    "Its policy": _matrix,
    "The wrong arm against resets and memory (fig. 2)": _lines,
    "The best exit (app. C)": _rates,
}
