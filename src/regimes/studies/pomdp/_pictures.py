"""Pictures of policies that several studies draw: matrices, columns, circles of words."""

from __future__ import annotations

from typing import Any

import numpy as np

from regimes.lab import Figure, draw

OUTCOME = ((draw.GREEN, "after +"), (draw.RED, "after -"))  # reward index 0 and 1
LIKELY = 0.5  # transitions below are drawn thin


def words(m: int, letters: str) -> list[str]:
    """All words of m letters in the order of their index, the oldest letter first.

    >>> words(2, "AB")
    ['AA', 'AB', 'BA', 'BB']
    """
    return ["".join(letters[i >> (m - 1 - k) & 1] for k in range(m)) for i in range(2**m)]


def matrix(
    figure: Figure, policy: np.ndarray, rows: list[str], columns: list[str], panel: int = 1
) -> None:
    """A policy as a matrix: a row an observation, a column an action, colour its probability."""
    figure.add_heatmap(
        z=policy,
        x=columns,
        y=rows,
        zmin=0.0,
        zmax=1.0,
        colorscale="Blues",
        colorbar={"title": "probability"},
        hovertemplate="%{y} → %{x}<br>%{z:.3g}",
        **draw.place(figure, panel),
    )
    figure.update_yaxes(autorange="reversed", type="category", **draw.place(figure, panel))
    figure.update_xaxes(type="category", **draw.place(figure, panel))


def columns_of(figure: Figure, policy: np.ndarray) -> None:
    """A RAM's policy (observations with an outcome, actions) as steps between two columns.

    A position is a memory and the last arm; an arrow is where the player goes after + (left of the
    line between) and after - (right of it), thin where it is unlikely.
    """
    states = policy.shape[1] // 2
    play = policy.reshape(states, 2, 2, states, 2)  # memory, arm, outcome; next memory, next arm
    for outcome, (color, name) in enumerate(OUTCOME):
        for thin in (False, True):
            tails, tips = [], []
            for n, e, to, arm in np.ndindex(states, 2, states, 2):
                p = play[n, e, outcome, to, arm]
                moves = (n, e) != (to, arm)
                if moves and p > 1e-12 and (p < LIKELY) == thin:
                    shift = 0.16 * (1 if outcome else -1)
                    tails.append((3.0 * e + shift, n + 1.0))
                    tips.append((3.0 * arm + shift, to + 1.0))
            if tails:
                _arrows(
                    figure, tails, tips, f"{name}, small probability" if thin else name, color, thin
                )
    x, y = np.repeat([0.0, 3.0], states), np.tile(np.arange(1.0, states + 1), 2)
    texts = [f"{int(level)}{'AB'[k // states]}" for k, level in enumerate(y)]
    _circles(figure, x, y, texts, size=26)
    figure.update_xaxes(visible=False, range=[-1.2, 4.2]).update_yaxes(visible=False)


def necklaces_of(figure: Figure, flip: np.ndarray, chain: list[list[int]]) -> None:
    """Circles of words, one a necklace of the chain, and the exits between them.

    Args:
        figure: an empty one.
        flip: probability of playing the opposite of the oldest arm, (words, rewards).
        chain: indices of the words of each necklace, in the order in which they turn.
    """
    m = int(np.log2(len(flip)))
    names, outcomes = words(m, "AB"), words(m, "+-")
    place: dict[int, tuple[float, float]] = {}
    for k, circle in enumerate(chain):
        radius = 0.0 if len(circle) == 1 else 0.62
        for j, word in enumerate(circle):
            angle = 2 * np.pi * j / len(circle) + np.pi / 4
            place[word] = (2.4 * k + radius * np.cos(angle), radius * np.sin(angle))
    turns = [
        (place[circle[j - 1]], place[circle[j]])
        for circle in chain
        for j in range(len(circle))
        if len(circle) > 1
    ]
    tails, tips = zip(*turns, strict=True)
    _arrows(figure, tails, tips, "oldest arm played again", draw.SLATE, False)
    for direction, color, name in (
        (1, draw.RED, "exit towards B"),
        (-1, draw.BLUE, "exit towards A"),
    ):
        leave, enter = [], []
        for word, rewards in np.argwhere(flip > 1e-12):
            after = (int(word) << 1 & (2**m - 1)) | (1 - (int(word) >> (m - 1)))
            if int(word) not in place or after not in place:
                continue  # a word outside the chain
            (x0, y0), (x1, y1) = place[int(word)], place[after]
            if np.sign(x1 - x0) == direction:
                leave.append((x0, y0))
                enter.append((x1, y1))
                draw.words(
                    figure,
                    f"{outcomes[rewards]}",
                    (x0 + x1) / 2,
                    (y0 + y1) / 2 + 0.13,
                    font={"size": 11, "color": color},
                )
        if leave:
            _arrows(figure, leave, enter, name, color, True)
    x, y = np.array([place[word] for circle in chain for word in circle]).T
    _circles(figure, x, y, [names[word] for circle in chain for word in circle], size=40)
    figure.update_xaxes(visible=False).update_yaxes(visible=False, scaleanchor="x")


def _arrows(figure: Figure, tails: Any, tips: Any, name: str, color: str, thin: bool) -> None:
    """Arrows that stop short of the circles they lead to."""
    tails, tips = np.asarray(tails, dtype=float), np.asarray(tips, dtype=float)
    along = tips - tails
    length = np.linalg.norm(along, axis=1, keepdims=True)
    short = np.minimum(0.28, length / 3) * along / length
    style: dict[str, Any] = {"width": 1.0 if thin else 2.2, "dash": "dot" if thin else "solid"}
    draw.arrows(figure, tails + short, tips - short, name, color=color, size=9, digits=3, **style)


def _circles(figure: Figure, x: Any, y: Any, texts: list[str], *, size: int) -> None:
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers+text",
        text=texts,
        textfont={"size": 11, "color": draw.INK},
        marker={"size": size, "color": "#ffffff", "line": {"color": draw.SOFT, "width": 1.2}},
        hoverinfo="text",
        showlegend=False,
    )
