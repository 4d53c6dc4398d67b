"""Many paths or arrows in a plane as one line, which plotly draws at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.lab.draw._curves import points

if TYPE_CHECKING:
    import plotly.graph_objects as go


def joined(paths: Any, *, digits: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The x and y of one line with gaps, from paths (steps, n, 2).

    `digits` after the point keep a page with many paths small.

    >>> x, y = joined([[[0, 0], [5, 5]], [[1, 2], [6, 7]]])
    >>> x.tolist(), y.tolist()
    ([0.0, 1.0, nan, 5.0, 6.0, nan], [0.0, 2.0, nan, 5.0, 7.0, nan])
    """
    paths = np.asarray(paths, dtype=float)
    if paths.ndim != 3 or paths.shape[2] != 2:
        raise ValueError(f"paths must have shape (steps, n, 2), got {paths.shape}")
    gap = np.full((1, *paths.shape[1:]), np.nan)
    x, y = np.concatenate([paths, gap]).transpose(2, 1, 0).reshape(2, -1)
    return (x, y) if digits is None else (x.round(digits), y.round(digits))


def arrows(
    figure: go.Figure,
    tails: Any,
    tips: Any,
    name: str = "",
    *,
    size: float = 6,
    digits: int | None = None,
    **options: Any,
) -> None:
    """Arrows from tails (n, 2) to tips (n, 2), as one trace; options as in `curve`."""
    x, y = joined(np.stack([tails, tips]), digits=digits)
    heads: dict[str, Any] = {
        "mode": "lines+markers",
        "symbol": "arrow",
        "size": np.tile([0, size, 0], len(x) // 3),
        "marker_angleref": "previous",
    }
    points(figure, x, y, name, **heads, **{"hoverinfo": "skip", **options})
