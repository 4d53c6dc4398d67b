"""The picture of a record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.lab import draw

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from regimes.observe._record import Record


def figure_of(record: Record, probe: str | None) -> go.Figure:
    """Three panels against steps: effective rank, alignment, alignment of layers."""
    probes = [name.removesuffix("/alignment") for name in record.numbers if _is_whole(name)]
    if not probes:
        raise ValueError("the record holds no alignment; observe at least once")
    probe = probe or probes[0]
    record[f"{probe}/alignment"]  # says which there are
    caption = (
        "The tangent kernel in the course of training, centred, on fixed probes: how many "
        "directions it spreads over, how well it is aligned with the labels, and the same for "
        f"the kernel of every layer on the {probe} probe, from the first (blue) to the last "
        f"(red). {record.told}."
    )
    layered = f"by layer, {probe}: blue first, red last"
    panels = ("effective rank", "alignment with the labels", layered)
    figure = draw.axes("step", "", log="x", panels=panels, caption=caption, legend="below")
    steps = np.maximum(record.steps.numpy(), 0.5)  # the start stands left of the first step
    for name, color in zip(probes, draw.COLORS, strict=False):
        draw.line(figure, steps, record[f"{name}/effective_rank"], name, color=color)
        draw.line(figure, steps, record[f"{name}/alignment"], name, color=color, panel=2)
    layers = record.numbers.get(f"{probe}/layer_alignment")
    if layers is not None:
        colors = draw.shades(len(record.layers))
        for curve, layer, color in zip(layers.T, record.layers, colors, strict=True):
            told: dict[str, Any] = {"showlegend": False, "hovertemplate": f"{layer}: %{{y:.3f}}"}
            draw.line(figure, steps, curve, color=color, panel=3, **told)
    return figure


def _is_whole(name: str) -> bool:
    return name.endswith("/alignment")
