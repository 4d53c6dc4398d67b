"""Figures that several studies draw: error against R_f, and profiles by depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from regimes.lab import Figure, draw

_PREFACTOR = 0.24  # of the paper's half-power law
_BESIDE = 9  # networks whose names fit beside a figure


def error_against_stability(rows: Sequence[dict[str, Any]], what: str) -> Figure:
    """Test error against R_f, one mark a network, with the half-power line."""
    caption = (
        f"{what} Across, the relative stability R_f of the trained network: how much it changes "
        "when a test image is smoothly deformed by about a pixel, over how much it changes under "
        "noise of the same size. Upwards, its test error. Networks to the left are blind to "
        "deformations, and err less. The line is error = A sqrt(R_f) with the best A, dotted with "
        "the paper's A = 0.24. Circles have neither batch norm nor skips, squares batch norm, "
        "diamonds both; from violet to red networks are deeper. Geometric means over seeds with "
        "standard errors."
    )
    many = {"legend": "below", "height": 640} if len(rows) > _BESIDE else {"height": 520}
    figure = draw.axes("relative stability R_f", "test error", log="xy", caption=caption, **many)
    deepest = np.argsort(np.argsort([row["kind"].depth for row in rows], kind="stable"))
    shades = draw.shades(max(2, len(rows)))
    places = []
    for row, rank in zip(rows, deepest, strict=True):
        kind = row["kind"]
        symbol = "diamond" if kind.skips else "square" if kind.batch_norm else "circle"
        x, y = (_logs(row[name]) for name in ("R", "error"))
        if row.get("counts", True) and np.isfinite((x[0], y[0])).all():
            places.append((x[0], y[0]))
        draw.points(
            figure,
            [np.exp(x[0])],
            [np.exp(y[0])],
            row["label"],
            error=[np.exp(y[0]) * y[1]],
            error_x={"array": [np.exp(x[0]) * x[1]], "thickness": 1, "width": 3},
            symbol=symbol,
            size=11,
            color=shades[int(rank)],
        )
    if not places:
        return figure
    at = np.array(places)
    ends = np.exp(np.array([at[:, 0].min() - 0.3, at[:, 0].max() + 0.3]))
    prefactor = float(np.exp((at[:, 1] - at[:, 0] / 2).mean()))
    draw.line(figure, ends, prefactor * ends**0.5, f"{prefactor:.2g} sqrt(R_f)", color=draw.INK)
    draw.line(
        figure, ends, _PREFACTOR * ends**0.5, f"{_PREFACTOR} sqrt(R_f)", color=draw.SOFT, dash="dot"
    )
    return figure


def _logs(values: Any) -> tuple[float, float]:
    """Mean and standard error of logarithms; no error for a single draw."""
    logs = np.log(np.maximum(np.asarray(values, dtype=float), 1e-12))
    error = logs.std(ddof=1) / len(logs) ** 0.5 if len(logs) > 1 else 0.0
    return float(logs.mean()), float(error)


def profiles(rows: Sequence[tuple[str, Any]]) -> Figure:
    """R_f after every block against relative depth; of each network (seeds, when, layers)."""
    caption = (
        "Relative stability R_f of what each block of a network puts out, from the first layer "
        "(0) to the output (1). Left before training: all layers answer to deformations as they do "
        "to noise. Right after training: convolutional networks become blind to deformations step "
        "by step along their depth, fully connected ones do not. Geometric means over seeds with "
        "standard errors. Fully connected layers are read before the activation."
    )
    figure = draw.axes(
        "relative depth",
        "R_f",
        log="y",
        panels=("before training", "trained"),
        shared="y",
        caption=caption,
        legend="below",
        height=480,
    )
    for k, (label, values) in enumerate(rows):
        color = draw.COLORS[k % len(draw.COLORS)]
        dash = draw.DASHES[(k // len(draw.COLORS)) % len(draw.DASHES)]
        layers = np.isfinite(values).any((0, 1))
        values = values[:, :, layers]
        depth = np.linspace(0, 1, values.shape[-1])
        for when in range(2):
            middle, low, high = draw.centred(values[:, when], "geometric")
            draw.points(
                figure, depth, middle, label, error=(low, high), mode="lines+markers",
                color=color, dash=dash, size=5, panel=when + 1,
            )  # fmt: skip
    for panel in (1, 2):
        draw.level(figure, y=1.0, panel=panel)
    return figure
