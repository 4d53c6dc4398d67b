"""The pieces, how well they are recognised, and how networks learn them."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Figure, draw, judge

_SHOWN = 6  # rotations beside the first orientation
_NAMES = {"steerable": "steerable, gates", "norm": "steerable, norms", "cnn": "ordinary CNN"}


def _pieces(dataset: Data) -> Figure:
    """All pieces in one orientation, and in a few others."""
    from regimes import data
    from regimes.data._tetris import TETRIS

    judge.need(dataset, "accuracy")
    made = data.tetris(n_rotations=_SHOWN, side=20, seed=0)
    rows = np.concatenate([made.x_train[:, 0].numpy(), made.x_test[:, 0].numpy()])
    shades = rows.sum(3).reshape(_SHOWN + 1, 8, 20, 20)  # seen along one axis
    caption = (
        "The eight pieces as densities, seen along one axis: first row the only orientation that "
        "is trained on, below it six of those that are asked for."
    )
    figure = draw.axes("", "", caption=caption, height=620)
    for row, line in enumerate(shades):
        for column, shade in enumerate(line):
            tone = 1 - (shade / shades.max()).T
            draw.picture(figure, tone, column, _SHOWN - row, 0.94, 0.94)
    for update in (figure.update_xaxes, figure.update_yaxes):
        update(showgrid=False, zeroline=False)
    figure.update_xaxes(
        range=[-0.5, 7.5], tickvals=list(range(8)), ticktext=list(TETRIS), side="top"
    )
    ticks = {"tickvals": [_SHOWN, (_SHOWN - 1) / 2], "ticktext": ["trained", "asked"]}
    figure.update_yaxes(range=[-0.5, _SHOWN + 0.5], **ticks)
    return figure


def _accuracy(dataset: Data) -> Figure:
    caption = (
        "The share of turned pieces that are recognised, mean over seeds with standard error. "
        "Dashed: guessing."
    )
    figure = draw.axes("", "accuracy", caption=caption)
    for thinning, color in zip(("low-pass", "stride"), draw.COLORS, strict=False):
        names, heights, errors = [], [], []
        for model, name in _NAMES.items():
            try:
                at = judge.where_ran(dataset, "seed", "accuracy", model=model, thinning=thinning)
            except judge.Missing:
                continue
            found = judge.mean_of(at.accuracy.values)
            names.append(name)
            heights.append(found.value)
            errors.append(found.error)
        draw.bars(figure, names, heights, f"thinned by {thinning}", error=errors, color=color)
    draw.level(figure, y=1 / 8, dash="dash")
    figure.update_yaxes(range=[0, 1.05])
    return figure


def _learning(dataset: Data) -> Figure:
    caption = "The training loss of every seed: eight pieces in one orientation, all in one batch."
    figure = draw.axes("epoch", "training loss", log="y", caption=caption)
    for (model, name), color in zip(_NAMES.items(), draw.COLORS, strict=False):
        for thinning, dash in (("low-pass", "solid"), ("stride", "dot")):
            try:
                at = judge.where_ran(dataset, "seed", "loss", model=model, thinning=thinning)
            except judge.Missing:
                continue
            for k in range(at.sizes["seed"]):
                one = at.isel(seed=k)
                draw.line(
                    figure, one.epoch.values, np.maximum(one.loss.values, 1e-6),
                    f"{name}, {thinning}", color=color, dash=dash,
                )  # fmt: skip
    return figure


FIGURES = {
    "Pieces": _pieces,
    "Recognised in any orientation": _accuracy,
    "Training": _learning,
}
