"""Pictures of necklaces [Geiger 2022, fig. 3 and table 1]."""

import numpy as np

from regimes.lab import Data, Figure, draw, ran
from regimes.studies.pomdp import _pictures


def _diagram(dataset: Data) -> Figure:
    at = ran(dataset, "limit")
    chain = [[int(w) for w in row if w >= 0] for row in at.diagram_chain.values]
    caption = (
        "The policy of a player that remembers its last four arms and outcomes, drawn from its "
        "matrix. A row is a necklace: playing the oldest arm again turns its words into one "
        "another, the last into the first. The top row is sure of A, the bottom row of B. A row is "
        "left at one word each way, by playing the opposite of the oldest arm, and only rarely and "
        "if the four outcomes on the dotted arrow (oldest first) all speak for the step."
    )
    figure = draw.axes("", "", caption=caption, height=680, legend="below")
    _pictures.necklaces_of(figure, at.diagram_flip.values, chain)
    return figure


def _matrix(dataset: Data) -> Figure:
    flip = ran(dataset, "limit").diagram_flip.values
    m = int(np.log2(len(flip)))
    caption = (
        "The same policy as a matrix: probability of playing the opposite of the oldest arm, for "
        "every word of arms (rows) and of outcomes (columns), oldest first; white is never. The "
        "ends are left far more rarely than the necklaces between."
    )
    figure = draw.axes("outcomes", "arms", caption=caption, height=560)
    seen = np.log10(np.where(flip > 0, flip, np.nan))
    _pictures.matrix(figure, seen, _pictures.words(m, "AB"), _pictures.words(m, "+\u2212"))
    limits = {"zmin": np.nanmin(seen) - 2, "zmax": np.nanmax(seen)}
    figure.update_traces(colorbar={"title": "log10 of probability"}, **limits)
    figure.update_xaxes(tickangle=-90)
    return figure


def _exits(dataset: Data) -> Figure:
    at = ran(dataset, "exits")
    caption = (
        "How much more often than in the limit the worse arm is played (m = 3, mu = 0.1), against "
        "the probability eps1 of leaving a necklace, with the ends left a hundred times more "
        "rarely than eps1 squared. The error is linear in eps1."
    )
    figure = draw.axes("exit probability eps1", "q/q* - 1", log="xy", caption=caption)
    x, y = at.order_eps1.values, (at.order_q / at.pair_star - 1).values
    draw.points(figure, x, y, "solved chain", mode="lines+markers", color=draw.BLUE)
    draw.guide(figure, x, 1.0, (x[-1], y[-1]), "slope 1")
    return figure


def _table(dataset: Data) -> Figure:
    at = ran(dataset, "table")
    caption = (
        "Exponents of 1/q - 1 in 1/alpha at equal memory, without resets: the necklace policy of a "
        "player that only remembers what it did, and the column of confidence of one that writes "
        "its memory freely. Dashed: the leading terms, the root of M_eff and half of M_eff."
    )
    figure = draw.axes(
        "memory states M_eff", "exponent of 1/alpha in 1/q - 1", log="xy", caption=caption
    )
    memory = 4.0**at.table_m.values
    for k, (name, power, factor) in enumerate((("necklace", 0.5, 1.0), ("column", 1.0, 0.5))):
        color = draw.COLORS[k]
        y = at.table_exponent.isel(kind=k).values
        draw.points(figure, memory, y, name, mode="lines+markers", color=color)
        draw.guide(figure, memory, power, (1.0, factor), f"{name}, leading term", color=color)
    return figure


FIGURES = {
    "Necklaces and their exits (fig. 3)": _diagram,
    "The policy of the necklaces": _matrix,
    "How the limit is approached (app. D)": _exits,
    "Equal memory (table 1)": _table,
}
