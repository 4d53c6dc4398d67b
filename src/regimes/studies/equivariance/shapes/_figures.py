"""What the sphere sees, and how well both networks know it."""

from __future__ import annotations

from typing import Any

import numpy as np

from regimes.lab import Data, Figure, draw, judge

SCORES = ("P@N", "R@N", "F1", "mAP", "NDCG")


def _accuracy(dataset: Data) -> Figure:
    caption = (
        "Accuracy on test solids of a spherical and a planar network, both trained on aligned "
        "solids alone. Bars: mean over seeds with its standard error. Turning the test solids "
        "costs the spherical network next to nothing, the planar one much."
    )
    figure = draw.axes("tested on", "accuracy", caption=caption)
    judge.need(dataset, "accuracy")
    for network, color in zip(("spherical", "planar"), draw.COLORS, strict=False):
        try:
            at = judge.where_ran(dataset, "seed", "accuracy", network=network)
        except judge.Missing:
            continue
        found = at.accuracy.transpose("seed", "tested").values.astype(float)
        draw.bars(
            figure,
            ["aligned solids", "turned solids"],
            found.mean(0),
            network,
            error=judge.standard_error(found),
            color=color,
        )
    figure.update_yaxes(range=[0, 1.02])
    return figure


def _scores(dataset: Data) -> Figure:
    caption = (
        "The scores of the SHREC17 challenge, mean over queries: precision and recall of the list "
        "of a query, their harmonic mean, average precision, normalised gain. Every test solid is "
        "a query; its list holds what the network puts into the same family. Points: seeds. Open "
        "diamonds: the paper's table, on turned shapes of SHREC17, which are harder."
    )
    figure = draw.axes("score", "value", caption=caption, legend="below")
    judge.need(dataset, "scores")
    for k, network in enumerate(("spherical", "planar")):
        try:
            at = judge.where_ran(dataset, "seed", "scores", network=network)
        except judge.Missing:
            continue
        found: Any = at.scores.transpose("seed", "tested", "mean", "score").values
        for tested, name in enumerate(("aligned", "turned")):
            values = found[:, tested, 0]
            draw.points(
                figure,
                np.tile(SCORES, len(values)),
                values.ravel(),
                f"{network}, {name}",
                color=draw.COLORS[k],
                symbol=("circle-open", "circle")[tested],
                size=9,
            )
    paper = (0.701, 0.711, 0.699, 0.676, 0.756)
    draw.points(figure, SCORES, paper, "the paper", symbol="diamond-open", size=12, color="#666666")
    figure.update_yaxes(range=[0, 1.02])
    return figure


def _seen(dataset: Data) -> Figure:
    caption = (
        "One solid of each family as the sphere around it sees it: the length of the ray from each "
        "point of the sphere to the solid, longitude across and latitude down, north above. Dark: "
        "near. Upper row: aligned, as in training. Lower row: the same solids turned at random."
    )
    at = judge.where_ran(dataset, "seed", "seen", network="spherical").isel(seed=0)
    rows = [at.seen.values.astype(float), at.seen_turned.values.astype(float)]
    count = len(rows[0])
    low = min(float(row.min()) for row in rows)
    span = max(float(row.max()) for row in rows) - low
    figure = draw.axes("", "", caption=caption, height=330)
    for down, solids in enumerate(rows):
        for k, seen in enumerate(solids):
            draw.picture(figure, (seen - low) / (span or 1.0), k, -down, 0.94, 0.94)
    figure.add_scatter(x=[0, count - 1], y=[0, -1], mode="markers", marker={"opacity": 0})
    figure.update_layout(showlegend=False)
    figure.update_xaxes(visible=False, range=[-0.55, count - 0.45])
    figure.update_yaxes(
        tickvals=[0, -1],
        ticktext=["aligned", "turned"],
        range=[-1.55, 0.55],
        showgrid=False,
        zeroline=False,
    )
    return figure


FIGURES = {
    "Accuracy on turned solids": _accuracy,
    "Scores of retrieval": _scores,
    "What the sphere sees": _seen,
}
