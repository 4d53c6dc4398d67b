"""Accuracies of table 1, and a digit as the sphere sees it."""

from __future__ import annotations

from regimes.lab import Data, Figure, draw, judge

_PAPER = {("planar", "NR"): (0.98, 0.11), ("planar", "R"): (None, 0.23)}
_PAPER |= {("spherical", "NR"): (0.96, 0.94), ("spherical", "R"): (None, 0.95)}


def _table(dataset: Data) -> Figure:
    caption = (
        "Accuracy on test digits, upright (NR) or turned by random rotations of the sphere (R), of "
        "two networks trained on upright or on turned ones. Points: seeds. Open diamonds: the "
        "paper's table. The planar network trained on upright digits knows turned ones no better "
        "than by chance; the spherical one hardly notices."
    )
    figure = draw.axes("trained on / tested on", "accuracy", caption=caption)
    judge.need(dataset, "accuracy")
    for network, color in zip(("spherical", "planar"), draw.COLORS, strict=False):
        labels, values, told_at, told = [], [], [], []
        for trained in ("NR", "R"):
            try:
                at = judge.where_ran(dataset, "seed", "accuracy", network=network, trained=trained)
            except judge.Missing:
                continue
            found = at.accuracy.transpose("seed", "tested").values
            for tested, name in enumerate(("NR", "R")):
                labels += [f"{network} {trained}/{name}"] * len(found)
                values += found[:, tested].tolist()
                paper = _PAPER[network, trained][tested]
                if paper is not None:
                    told_at.append(f"{network} {trained}/{name}")
                    told.append(paper)
        look = {"color": color, "size": 9}
        figure.add_scatter(x=labels, y=values, mode="markers", marker=look, name=network)
        look = {"color": color, "size": 13, "symbol": "diamond-open"}
        name = f"{network}, the paper"
        figure.add_scatter(x=told_at, y=told, mode="markers", marker=look, name=name)
    figure.update_xaxes(type="category")
    figure.update_yaxes(range=[0, 1.02])
    return figure


FIGURES = {"Accuracy upright and turned": _table}
