"""The one palette: eight colours that are told apart in light and in dark, and what is not data.

Figures are written in the light colours; the report's page exchanges them for their partners when
the reader's screen is dark.
"""

from __future__ import annotations

PALETTE = (  # light, dark
    ("#3454d1", "#8ea6ff"),  # blue
    ("#d9730d", "#ffab5e"),  # orange
    ("#1f8a5b", "#5fd0a5"),  # green
    ("#c8375a", "#ff7f93"),  # red
    ("#7c4dce", "#c59bff"),  # violet
    ("#0f8ba8", "#6fd3ee"),  # cyan
    ("#9a7d0a", "#e6d36a"),  # ochre
    ("#5c667a", "#b8c1d1"),  # slate
)
COLORS = tuple(light for light, _ in PALETTE)
BLUE, ORANGE, GREEN, RED, VIOLET, CYAN, OCHRE, SLATE = COLORS
INK, SOFT = "#1b2130", "#7d8798"  # drawn like text; guides and levels
PARTNERS = (*PALETTE, (INK, "#e7eaf1"), (SOFT, "#8d97a8"))
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star")
DASHES = ("solid", "dash", "dot", "dashdot")


def shades(count: int) -> list[str]:
    """Colours from blue to red, one for each of an ordered set.

    >>> len(shades(3))
    3
    """
    import plotly.colors

    places = [0.05 + 0.9 * k / max(1, count - 1) for k in range(count)]
    return list(plotly.colors.sample_colorscale("Turbo", places))
