"""A diagnosis as one HTML page that needs nothing else, readable on a phone."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from regimes.diagnosis import _figures as figures
from regimes.diagnosis._layers import Layer
from regimes.diagnosis._number import about
from regimes.diagnosis._result import WORDS, Diagnosis

_STYLE = """
:root { color-scheme: light dark; --line: #d5d9e0; --soft: #5d6778; --before: #8a94a6;
  --after: #3b6fd4; --lazy: #8fb2e8; --unclear: #c9cdd6; --feature: #f0b27a; }
@media (prefers-color-scheme: dark) { :root { --line: #3a4150; --soft: #a3adbd; --after: #7aa2f7;
  --lazy: #3f6db0; --unclear: #555d6b; --feature: #b06f2c; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 1.5rem auto;
  padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin-bottom: .3rem; }
h2 { font-size: 1.15rem; margin-top: 2rem; }
li { margin: .3rem 0; }
a { color: inherit; }
.soft, figcaption, small { color: var(--soft); font-size: .9rem; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; padding: .35rem .6rem .35rem 0; border-top: 1px solid var(--line);
  vertical-align: top; }
th { font-weight: 600; }
.fact { border-top: 1px solid var(--line); padding: .35rem 0; }
.fact div { display: flex; justify-content: space-between; gap: 1rem; }
.fact span { white-space: nowrap; }
.wide { overflow-x: auto; } .wide td, .wide th { overflow-wrap: normal; white-space: nowrap; }
figure { margin: 1rem 0; } svg { width: 100%; max-width: 34rem; height: auto; display: block; }
text { fill: currentColor; font: 12px system-ui, sans-serif; }
.bars { display: grid; grid-template-columns: minmax(5rem, 14rem) 1fr; gap: .15rem .6rem;
  font-size: .9rem; }
.bars div div { height: .45rem; margin: .1rem 0; border-radius: 2px; }
"""
_NAMES = {
    "kernel_change": "Change of the tangent kernel",
    "crossover_distance": "Distance from the crossover",
    "kernel_similarity": "Likeness of the kernels",
    "label_alignment_before": "Agreement with the labels, before",
    "label_alignment_after": "Agreement with the labels, after",
    "label_alignment_before_test": "Agreement on test points, before",
    "label_alignment_after_test": "Agreement on test points, after",
    "effective_rank_before": "Effective rank, before",
    "effective_rank_after": "Effective rank, after",
    "linear_accuracy_start": "Linear model on the features of the start",
    "linear_accuracy_end": "Linear model on the features of the end",
    "first_order_error": "Error of the first-order model",
    "first_order_accuracy": "Accuracy of the first-order model",
    "most_frequent_label": "Share of the most frequent label",
    "weight_change": "Change of the weights",
    "output_scale_before": "Size of the outputs, before",
    "output_scale_after": "Size of the outputs, after",
    "sharpness": "Sharpness of the loss",
    "sharpness_against_step": "Sharpness against the step size",
    "deformation_stability_before": "Sensitivity to deformations, before",
    "deformation_stability_after": "Sensitivity to deformations, after",
    "accuracy": "Accuracy",
    "accuracy_before": "Accuracy before training",
}


_PLUS_MINUS = "\u00a0±\u00a0"  # not torn apart at the end of a line


def page(found: Diagnosis) -> str:
    """The whole page."""
    head, _, rest = WORDS[found.regime].partition(": ")
    train, test = found.probes
    parts = [
        f"<h1>{escape(head)}</h1><p>{escape(rest[:1].upper() + rest[1:])}</p>",
        f"<p class=soft>Confidence {found.confidence:.0%}. Looked at {train} training and {test} "
        f"test points in {sum(found.seconds.values()):.1f} s.</p>",
        figures.scale(found.numbers.get("kernel_change")),
        _listed("Why", found.reasons),
        _listed("Mind", found.warnings),
        _listed("What one might try", found.advice),
        figures.course(found.course),
        figures.spectra(found.spectra),
        figures.bars(found.by_layer),
        _layers(found.by_layer),
        _numbers(found),
        _WORDS,
    ]
    return (
        "<!doctype html><html lang=en><head><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width, initial-scale=1'>"
        f"<title>{escape(head)}: diagnosis of a network</title><style>{_STYLE}</style></head>"
        f"<body>{''.join(parts).replace(' ± ', _PLUS_MINUS)}</body></html>"
    )


_WORDS = (
    "<h2>Words</h2><dl>"
    "<dt><b>Tangent kernel</b></dt><dd>For two inputs, how much a small training step on one "
    "changes the output at the other: the product of the two gradients by the weights. If it stays "
    "as it is during training, the network trains like a linear model with fixed features.</dd>"
    "<dt><b>Lazy</b></dt><dd>The weights need to move so little that the kernel stays; the network "
    "uses the features it had by chance at the start.</dd>"
    "<dt><b>Feature learning</b></dt><dd>The kernel changes by as much as it was, or more; the "
    "network makes features that suit the task.</dd>"
    "<dt><b>Probes</b></dt><dd>The points of yours that were looked at. Errors (±) say how much a "
    "number differs between batches of them, not between training runs.</dd></dl>"
    "<p class=soft>The manual has a page on every number, by the name in small letters: "
    "<code>regimes docs</code>, “What a diagnosis measures”.</p>"
)


def _listed(title: str, sentences: Sequence[str]) -> str:
    if not sentences:
        return ""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<h2>{escape(title)}</h2><ul>{items}</ul>"


def _numbers(found: Diagnosis) -> str:
    rows = "".join(
        f"<div class=fact id={name}><div><b>{escape(_NAMES.get(name, name))}</b>"
        f"<span>{escape(str(each))}</span></div>"
        f"<small>{escape(each.meaning)} <code>{name}</code></small></div>"
        for name, each in found.numbers.items()
    )
    return f"<h2>Numbers</h2>{rows}"


def _layers(layers: Sequence[Layer]) -> str:
    if not layers:
        return ""
    names = ("layer", "parameters", "weights moved by", "kernel moved by", "share of kernel")
    head = "".join(f"<th>{text}</th>" for text in names)
    rows = "".join(
        f"<tr><td>{escape(each.called)}</td><td>{each.parameters:,}</td>"
        f"<td>{about(each.weight_change)}</td><td>{about(each.kernel_change)}</td>"
        f"<td>{about(each.kernel_share)}</td></tr>"
        for each in layers
    )
    return (
        "<p class=soft>Changes are relative to the size before training; the share is that of the "
        f"kernel's diagonal after it.</p><div class=wide><table><tr>{head}</tr>{rows}</table></div>"
    )
