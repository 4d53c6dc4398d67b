"""Pictures of a diagnosis as plain SVG, narrow enough that their letters stay large on a phone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from statistics import NormalDist

from regimes.diagnosis._layers import Layer, Moment
from regimes.diagnosis._number import Number
from regimes.diagnosis._verdict import CROSSOVER, SURE, WIDTH

_WIDE, _HIGH, _LEFT, _FOOT = 360, 190, 44, 34  # of a picture, and room for the axes
_SURE = NormalDist().inv_cdf(SURE)  # standard deviations from the crossover to a side
_MOST_LAYERS = 40


def scale(change: Number | None) -> str:
    """Where the change of the kernel lies between the regimes."""
    if change is None or not (math.isfinite(change.value) and change.value > 0):
        return ""
    left, right = -3.0, 2.0

    def across(x: float) -> float:
        return _WIDE * (min(max(x, left), right) - left) / (right - left)

    center, edge = math.log10(CROSSOVER), _SURE * WIDTH
    low, high = across(center - edge), across(center + edge)
    here = min(max(across(math.log10(change.value)), 7), _WIDE - 7)
    ticks = "".join(
        f"<text x='{across(k):.0f}' y='70' text-anchor='{_anchor(k, left, right)}'>"
        f"{10.0**k:g}</text>"
        for k in range(-3, 3)
    )
    return (
        f"<figure><svg viewBox='0 0 {_WIDE} 76' role=img aria-label='place on the scale'>"
        f"<rect x='0' y='34' width='{low:.1f}' height='18' style='fill:var(--lazy)'/>"
        f"<rect x='{low:.1f}' y='34' width='{high - low:.1f}' height='18' "
        "style='fill:var(--unclear)'/>"
        f"<rect x='{high:.1f}' y='34' width='{_WIDE - high:.1f}' height='18' "
        "style='fill:var(--feature)'/>"
        "<text x='2' y='12'>lazy</text>"
        f"<text x='{(low + high) / 2:.0f}' y='12' text-anchor='middle'>unclear</text>"
        f"<text x='{_WIDE - 2}' y='12' text-anchor='end'>feature learning</text>"
        f"<path d='M{here:.1f},31 l-7,-12 h14 z' fill='currentColor'/>"
        f"<path d='M{here:.1f},31 V55' stroke='currentColor' stroke-width='2'/>{ticks}</svg>"
        "<figcaption>How far training changed the tangent kernel, relative to its size: "
        f"{escape(str(change))}.</figcaption></figure>"
    )


def _anchor(k: float, left: float, right: float) -> str:
    return "start" if k == left else "end" if k == right else "middle"


def course(moments: Sequence[Moment]) -> str:
    """When the kernel moved."""
    points = [(each.step, each.kernel_change) for each in moments if each.kernel_change > 0]
    if len(points) < 2:
        return ""
    return (
        "<h2>When the kernel moved</h2>"
        + _lines({"after": points}, "steps of training")
        + "<figcaption>Change of the tangent kernel of some probes by steps of training, relative "
        "to its size at the start; both axes are logarithmic.</figcaption></figure>"
    )


def spectra(found: Mapping[str, Sequence[float]]) -> str:
    """Eigenvalues of the kernel, largest first."""
    curves = {
        moment: [(k + 1, value) for k, value in enumerate(values) if value > _FLOOR]
        for moment, values in found.items()
    }
    curves = {moment: points for moment, points in curves.items() if len(points) > 1}
    if not curves:
        return ""
    told = " before training (grey) and after (blue)" if len(curves) > 1 else ""
    return (
        "<h2>Directions the network can move in</h2>"
        + _lines(curves, "number of the direction")
        + f"<figcaption>Shares of the kernel's largest eigenvalues{told}; both axes are "
        "logarithmic. A steep curve means that training moves the network in few directions."
        "</figcaption></figure>"
    )


_FLOOR = 1e-7  # share of the sum, below which eigenvalues are rounding


def _lines(curves: Mapping[str, Sequence[tuple[float, float]]], below: str) -> str:
    """Curves on two logarithmic axes, an open figure to be closed by its caption."""
    xs, ys = ([math.log10(p[k]) for c in curves.values() for p in c] for k in (0, 1))
    x0, x1, y0, y1 = min(xs), max(xs), math.floor(min(ys)), math.ceil(max(ys))
    x1, y1 = max(x1, x0 + 0.1), max(y1, y0 + 1)

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            _LEFT + (_WIDE - _LEFT - 8) * (x - x0) / (x1 - x0),
            6 + (_HIGH - _FOOT - 6) * (y1 - y) / (y1 - y0),
        )

    drawn = []
    every = max(1, (y1 - y0) // 4)
    for k in range(y0, y1 + 1, every):
        height = place(x0, k)[1]
        drawn.append(
            f"<path d='M{_LEFT},{height:.1f} H{_WIDE - 8}' style='stroke:var(--line)'/>"
            f"<text x='{_LEFT - 6}' y='{height + 4:.1f}' text-anchor='end'>{_power(k)}</text>"
        )
    for k in range(math.ceil(x0), math.floor(x1) + 1):
        across = place(k, y0)[0]
        drawn.append(
            f"<text x='{across:.1f}' y='{_HIGH - _FOOT + 15}' text-anchor='middle'>{10**k:,}</text>"
        )
    drawn.append(
        f"<text x='{(_LEFT + _WIDE) / 2:.0f}' y='{_HIGH - 3}' text-anchor='middle'>{below}</text>"
    )
    for moment, points in curves.items():
        track = " ".join(
            f"{a:.1f},{b:.1f}" for a, b in (place(math.log10(x), math.log10(y)) for x, y in points)
        )
        drawn.append(
            f"<polyline points='{track}' fill='none' style='stroke:var(--{moment})' "
            "stroke-width='2'/>"
        )
    return f"<figure><svg viewBox='0 0 {_WIDE} {_HIGH}' role=img>{''.join(drawn)}</svg>"


def _power(k: int) -> str:
    return f"{10.0**k:g}" if -3 <= k <= 3 else f"1e{k}"


def bars(layers: Sequence[Layer]) -> str:
    """Agreement with the labels of each layer's kernel, before and after."""
    shown = [each for each in layers if math.isfinite(each.alignment_after)][:_MOST_LAYERS]
    if not shown:
        return ""
    pairs = [
        ("before", [each.alignment_before for each in shown]),
        ("after", [each.alignment_after for each in shown]),
    ]
    top = max(x for _, values in pairs for x in values if math.isfinite(x)) or 1.0
    rows = "".join(
        f"<div>{escape(each.called)}</div><div>"
        + "".join(
            f"<div style='width:{100 * max(values[k], 0) / top:.1f}%;background:var(--{moment})'>"
            "</div>"
            for moment, values in pairs
            if math.isfinite(values[k])
        )
        + "</div>"
        for k, each in enumerate(shown)
    )
    more = f" The first {_MOST_LAYERS} are shown." if len(layers) > len(shown) > 39 else ""
    both = "before training (grey) and after (blue)" if len(layers) and any(
        math.isfinite(each.alignment_before) for each in shown
    ) else "after training"  # fmt: skip
    return (
        f"<h2>Layers</h2><figure><div class=bars role=img aria-label='agreement with the labels "
        f"by layer'>{rows}</div><figcaption>Agreement of each layer's part of the kernel with the "
        f"labels, {both}; the longest bar is {top:.2g}, and 1 would be perfect.{more}</figcaption>"
        "</figure>"
    )
