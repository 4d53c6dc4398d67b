"""Pictures of policies that several studies draw: matrices, columns, circles of words."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np

from regimes.lab import Figure, draw

OUTCOME = ((draw.GREEN, "after +"), (draw.RED, "after -"))  # reward index 0 and 1
NEVER = 1e-12  # transitions below are drawn nowhere
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
    line between) and after - (right of it), dotted where it is unlikely. The two steps from column
    to column lie one above the other.
    """
    states = policy.shape[1] // 2
    play = policy.reshape(states, 2, 2, states, 2)  # memory, arm, outcome; next memory, next arm
    width = 1.5
    for outcome, (color, name) in enumerate(OUTCOME):
        for thin in (False, True):
            arrows = []
            for n, e, to, arm in np.ndindex(states, 2, states, 2):
                p = play[n, e, outcome, to, arm]
                moves = (n, e) != (to, arm)
                if moves and p > NEVER and (p < LIKELY) == thin:
                    aside = (0.1 if outcome else -0.1, 0.0) if e == arm else (0.0, 0.2 - 0.4 * e)
                    ends = np.array([(width * e, n + 1.0), (width * arm, to + 1.0)]) + aside
                    short = 0.28 if e == arm else 0.12
                    arrows.append(_shortened(ends[0], ends[1], short))
            if arrows:
                full = f"{name}, small probability" if thin else name
                _arrows(figure, arrows, full, color, thin)
    x, y = np.repeat([0.0, width], states), np.tile(np.arange(1.0, states + 1), 2)
    texts = [f"{int(level)}{'AB'[k // states]}" for k, level in enumerate(y)]
    _circles(figure, x, y, texts, size=26)
    for e, arm in enumerate("AB"):
        draw.words(figure, f"arm {arm} is played", width * e, states + 0.7)
    figure.update_xaxes(visible=False, range=[-1.2, width + 1.2])
    figure.update_yaxes(visible=False, range=[0.4, states + 1.1])


def necklaces_of(figure: Figure, flip: np.ndarray, chain: list[list[int]]) -> None:
    """Rows of words, one a necklace of the chain, and the exits between them.

    Args:
        figure: an empty one.
        flip: probability of playing the opposite of the oldest arm, (words, rewards).
        chain: indices of the words of each necklace, in the order in which they turn.
    """
    m = int(np.log2(len(flip)))
    names = words(m, "AB")
    outcomes = ["\u2009".join(each) for each in words(m, "+\u2212")]  # apart, as wide as a plus
    exits = [
        (int(word), (int(word) << 1 & (2**m - 1)) | (1 - (int(word) >> (m - 1))), rewards)
        for word, rewards in np.argwhere(flip > NEVER)
    ]
    place = _rows(chain, [(word, after) for word, after, _ in exits])
    turns, round_ = [], []
    for circle in chain:
        row = sorted(circle, key=lambda word: place[word][0])
        turns += [_shortened(place[a], place[b], 0.3) for a, b in pairwise(row)]
        if len(row) > 1:  # the last one turns into the first: out at the right, in at the left
            (left, y), (right, _) = place[row[0]], place[row[-1]]
            round_ += [((right + 0.3, y), (right + 0.62, y)), ((left - 0.62, y), (left - 0.3, y))]
    _arrows(figure, [*turns, *round_], "oldest arm played again", draw.SLATE, False)
    for down, color, name in (
        (True, draw.RED, "exit towards B"),
        (False, draw.BLUE, "exit towards A"),
    ):
        arrows = []
        for word, after, rewards in exits:
            if word not in place or after not in place:
                continue  # a word outside the chain
            tail, tip = np.array(place[word]), np.array(place[after])
            if (tip[1] < tail[1]) == down:
                arrows.append(_shortened(tail, tip, 0.3))
                x, y = tail + 0.38 * (tip - tail)
                note = {"font": {"size": 12, "color": color}, "bgcolor": "rgba(255,255,255,0.85)"}
                draw.words(figure, outcomes[rewards], x, y, **note)
        if arrows:
            _arrows(figure, arrows, name, color, True)
    x, y = np.array([place[word] for circle in chain for word in circle]).T
    _circles(figure, x, y, [names[word] for circle in chain for word in circle], size=40)
    figure.update_xaxes(visible=False, range=[-0.8, m - 0.2])
    figure.update_yaxes(visible=False, range=[0.4 - len(chain), 0.4])


def _rows(chain: list[list[int]], exits: list[tuple[int, int]]) -> dict[int, tuple[float, float]]:
    """Places of words, each necklace a row that begins where exits between rows are shortest."""
    widest = max(map(len, chain))

    def placed(begins: tuple[int, ...]) -> dict[int, tuple[float, float]]:
        return {
            word: ((j - begin) % len(circle) + (widest - len(circle)) / 2, -1.0 * k)
            for k, (circle, begin) in enumerate(zip(chain, begins, strict=True))
            for j, word in enumerate(circle)
        }

    def length(place: dict[int, tuple[float, float]]) -> float:
        inside = [(a, b) for a, b in exits if a in place and b in place]
        return sum((place[a][0] - place[b][0]) ** 2 for a, b in inside)

    return min(map(placed, product(*(range(len(circle)) for circle in chain))), key=length)


def _shortened(tail: Any, tip: Any, short: float) -> tuple[Any, Any]:
    """An arrow that stops short of the circles at both its ends."""
    tail, tip = np.asarray(tail, dtype=float), np.asarray(tip, dtype=float)
    along = short * (tip - tail) / np.linalg.norm(tip - tail)
    return tail + along, tip - along


def _arrows(figure: Figure, arrows: Any, name: str, color: str, thin: bool) -> None:
    """Arrows (n, tail and tip, 2) of one kind."""
    tails, tips = np.asarray(arrows, dtype=float).transpose(1, 0, 2)
    style: dict[str, Any] = {"width": 1.4 if thin else 2.2, "dash": "dot" if thin else "solid"}
    draw.arrows(figure, tails, tips, name, color=color, size=11, digits=3, **style)


def _circles(figure: Figure, x: Any, y: Any, texts: list[str], *, size: int) -> None:
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers+text",
        text=texts,
        textfont={"size": 11, "color": "#ffffff"},
        marker={"size": size, "color": draw.SOFT},
        hoverinfo="text",
        showlegend=False,
    )
