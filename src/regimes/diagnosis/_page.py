"""A diagnosis as one HTML page that needs nothing else, readable on a phone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from regimes.diagnosis._number import Number
from regimes.diagnosis._result import WORDS, Diagnosis, Layer
from regimes.diagnosis._verdict import CROSSOVER, WIDTH

_BEFORE, _AFTER = "#8a94a6", "#3b6fd4"
_STYLE = """
:root { color-scheme: light dark; --line: #d5d9e0; --soft: #667085; }
@media (prefers-color-scheme: dark) { :root { --line: #3a4150; --soft: #9aa4b5; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin-bottom: .3rem; }
h2 { font-size: 1.1rem; margin-top: 2rem; }
.soft, figcaption, td small { color: var(--soft); font-size: .9rem; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; padding: .35rem .6rem .35rem 0; border-top: 1px solid var(--line);
  vertical-align: top; }
th { font-weight: 600; } td.number { white-space: nowrap; }
.wide { overflow-x: auto; }
figure { margin: 1rem 0; } svg { max-width: 100%; height: auto; display: block; }
text { fill: currentColor; font: 13px system-ui, sans-serif; }
"""
_NAMES = {
    "kernel_change": "change of the kernel",
    "kernel_similarity": "likeness of the kernels",
    "label_alignment_before": "agreement with labels, before",
    "label_alignment_after": "agreement with labels, after",
    "label_alignment_before_test": "agreement on test points, before",
    "label_alignment_after_test": "agreement on test points, after",
    "effective_rank_before": "effective rank, before",
    "effective_rank_after": "effective rank, after",
    "linear_accuracy_start": "linear model, features of the start",
    "linear_accuracy_end": "linear model, features of the end",
    "first_order_error": "error of the first-order model",
    "first_order_accuracy": "accuracy of the first-order model",
    "weight_change": "change of the weights",
    "output_scale_before": "size of outputs, before",
    "output_scale_after": "size of outputs, after",
    "accuracy": "accuracy",
    "accuracy_before": "accuracy before training",
}


def page(found: Diagnosis) -> str:
    """The whole page."""
    head, _, rest = WORDS[found.regime].partition(": ")
    train, test = found.probes
    parts = [
        f"<h1>{escape(head)}</h1><p>{escape(rest[:1].upper() + rest[1:])}</p>",
        f"<p class=soft>Confidence {found.confidence:.0%}. {train} training and {test} test "
        f"points, {sum(found.seconds.values()):.1f} s.</p>",
        _scale(found.numbers.get("kernel_change")),
        _listed("Why", found.reasons),
        _listed("Mind", found.warnings),
        _listed("What one might try", found.advice),
        _numbers(found),
        _bars(found.by_layer),
        _layers(found.by_layer),
    ]
    return (
        "<!doctype html><html lang=en><head><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width, initial-scale=1'>"
        f"<title>{escape(head)}: diagnosis of a network</title><style>{_STYLE}</style></head>"
        f"<body>{''.join(parts)}</body></html>"
    )


def _scale(change: Number | None) -> str:
    """Where the change of the kernel lies between the regimes."""
    if change is None or not (math.isfinite(change.value) and change.value > 0):
        return ""
    left, right, width = -3.0, 2.0, 600

    def across(x: float) -> float:
        return width * (min(max(x, left), right) - left) / (right - left)

    center, edge = math.log10(CROSSOVER), 1.2816 * WIDTH
    low, high = across(center - edge), across(center + edge)
    here = across(math.log10(change.value))
    ticks = "".join(
        f"<text x='{across(k):.0f}' y='74' text-anchor='{'start' if k == left else 'middle'}'>"
        f"{10.0**k:g}</text>"
        for k in range(-3, 2)
    )
    return (
        f"<figure><svg viewBox='0 0 {width} 82' role=img aria-label='place on the scale'>"
        f"<rect x='0' y='34' width='{low:.1f}' height='18' fill='#8fb2e8'/>"
        f"<rect x='{low:.1f}' y='34' width='{high - low:.1f}' height='18' fill='#c9cdd6'/>"
        f"<rect x='{high:.1f}' y='34' width='{width - high:.1f}' height='18' fill='#f0b27a'/>"
        f"<text x='4' y='24'>lazy</text>"
        f"<text x='{(low + high) / 2:.0f}' y='24' text-anchor='middle'>unclear</text>"
        f"<text x='{width - 4}' y='24' text-anchor='end'>feature learning</text>"
        f"<path d='M{here:.1f},30 l-7,-12 h14 z' fill='currentColor'/>"
        f"<path d='M{here:.1f},30 V56' stroke='currentColor' stroke-width='2'/>{ticks}</svg>"
        "<figcaption>How far training changed the tangent kernel, relative to its size: "
        f"{escape(str(change))}.</figcaption></figure>"
    )


def _listed(title: str, sentences: Sequence[str]) -> str:
    if not sentences:
        return ""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<h2>{escape(title)}</h2><ul>{items}</ul>"


def _numbers(found: Diagnosis) -> str:
    rows = "".join(
        f"<tr><th>{escape(_NAMES.get(name, name))}<br><small class=soft>{escape(each.meaning)}"
        f"</small></th><td class=number>{escape(str(each))}</td></tr>"
        for name, each in found.numbers.items()
    )
    return f"<h2>Numbers</h2><table>{rows}</table>"


def _bars(layers: Sequence[Layer]) -> str:
    """Agreement with the labels of each layer's kernel, before and after."""
    shown = [each for each in layers if math.isfinite(each.alignment_after)]
    if not shown:
        return ""
    top = max(x for each in shown for x in (each.alignment_before, each.alignment_after) if x == x)
    rows, width, label = [], 600, 200
    for k, each in enumerate(shown):
        y = 24 * k
        name = each.name if len(each.name) < 27 else f"{each.name[:25]}…"
        rows.append(f"<text x='0' y='{y + 15}'>{escape(name)}</text>")
        pair = ((each.alignment_before, _BEFORE), (each.alignment_after, _AFTER))
        for j, (value, color) in enumerate(pair):
            if math.isfinite(value):
                long = max(0.0, (width - label) * value / (top or 1.0))
                rows.append(
                    f"<rect x='{label}' y='{y + 3 + 9 * j}' width='{long:.1f}' height='8' "
                    f"fill='{color}'/>"
                )
    return (
        "<h2>Layers</h2><figure>"
        f"<svg viewBox='0 0 {width} {24 * len(shown) + 4}' role=img "
        f"aria-label='agreement with the labels by layer'>{''.join(rows)}</svg>"
        "<figcaption>Agreement of each layer's part of the kernel with the labels, before training "
        f"(grey) and after (blue); the longest bar is {top:.2g}.</figcaption></figure>"
    )


def _layers(layers: Sequence[Layer]) -> str:
    if not layers:
        return ""
    head = "".join(
        f"<th>{text}</th>"
        for text in (
            "layer",
            "parameters",
            "weights moved by",
            "kernel moved by",
            "share of kernel",
        )
    )
    rows = "".join(
        f"<tr><td>{escape(each.name)}</td><td>{each.parameters:,}</td>"
        f"<td>{_short(each.weight_change)}</td><td>{_short(each.kernel_change)}</td>"
        f"<td>{_short(each.kernel_share)}</td></tr>"
        for each in layers
    )
    return f"<div class=wide><table><tr>{head}</tr>{rows}</table></div>"


def _short(value: float) -> str:
    return f"{value:.2g}" if math.isfinite(value) else "–"
