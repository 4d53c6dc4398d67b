"""The guard: a few entries of a result are compared with plain autograd, and a mismatch raises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from regimes._random import generator
from regimes.tangent.network import Batch, GroupOf, Outputs, Snapshot, _batch, real
from regimes.tangent.passes import weighted_gradients

# of a call's time that a comparison nobody asked for may be expected to take: half of what is
# promised, since what it took to examine the network is a rough estimate
_SHARE = 0.01

# relative to the lengths of the gradients: above rounding, below anything wrong
_TOLERANCE = {torch.float64: 1e-6, torch.float32: 5e-3, torch.float16: 0.05, torch.bfloat16: 0.1}


@dataclass
class Guard:
    """When to compare, and with what tolerance.

    Attributes:
        always: at every call; else at the first of a kind, and only if that is cheap.
        dtype: the coarsest precision on the way to a result.
    """

    always: bool
    dtype: torch.dtype
    _seen: set[str] = field(default_factory=set)

    def due(self, kind: str, cost: float, call: float) -> bool:
        """Whether to compare now, with the seconds that it costs and that the call took."""
        first = kind not in self._seen
        self._seen.add(kind)
        return self.always or (first and cost < _SHARE * call)

    def compare(self, what: str, found: Tensor, true: Tensor, scale: Tensor) -> None:
        """Raise where numbers differ by more than rounding at this scale.

        Raises:
            ValueError: says what differs, and what to do.
        """
        found, true, scale = (t.detach().double().cpu() for t in (found, true, scale))
        wrong = ~((found - true).abs() <= _TOLERANCE[self.dtype] * scale)
        if bool(wrong.any()):
            first = wrong.flatten().nonzero()[0]
            raise ValueError(
                f"{what} is wrong: {float(found.flatten()[first]):.6g} where plain autograd gives "
                f"{float(true.flatten()[first]):.6g}. The engine misreads this network: use "
                "engine='jacobian', and please report the network"
            )

    def compare_gram(
        self,
        snapshot: Snapshot,
        x: Batch,
        x2: Batch | None,
        chosen: Outputs,
        group_of: GroupOf,
        grams: Mapping[str, Tensor],
    ) -> None:
        """Entries of the Gram of every group, at two samples and two outputs."""
        ends = [_End.draw(0, x, chosen), _End.draw(1, x if x2 is None else x2, chosen)]
        products = _inner_products(snapshot, ends, chosen)
        whole = chosen.scale * torch.stack(list(products.values())).sum(0)
        for group, gram in grams.items():
            of_group = [p for name, p in products.items() if group_of(name) == group]
            true = chosen.scale * torch.stack(of_group).sum(0)
            for i, j in [(0, 1)] if x2 is not None else [(0, 0), (0, 1), (1, 0), (1, 1)]:
                # gradients that should vanish are rounding, on the scale of the others
                own, every = ((t[i, i] * t[j, j]).sqrt() for t in (true, whole))
                of = f" of {group!r}" if group else ""
                self.compare(
                    f"the kernel{of} at samples {ends[i].sample} and {ends[j].sample}",
                    ends[i].entry(ends[j], gram),
                    true[i, j],
                    own + _TOLERANCE[self.dtype] * every,
                )

    def compare_lengths(
        self, snapshot: Snapshot, x: Batch, chosen: Outputs, length: Callable[[int, int], Tensor]
    ) -> None:
        """Squared length of a gradient by sample and output, at two of each."""
        ends = [_End.draw(0, x, chosen), _End.draw(1, x, chosen)]
        products = _inner_products(snapshot, ends, chosen)
        true = torch.stack(list(products.values())).sum(0).diagonal()
        at = torch.stack([length(end.sample, end.output) for end in ends])
        self.compare("the squared length of a gradient", at, true, true)


@dataclass(frozen=True)
class _End:
    """A sample and an output of the network, where one side of a Gram's entry is."""

    batch: Batch
    sample: int
    output: int
    chosen: Outputs

    @classmethod
    def draw(cls, number: int, batch: Batch, chosen: Outputs) -> _End:
        """The first or the second end, always the same for the same question."""
        drawn = torch.rand(2, 2, generator=generator(0, "tangent/guard"))
        sample = int(drawn[0, number] * _batch.size(batch))
        output = int(drawn[1, 0 if chosen.separate else number] * chosen.rows)
        return cls(batch, sample, output, chosen)

    def forward(self, snapshot: Snapshot) -> Tensor:
        """Outputs (1, c) of the sample, from two copies: some networks squeeze a batch of one."""
        pair = _batch.probe(_batch.rows(self.batch, self.sample, self.sample + 1), 2)
        with torch.enable_grad():
            return snapshot(pair)[:1]

    def entry(self, other: _End, gram: Tensor) -> Tensor:
        """Where a Gram, as users see it, has the product of two ends."""
        if self.chosen.separate:
            return gram[self.output, self.sample, other.sample]
        if self.chosen.kept == 1:
            return gram[self.sample, other.sample]
        return gram[self.sample, self.output, other.sample, other.output]


def _inner_products(snapshot: Snapshot, ends: list[_End], chosen: Outputs) -> dict[str, Tensor]:
    """Products (2, 2) of the gradients at two ends, for every parameter."""
    outputs = [end.forward(snapshot) for end in ends]
    parameters = list(snapshot.parameters.values())
    found = {name: torch.zeros(2, 2, dtype=torch.float64) for name in snapshot.parameters}
    # a Gram that sums over outputs has them all at both ends
    rows = [(a, a) for a in range(chosen.rows)] if chosen.fold else [[end.output for end in ends]]
    for row in rows:
        gradients = [
            weighted_gradients(
                output, parameters, chosen.cotangents[a].to(output)[None, None], retain=True
            )
            for output, a in zip(outputs, row, strict=True)
        ]
        for name, *pair in zip(found, *gradients, strict=True):
            first, second = (real(gradient) for gradient in pair)
            for i, j, a, b in ((0, 0, first, first), (0, 1, first, second), (1, 1, second, second)):
                found[name][i, j] += (a * b).sum(dtype=torch.float64).cpu()
    for product in found.values():
        product[1, 0] = product[0, 1]
    return found
