"""The share of the labels on the top eigenvectors, epoch by epoch."""

from __future__ import annotations

from regimes.lab import Data, Figure, draw
from regimes.studies.linearization._judging import settings


def _share(dataset: Data) -> Figure:
    caption = (
        "Share |Phi_K y|/|y| of the labels on the K strongest eigenvectors of the tangent kernel "
        "of the training points, after so many epochs (one added, so that the start is seen); "
        "mean over seeds with standard errors. Dotted: random labels at the start. The kernel "
        "turns towards the labels while the network learns them."
    )
    every = list(settings(dataset, "share"))
    panels = [where for where, _ in every]
    figure = draw.axes("epoch + 1", "share of the labels", panels=panels, log="x", caption=caption)
    for panel, (_, own) in enumerate(every, 1):
        for top, color, part in draw.each(own, "top"):
            draw.curve(
                figure,
                part.share,
                "epoch",
                f"K = {top}",
                x=own.epoch.values + 1,
                color=color,
                panel=panel,
            )
            draw.level(figure, y=float(part.chance.mean()), color=color, panel=panel)
    return figure


def _alignment(dataset: Data) -> Figure:
    caption = (
        "Alignment of the labels with the kernel, divided by the kernel's trace and by its value "
        "at the start: what grows is more than the kernel's size."
    )
    figure = draw.axes(
        "epoch + 1", "alignment / trace, relative to the start", log="x", caption=caption
    )
    for k, (where, own) in enumerate(settings(dataset, "alignment")):
        scaled = own.alignment / own.trace
        relative = scaled / scaled.isel(epoch=0)
        draw.curve(figure, relative, "epoch", where, x=own.epoch.values + 1, color=draw.COLORS[k])
    return figure


FIGURES = {"Share of the labels": _share, "Alignment of the labels": _alignment}
