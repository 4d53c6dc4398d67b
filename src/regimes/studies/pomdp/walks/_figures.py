"""Formulas of random walks against solved chains."""

from regimes.lab import Data, Figure, draw, ran


def _formulas(dataset: Data) -> Figure:
    caption = (
        "Random chains. Left: probability to cross a stretch of the chain to the right before "
        "leaving it to the left. Right: probability to be found at the right end when both ends "
        "are hardly ever left. Each point is one formula against one solved chain; they lie on "
        "the diagonal to rounding (left) and to the size of the exits (right)."
    )
    figure = draw.axes(
        "formula",
        ["solved chain", ""],
        log="xy",
        panels=["crossing (eq. 8)", "at the right end (eq. 9)"],
        caption=caption,
        height=420,
    )
    pairs = (
        ("traversal", "traverse_formula", "traverse_solved"),
        ("ends", "end_formula", "end_solved"),
    )
    for panel, (block, formula, solved) in enumerate(pairs, start=1):
        at = ran(dataset, block)
        x, y = at[formula].values.ravel(), at[solved].values.ravel()
        draw.points(figure, x, y, size=5, color=draw.BLUE, panel=panel)
        draw.guide(figure, x, 1.0, (1.0, 1.0), "equal", panel=panel)
    return figure


FIGURES = {"Formulas against solved chains": _formulas}
