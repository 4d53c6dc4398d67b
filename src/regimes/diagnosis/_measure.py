"""All numbers of a diagnosis, batch by batch of probes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor, nn

from regimes._adapter import columns
from regimes.diagnosis import _batch
from regimes.diagnosis._accuracy import accuracy
from regimes.diagnosis._machine import kernel_ridge
from regimes.diagnosis._networks import displacement
from regimes.diagnosis._number import Number, over_batches
from regimes.diagnosis._probes import Probes
from regimes.diagnosis._result import Layer
from regimes.diagnosis._watch import Watch
from regimes.diagnosis._words import MEANINGS
from regimes.tangent import TangentKernel, linearize

PER_BATCH = 100  # probes of a batch
_BATCHES = 5  # at most, where there are few probes
_AT_ONCE = 250  # probes of a forward pass


@final
@dataclass(frozen=True)
class Judged:
    """What the verdict rests on; see `verdict`."""

    change: float
    error: float | None
    linear_error: float
    probes: int
    distance: float


@final
class Measurement:
    """Two networks, or the trained one alone, looked at on probes.

    Args:
        first: before training, or None.
        last: after it.
        pick: from what the network returns to its outputs.
        memory: bound for kernels.
        watch: of the time.
    """

    def __init__(
        self,
        first: nn.Module | None,
        last: nn.Module,
        pick: Callable[[Any], Any] | None,
        memory: str | int | None,
        watch: Watch,
    ) -> None:
        self._first, self._last = first, last
        self._pick, self._memory, self._watch = pick, memory, watch
        self.numbers: dict[str, Number] = {}
        self.warnings: list[str] = []
        self.by_layer: tuple[Layer, ...] = ()
        self._c = 0
        self._seen = 0
        self._linear_error = math.nan

    @property
    def judged(self) -> Judged:
        """What is known once `measure` has ended."""
        change = self.numbers.get("kernel_change", Number(math.nan, None, ""))
        distance = self.numbers.get("weight_change", Number(math.inf, None, ""))
        return Judged(change.value, change.error, self._linear_error, self._seen, distance.value)

    def outputs(self, probes: Probes) -> int:
        """How many outputs the network has."""
        if not self._c:
            few = probes.part(torch.arange(min(2, len(probes))))
            self._c = self._run(self._last, few).shape[1]
        return self._c

    def measure(self, known: Probes, held: Probes | None) -> None:
        """Everything, the most telling first; an interruption keeps what was measured."""
        steps = [
            lambda: self._outputs_of_both(known, held),
            lambda: self._kernels(known, held),
            lambda: self._machines(known, held),
        ]
        try:
            for step in steps:
                step()
        except KeyboardInterrupt:
            self.warnings.append("Interrupted: only what had been measured by then is shown.")
        if held is None:
            self.warnings.append(
                "No test points were given: accuracies are those of points the network was "
                "trained on."
            )

    def _add(self, name: str, value: float, error: float | None = None) -> None:
        self.numbers[name] = Number(value, error, MEANINGS[name])

    def _outputs_of_both(self, known: Probes, held: Probes | None) -> None:
        """Accuracies, distances, and how far the first-order model follows."""
        shown, last = known if held is None else held, self._last
        with self._watch.part("outputs"):
            self._watch.say("outputs and first-order model")
            after = self._run(last, shown)
            self.numbers["accuracy"] = accuracy(after, shown, MEANINGS["accuracy"])
            if self._first is None:
                return
            before = self._run(self._first, shown)
            self.numbers["accuracy_before"] = accuracy(before, shown, MEANINGS["accuracy_before"])
            moved = displacement(self._first, last)
            start = {name: p for name, p in self._first.named_parameters() if name in moved}
            size = math.sqrt(sum(float((p.detach().double() ** 2).sum()) for p in start.values()))
            step = math.sqrt(sum(float((d.double() ** 2).sum()) for d in moved.values()))
            self._add("weight_change", step / size if size > 0 else math.inf)
            scale = [float(each.double().square().mean().sqrt()) for each in (before, after)]
            self._add("output_scale_before", scale[0])
            self._add("output_scale_after", scale[1])
            model = linearize(self._first, origin=last.state_dict(), output=self._pick)
            with torch.no_grad():
                linear = self._run(model, shown, picked=True)
            went = float((after - before).double().norm())
            if went > 0:
                self._linear_error = float((after - linear).double().norm()) / went
                self._add("first_order_error", self._linear_error)
            self.numbers["first_order_accuracy"] = accuracy(
                linear, shown, MEANINGS["first_order_accuracy"]
            )

    def _kernels(self, known: Probes, held: Probes | None) -> None:
        """Kernels of batches of probes, before and after."""
        found: defaultdict[str, list[float]] = defaultdict(list)
        layers: list[dict[str, tuple[float, ...]]] = []
        plan = [("", rows) for rows in _batches(len(known))]
        if held is not None:
            plan += [("_test", rows) for rows in _batches(len(held))[:2]]
        longest, cut = 0.0, False
        try:
            for number, (part, rows) in enumerate(plan, start=1):
                if number > 2 and self._watch.left < 2 * longest:
                    cut = True
                    break
                self._watch.say(f"kernels of batch {number} of {len(plan)}")
                begin = self._watch.seconds.get("kernels", 0.0)
                with self._watch.part("kernels"):
                    probes = (known if not part else held or known).part(rows)
                    self._one_batch(probes, part, found, layers)
                longest = max(longest, self._watch.seconds["kernels"] - begin)
                self._seen += 0 if part else len(rows)
        finally:
            for name, values in found.items():
                self.numbers[name] = over_batches(values, MEANINGS[name])
            self.by_layer = self._layers(layers)
        if cut:
            self.warnings.append(
                f"The budget of {self._watch.budget:g} s allowed {number - 1} of {len(plan)} "
                "batches of probes."
            )
        if not found.get("label_alignment_after") or all(
            math.isnan(value) for value in found["label_alignment_after"]
        ):
            self.warnings.append(
                "The labels of the probes are all alike, so nothing can be said of alignment."
            )

    def _one_batch(
        self,
        probes: Probes,
        part: str,
        found: defaultdict[str, list[float]],
        layers: list[dict[str, tuple[float, ...]]],
    ) -> None:
        c = self._c
        last = _batch.grams(self._last, probes, c, self._pick, self._memory)
        own = {"after": last}
        if self._first is not None:
            own["before"] = _batch.grams(self._first, probes, c, self._pick, self._memory)
        for moment, grams in own.items():
            for name, value in _batch.of_one(grams, probes, c).items():
                if not part or name == "label_alignment":
                    found[f"{name}_{moment}{part}"].append(value)
        if part:
            return
        first = own.get("before")
        if first is not None:
            for name, value in _batch.of_two(first, last).items():
                found[name].append(value)
        ends = _batch.by_layer(last, probes, c)
        starts = None if first is None else _batch.by_layer(first, probes, c)
        whole = sum(float(torch.trace(_square(gram))) for gram in last.values()) or math.nan
        layers.append(
            {
                name: (
                    math.nan if first is None else _batch.change(first[name], gram),
                    float(torch.trace(_square(gram))) / whole,
                    math.nan if starts is None else starts[name],
                    ends[name],
                )
                for name, gram in last.items()
            }
        )

    def _layers(self, batches: list[dict[str, tuple[float, ...]]]) -> tuple[Layer, ...]:
        if not batches:
            return ()
        moved = {} if self._first is None else displacement(self._first, self._last)
        start = {} if self._first is None else dict(self._first.named_parameters())
        made = []
        for name in batches[0]:
            own = [
                key
                for key, p in self._last.named_parameters()
                if key.rpartition(".")[0] == name and p.requires_grad
            ]
            size = math.sqrt(sum(float(start[key].detach().norm()) ** 2 for key in own if start))
            step = math.sqrt(sum(float(moved[key].norm()) ** 2 for key in own if moved))
            parameters = dict(self._last.named_parameters())
            means = [_mean([batch[name][k] for batch in batches]) for k in range(4)]
            made.append(
                Layer(
                    name or "(the network's own)",
                    sum(parameters[key].numel() for key in own),
                    step / size if size > 0 else math.nan,
                    *means,
                )
            )
        return tuple(made)

    def _machines(self, known: Probes, held: Probes | None) -> None:
        """Linear models on the features of the start and of the end, fitted to the probes."""
        n = len(known)
        if held is None:
            n = len(known) // 2
            rows = torch.arange(len(known))
            known, held = known.part(rows[:n]), known.part(rows[n:])
        if n < 2 or not len(held) or self._watch.left <= 0:
            return
        x = _joined(known.x, held.x)
        targets = torch.cat([each.targets(self._c) for each in (known, held)])
        for network, name in ((self._first, "start"), (self._last, "end")):
            if network is None:
                continue
            self._watch.say(f"a linear model on the features of the {name}")
            with self._watch.part("linear models"):
                kernel = TangentKernel(network, copy=False, memory=self._memory, output=self._pick)
                gram = kernel(x, outputs="trace" if self._c > 1 else "full")
                outputs = kernel_ridge(gram, targets.to(gram.device), n)
            key = f"linear_accuracy_{name}"
            self.numbers[key] = accuracy(outputs, held, MEANINGS[key])

    def _run(self, network: nn.Module, probes: Probes, *, picked: bool = False) -> Tensor:
        """Outputs (n, c) of all probes, some at a time."""
        made = []
        for rows in torch.arange(len(probes)).split(_AT_ONCE):
            x = probes.part(rows).x
            with torch.no_grad():
                if isinstance(x, dict):
                    returned = network(**x)
                elif isinstance(x, tuple | list):
                    returned = network(*x)
                else:
                    returned = network(x)
            made.append(columns(returned, None if picked else self._pick))
        found = torch.cat(made)
        if len(found) != len(probes):
            raise ValueError(
                f"the network returned {len(found)} rows for {len(probes)} inputs; it must give "
                "one row an input, without letting samples interact"
            )
        if not bool(torch.isfinite(found).all()):
            raise ValueError(
                f"outputs of the network {'after' if network is self._last else 'before'} training "
                "are not all finite: its weights or the inputs hold infinities or NaN"
            )
        return found


def _batches(count: int) -> list[Tensor]:
    """Rows of equal batches: at least two where there are four points."""
    parts = max(-(-count // PER_BATCH), min(_BATCHES, count // 20), 2 if count >= 4 else 1)
    return list(torch.arange(count).tensor_split(parts))


def _square(gram: Tensor) -> Tensor:
    if gram.ndim == 2:
        return gram
    rows = gram.shape[0] * gram.shape[1]
    return gram.reshape(rows, rows)


def _mean(values: list[float]) -> float:
    known = [value for value in values if math.isfinite(value)]
    return sum(known) / len(known) if known else math.nan


def _joined(a: Any, b: Any) -> Any:
    from torch.utils import _pytree as pytree

    return pytree.tree_map(lambda u, v: torch.cat([u, v]) if isinstance(u, Tensor) else u, a, b)
