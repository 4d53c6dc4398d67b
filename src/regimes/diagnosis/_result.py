"""A diagnosis: the verdict with its numbers, in a terminal, a notebook, a page or a dict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

from regimes._html import block, facts, table
from regimes.diagnosis._layers import Layer, Moment
from regimes.diagnosis._number import Number, about
from regimes.diagnosis._verdict import Regime

WORDS = {
    "lazy": "Lazy: training hardly changed what the network can represent near its start.",
    "feature": "Feature learning: training changed the network's own features.",
    "unclear": "Unclear: the numbers do not decide between lazy training and feature learning.",
}

_LAYERS = 5  # that a terminal shows


@final
@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """What regime a network was trained in, and what that rests on.

    Attributes:
        regime: "lazy", "feature" or "unclear".
        confidence: the probability that the side is right, as far as these numbers tell; 0.5 where
            nothing speaks for a side.
        numbers: name -> `Number` with `value`, `error` and `meaning`.
        reasons: why, in sentences.
        advice: what one might try, as hypotheses.
        warnings: what makes the numbers doubtful.
        by_layer: the same by layer, in the order of the network.
        spectra: "before" and "after" -> the largest eigenvalues of the kernel of one batch of
            probes, as shares of their sum.
        course: what training had done by steps 1, 2, 4, ..., where it was watched.
        probes: how many training and test points were looked at.
        seconds: wall time by part.
    """

    regime: Regime
    confidence: float
    numbers: Mapping[str, Number]
    reasons: list[str]
    advice: list[str]
    warnings: list[str]
    by_layer: tuple[Layer, ...]
    spectra: Mapping[str, tuple[float, ...]]
    course: tuple[Moment, ...]
    probes: tuple[int, int]
    seconds: Mapping[str, float]

    def __str__(self) -> str:
        """For a terminal."""
        width = max(map(len, self.numbers), default=0)
        lines = [f"{WORDS[self.regime]} (confidence {self.confidence:.0%})", ""]
        lines += [f"- {sentence}" for sentence in self.reasons]
        lines += ["", *(f"{name.ljust(width)}  {each}" for name, each in self.numbers.items())]
        lines += _moved_most(self.by_layer)
        if self.advice:
            lines += ["", "What one might try:", *(f"- {sentence}" for sentence in self.advice)]
        if self.warnings:
            lines += ["", "Mind:", *(f"- {sentence}" for sentence in self.warnings)]
        train, test = self.probes
        lines += [
            "",
            f"{train} training and {test} test points, {sum(self.seconds.values()):.1f} s",
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return (
            f"Diagnosis({self.regime}, confidence {self.confidence:.2f}, "
            f"{len(self.numbers)} numbers, {len(self.by_layer)} layers)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; what is not finite is None."""
        return _plain(
            {
                "regime": self.regime,
                "confidence": self.confidence,
                "numbers": {name: asdict(each) for name, each in self.numbers.items()},
                "reasons": self.reasons,
                "advice": self.advice,
                "warnings": self.warnings,
                "by_layer": [asdict(layer) for layer in self.by_layer],
                "spectra": dict(self.spectra),
                "course": [asdict(moment) for moment in self.course],
                "probes": {"train": self.probes[0], "test": self.probes[1]},
                "seconds": dict(self.seconds),
            }
        )

    def to_html(self, path: str | Path) -> Path:
        """Write a page that needs nothing else, and return its place."""
        from regimes.diagnosis._page import page

        place = Path(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(page(self), encoding="utf-8")
        return place

    def _repr_html_(self) -> str:
        """In a notebook."""
        rows = {name: str(each) for name, each in self.numbers.items()}
        layers = [
            (each.called, about(each.weight_change), about(each.kernel_change))
            for each in self.by_layer
        ]
        told = "".join(f"<p>{sentence}</p>" for sentence in self.reasons)
        return block(
            f"{WORDS[self.regime]} (confidence {self.confidence:.0%})",
            told,
            facts(rows),
            table(("layer", "weights moved by", "kernel moved by"), layers),
        )


def _moved_most(layers: tuple[Layer, ...]) -> list[str]:
    """A few lines on the layers whose weights moved most."""
    known = [each for each in layers if math.isfinite(each.weight_change)]
    if not known:
        return []
    known = sorted(known, key=lambda each: -each.weight_change)[:_LAYERS]
    head = "Layers that moved most"
    width = max(len(head), *(len(each.called) for each in known))
    rows = [
        f"{each.called.ljust(width)}  {about(each.weight_change):>7}  "
        f"{about(each.kernel_change):>6}"
        for each in known
    ]
    return ["", f"{head.ljust(width)}  weights  kernel", *rows]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
