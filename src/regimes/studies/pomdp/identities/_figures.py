"""How closely identities hold."""

import numpy as np

from regimes.lab import Data, Figure, draw, ran


def _differences(dataset: Data) -> Figure:
    at = ran(dataset, "reset")
    caption = (
        "The value of random problems by the steady state with resets, relative to the sum of "
        "discounted rewards solved directly. A single solve agrees to rounding; squaring stops "
        "once columns agree to 1e-8, the series where what is left is small."
    )
    figure = draw.axes("discount", "relative difference", log="y", caption=caption)
    direct = at.value_direct.transpose("problem", "discount").values
    ways = ("solve", "power", "series")
    for k, (way, symbol) in enumerate(zip(ways, draw.SYMBOLS, strict=False)):
        off = np.abs(at.value_reset.isel(solver=k).transpose("problem", "discount").values - direct)
        height = np.maximum(off / np.abs(direct), 1e-18)
        x = np.broadcast_to(at.discounts.values, height.shape)
        color = draw.COLORS[k]
        draw.points(figure, x.ravel(), height.ravel(), way, symbol=symbol, color=color)
    return figure


def _rewards(dataset: Data) -> Figure:
    at = ran(dataset, "reward")
    caption = (
        "Reward and probability of playing the worse arm of random policies of both memories, each "
        "with a gap mu of its own: they determine each other."
    )
    figure = draw.axes("probability q of the worse arm", "mean reward / mu", caption=caption)
    q = at.random_q.transpose("random_policy", "memory").values
    reward = (at.random_reward / at.random_gap).transpose("random_policy", "memory").values
    for k, name in enumerate(("RAM", "Memento")):
        draw.points(figure, q[:, k], reward[:, k], name, color=draw.COLORS[k])
    ends = np.array([q.min(), q.max()])
    draw.line(figure, ends, 1 - 2 * ends, "1 - 2q", color=draw.SOFT, dash="dash")
    return figure


FIGURES = {"Two ways to a value": _differences, "Reward and wrong arm": _rewards}
