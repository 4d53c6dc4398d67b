"""Tangent kernels of batches of probes, before and after training, whole and by layer."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import final

import torch
from torch import Tensor, nn

from regimes._memory import parse_bytes
from regimes.diagnosis import _batch
from regimes.diagnosis._case import Case, Found
from regimes.diagnosis._layers import Layer
from regimes.diagnosis._networks import displacement
from regimes.diagnosis._number import over_batches
from regimes.diagnosis._probes import Probes
from regimes.diagnosis._verdict import LEAST_PROBES, from_crossover
from regimes.diagnosis._words import MEANINGS
from regimes.measure import spectrum
from regimes.tangent import TangentKernel

PER_BATCH = 100  # probes of a batch
_BATCHES = 5  # at most, where there are few probes
_HELD = 2  # batches of test points
_DISTANCE = MEANINGS["crossover_distance"]
_EIGENVALUES = 50  # that are kept for the picture


def kernels(case: Case, found: Found) -> None:
    """Batch by batch; a short budget or an interruption leaves what was measured."""
    watch = case.watch
    plan = [("", rows) for rows in batches(len(case.known))]
    if case.held is not None:
        plan += [("_test", rows) for rows in batches(len(case.held))[:_HELD]]
    taken = _Taken(case)
    longest, begin = 0.0, watch.spent
    try:
        for number, (part, rows) in enumerate(plan):
            if number >= 2 and watch.left < 2 * longest:
                found.warnings.append(
                    f"The budget of {watch.budget:g} s allowed {number} of {len(plan)} batches of "
                    "probes."
                )
                break
            watch.say(f"kernels of batch {number + 1} of {len(plan)}")
            probes = (case.held if part and case.held is not None else case.known).part(rows)
            taken.take(probes, part)
            found.seen += 0 if part else len(rows)
            longest, begin = max(longest, watch.spent - begin), watch.spent
    finally:
        taken.into(found)
    if found.seen < LEAST_PROBES:
        found.warnings.append(
            f"Only {found.seen} training probes were looked at; {LEAST_PROBES} are the least to "
            "say anything, 200 and more are good."
        )
    alignments = taken.values.get("label_alignment_after", [])
    if all(math.isnan(value) for value in alignments):
        found.warnings.append(
            "The labels of the probes are all alike, so nothing can be said of alignment."
        )


@final
class _Taken:
    """The numbers of every batch so far."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._kernels = {
            moment: TangentKernel(network, copy=False, memory=case.memory, output=case.pick)
            for moment, network in case.networks.items()
        }
        self.values: defaultdict[str, list[float]] = defaultdict(list)
        self._layers: list[dict[str, tuple[float, ...]]] = []
        self._spectra: dict[str, tuple[float, ...]] = {}

    def take(self, probes: Probes, part: str) -> None:
        """One batch; of test points, their alignment alone."""
        c = self._case.outputs
        way = "full" if self._fits(len(probes)) else "trace"
        own = {
            moment: kernel.by_layer(probes.x, outputs=way)
            for moment, kernel in self._kernels.items()
        }
        for moment, grams in own.items():
            for name, value in _batch.of_one(grams, probes, c).items():
                if not part or name == "label_alignment":
                    self.values[f"{name}_{moment}{part}"].append(value)
            if not part and moment not in self._spectra:
                self._spectra[moment] = _largest(grams)
        if part:
            return
        last, first = own["after"], own.get("before")
        if first is not None:
            for name, value in _batch.of_two(first, last).items():
                self.values[name].append(value)
        ends = _batch.by_layer(last, probes, c)
        starts = None if first is None else _batch.by_layer(first, probes, c)
        whole = sum(_batch.trace(gram) for gram in last.values()) or math.nan
        self._layers.append(
            {
                name: (
                    math.nan if first is None else _batch.change(first[name], gram),
                    _batch.trace(gram) / whole,
                    math.nan if starts is None else starts[name],
                    ends[name],
                )
                for name, gram in last.items()
            }
        )

    def _fits(self, n: int) -> bool:
        """Whether Grams of all outputs are small enough, for the time and for the memory."""
        rows = n * self._case.outputs
        if rows > _batch.MOST:
            return False
        parameter = next(self._case.last.parameters())
        layers = sum(1 for child in self._case.last.modules() if [*child.parameters(False)])
        held = 2 * layers * rows**2 * parameter.element_size()
        return held < parse_bytes(self._case.memory, parameter.device) / 2

    def into(self, found: Found) -> None:
        """Means over batches, with their errors."""
        for name, values in self.values.items():
            found.numbers[name] = over_batches(values, MEANINGS[name])
        change = found.numbers.get("kernel_change")
        if change is not None and change.value > 0:
            found.numbers["crossover_distance"] = from_crossover(change, _DISTANCE)
        found.spectra = self._spectra
        if self._layers:
            found.by_layer = _layers(self._case, self._layers)


def _largest(grams: dict[str, Tensor]) -> tuple[float, ...]:
    """Eigenvalues of the whole kernel as shares of their sum."""
    whole, own = _batch.total(grams), next(iter(grams.values())).dtype
    lam = spectrum(whole.to(own)).double()
    total = float(lam.sum())
    return tuple((lam[:_EIGENVALUES] / total).tolist()) if total > 0 else ()


def _layers(case: Case, found: list[dict[str, tuple[float, ...]]]) -> tuple[Layer, ...]:
    moved = {} if case.first is None else displacement(case.first, case.last)
    start = {} if case.first is None else dict(case.first.named_parameters())
    parameters = dict(case.last.named_parameters())
    modules, made = dict(case.last.named_modules()), []
    for name in found[0]:
        own = [key for key in parameters if key.rpartition(".")[0] == name]
        own = [key for key in own if parameters[key].requires_grad]
        size = _norm([start[key].detach() for key in own if start])
        step = _norm([moved[key] for key in own if moved])
        means = [_mean([batch[name][k] for batch in found]) for k in range(4)]
        made.append(
            Layer(
                name or "the network's own",
                type(modules[name]).__name__,
                sum(parameters[key].numel() for key in own),
                step / size if size > 0 else math.nan,
                *means,
            )
        )
    return tuple(made)


def _norm(tensors: list[Tensor]) -> float:
    return math.sqrt(sum(float(each.double().square().sum()) for each in tensors))


def _mean(values: list[float]) -> float:
    known = [value for value in values if math.isfinite(value)]
    return sum(known) / len(known) if known else math.nan


def batches(count: int) -> list[Tensor]:
    """Rows of equal batches: at least two where there are four points."""
    parts = max(-(-count // PER_BATCH), min(_BATCHES, count // 20), 2 if count >= 4 else 1)
    return list(torch.arange(count).tensor_split(parts))


def change_of(first: nn.Module, last: nn.Module, probes: Probes, case: Case) -> float:
    """Relative change of the kernel of some probes, summed over outputs."""
    grams = [
        TangentKernel(each, copy=False, memory=case.memory, output=case.pick)(
            probes.x, outputs="trace" if case.outputs > 1 else "full"
        )
        for each in (first, last)
    ]
    return _batch.change(*grams)
