"""Test error against steps."""

from __future__ import annotations

from regimes.lab import Data, Figure, draw, judge

LABELS = {
    "off": "gradient descent",
    "contract": "SuperNat",
    "keep_top": "SuperNat, top eigenvalue kept",
}


def _errors(dataset: Data) -> Figure:
    at = judge.need(dataset, "error_contract")
    caption = (
        "Mean square error on noiseless test targets against steps, medians over draws of the data "
        "with bars over the middle half. Descent learns the useful feature and then the noise; "
        "SuperNat freezes the noise features, unless its rescaling keeps the largest eigenvalue."
    )
    titles = ["noise along its features", "noise by an orthogonal projector"]
    figure = draw.axes(
        "steps", "test error", log="y", caption=caption, panels=titles, legend="below"
    )
    for panel, orthogonal in enumerate((False, True), start=1):
        if orthogonal not in at.orthogonal.values:
            continue
        part = at.sel(orthogonal=orthogonal)
        for (mode, label), color in zip(LABELS.items(), draw.COLORS, strict=False):
            draw.curve(
                figure,
                part[f"error_{mode}"],
                "kept",
                label,
                center="median",
                mode="lines",
                color=color,
                panel=panel,
            )
    return figure


FIGURES = {"Test error": _errors}
