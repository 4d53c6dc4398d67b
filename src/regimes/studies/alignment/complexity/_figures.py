"""Every measure beside the generalisation gap."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from regimes.lab import Data, Figure, draw, judge, rows

SHOWN = {
    "gap": ("gap (test error - train error)", draw.INK, "solid"),
    "complexity": ("C, complexity of the path", draw.RED, "solid"),
    "overparam": ("role of over-parametrisation", draw.BLUE, "solid"),
    "fisher_rao": ("Fisher-Rao", draw.GREEN, "solid"),
    "path_length": ("length of the path", draw.ORANGE, "dash"),
    "n_params": ("parameters", draw.SOFT, "dash"),
    "vc": ("VC dimension", draw.SOFT, "dot"),
    "l1max": ("l1-max norms", draw.VIOLET, "dash"),
    "fro": ("Frobenius norms", draw.CYAN, "dash"),
    "l3_1.5": ("l3,1.5 norms", draw.CYAN, "dot"),
    "path_1": ("l1 path norm", draw.OCHRE, "dash"),
    "path_1.5": ("l1.5 path norm", draw.OCHRE, "dashdot"),
    "path_2": ("l2 path norm", draw.OCHRE, "dot"),
    "spectral": ("spectral norms", draw.SLATE, "dash"),
    "spec_l21": ("spectral norms, l2,1 distance", draw.SLATE, "dot"),
    "spec_fro": ("spectral norms, Frobenius distance", draw.SLATE, "dashdot"),
}
BLOCKS = {
    "width": ("width", "width of the hidden layer", "x"),
    "corruption": ("corruption", "share of the labels drawn at random", ""),
    "channels": ("base", "channels of the first stage", "x"),
}


def _measures(block: str) -> Callable[[Data], Figure]:
    setting, title, log = BLOCKS[block]

    def figure(dataset: Data) -> Figure:
        caption = (
            f"Measures against the {title} of networks trained to a cross-entropy of 0.01, each "
            "divided by its largest value, means over seeds. The gap (black) is what a measure of "
            "complexity should follow; the path's complexity (red) weighs every step of the "
            "parameters by the size of the tangent features."
        )
        table = rows(dataset, block)
        made = draw.axes(
            title,
            "share of the largest value",
            log=log,
            caption=caption,
            legend="below",
            height=620,
        )
        values = np.unique(table[setting].values)
        for name, (label, color, dash) in SHOWN.items():
            means = np.array(
                [_mean(table[name].values[table[setting].values == v]) for v in values]
            )
            if np.isfinite(means).any():
                heights = means / np.nanmax(means)
                draw.points(
                    made, values, heights, label, mode="lines+markers", color=color, dash=dash
                )
        return made

    return figure


def _mean(values: np.ndarray) -> float:
    """Over the runs that have the measure."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else np.nan


def _scatter(dataset: Data) -> Figure:
    caption = (
        "Gap against the path's complexity, one point a run: networks of several widths (h), and "
        "one width with more and more random labels."
    )
    made = draw.axes("complexity C", "gap", log="x", caption=caption)
    drawn = False
    for (block, (_, title, _)), color in zip(BLOCKS.items(), draw.COLORS, strict=False):
        try:
            table = rows(dataset, block)
        except judge.Missing:
            continue
        draw.points(made, table.complexity.values, table.gap.values, title, color=color)
        drawn = True
    if not drawn:
        raise judge.Missing("no trial has finished")
    return made


FIGURES = {
    "Measures against width": _measures("width"),
    "Measures against random labels": _measures("corruption"),
    "Measures of a convolutional network": _measures("channels"),
    "Gap against complexity": _scatter,
}
