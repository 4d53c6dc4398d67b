"""The drawing vocabulary of studies: axes, curves, guides, levels, maps, films, one palette.

Every function takes or returns a plain plotly figure, so whatever is not here is one call away.

    figure = draw.axes("width h", "test error (%)", log="x", caption="...")
    for scale, color, part in draw.each(dataset, "scale"):
        draw.curve(figure, 100 * part.error, "width", f"scale {scale:g}", color=color)
        draw.level(figure, x=jamming(part), color=color)
"""

from regimes.lab.draw._axes import axes, blank, place
from regimes.lab.draw._curves import bars, centred, cloud, curve, each, line, points
from regimes.lab.draw._film import film
from regimes.lab.draw._guides import band, guide, level, words
from regimes.lab.draw._maps import edges, heat_map
from regimes.lab.draw._palette import (
    BLUE,
    COLORS,
    CYAN,
    DASHES,
    GREEN,
    INK,
    OCHRE,
    ORANGE,
    PARTNERS,
    RED,
    SLATE,
    SOFT,
    SYMBOLS,
    VIOLET,
    shades,
)
from regimes.lab.draw._paths import arrows, joined
from regimes.lab.draw._pictures import picture

__all__ = [
    "BLUE",
    "COLORS",
    "CYAN",
    "DASHES",
    "GREEN",
    "INK",
    "OCHRE",
    "ORANGE",
    "PARTNERS",
    "RED",
    "SLATE",
    "SOFT",
    "SYMBOLS",
    "VIOLET",
    "arrows",
    "axes",
    "band",
    "bars",
    "blank",
    "centred",
    "cloud",
    "curve",
    "each",
    "edges",
    "film",
    "guide",
    "heat_map",
    "joined",
    "level",
    "line",
    "picture",
    "place",
    "points",
    "shades",
    "words",
]
