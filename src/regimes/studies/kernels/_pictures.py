"""What figures of several studies share: a learning curve with the slope beside it."""

from __future__ import annotations

from typing import Any

import numpy as np

from regimes.lab import Figure, Values, draw

SIZE = "training points n"


def learning(figure: Figure, curve: Values, over: str, name: str, **options: Any) -> None:
    """Medians over draws of a curve (seed, over), with the middle half; empty places left out."""
    kept = curve.dropna(over, how="all")
    if kept.sizes[over]:
        draw.curve(figure, kept, over, name, center="median", **options)


def beside(figure: Figure, curve: Values, over: str, slope: float, name: str, **where: Any) -> None:
    """A guide of a slope, a little below the curve's last point."""
    kept = curve.dropna(over, how="all")
    if not kept.sizes[over]:
        return
    x = kept[over].values.astype(float)
    middle = np.nanmedian(kept.transpose(..., over).values.reshape(-1, len(x)), 0)
    draw.guide(figure, x, slope, (x[-1], 0.8 * middle[-1]), name, **where)
