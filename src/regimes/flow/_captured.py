"""Steps of descent on a GPU as one recorded graph of kernels.

A step of small networks is a hundred short kernels, and starting them one by one takes longer than
they run. Between two looks nothing but tensors takes part, so the kernels of one step are recorded
once and then started together. The graph reads and writes fixed places in memory: what it needs of
the host, the rates of the coming steps, is laid there beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np
import torch
from torch import Tensor

from regimes.flow._bookkeeping import Batch
from regimes.flow._deep_field import DeepField
from regimes.flow._field import Evaluation, State, advance
from regimes.flow._joined import Joined
from regimes.flow._optimisers import SGD, Adam, Memory, Optimiser
from regimes.flow._readings import Floats

ENABLED = True
_LEAST = 10  # steps between looks from which recording pays
_WARM = 2  # steps taken before recording, so that libraries have set themselves up


def worth_capturing(batch: Batch, optimiser: Optimiser, steps: int) -> bool:
    """Whether the steps of these members may be recorded, and it pays."""
    return (
        ENABLED
        and batch.evaluation.predictions.device.type == "cuda"
        and isinstance(batch.field, DeepField)
        and isinstance(optimiser, SGD | Adam)
        and not isinstance(batch.state, Joined)
        and steps >= _LEAST
    )


@final
class Captured:
    """Steps of some members on their whole training sets, recorded when first asked for.

    Args:
        batch: where they stand.
        optimiser: the update rule.
        most: steps of one run at most.
    """

    def __init__(self, batch: Batch, optimiser: Optimiser, most: int) -> None:
        predictions = batch.evaluation.predictions
        self._field, self._optimiser = batch.field, optimiser
        self._state = {name: value.clone() for name, value in batch.state.items()}
        self._carried = {name: value.clone() for name, value in batch.carried.items()}
        self._speed = {name: value.clone() for name, value in batch.evaluation.speed.items()}
        self._predictions = predictions.clone()
        rows = (max(most, _WARM + 1), len(predictions))
        self._rates = predictions.new_zeros(rows)
        self._count = torch.zeros(rows[1], dtype=torch.float64, device=predictions.device)
        self._place = torch.zeros(1, dtype=torch.int64, device=predictions.device)
        self._graph: torch.cuda.CUDAGraph | None = None
        self._stands: Batch | None = None  # whose values the places hold

    def holds(self, batch: Batch) -> bool:
        """Whether a run would go on from where the last one ended."""
        return self._stands is batch

    def run(self, batch: Batch, rates: Floats, taken: int) -> Batch:
        """The same members after as many steps as there are rows of rates, (steps, m)."""
        if not self.holds(batch):
            self._lay(batch)
        if self._graph is None and self._predictions.device.type == "cuda":
            self._record(batch)
        self._rates[: len(rates)] = torch.from_numpy(np.ascontiguousarray(rates)).to(self._rates)
        self._count.fill_(float(taken))
        self._place.zero_()
        for _ in range(len(rates)):
            self._step() if self._graph is None else self._graph.replay()
        # copies: whoever keeps them must not see later steps
        self._stands = Batch(
            batch.ids,
            batch.field,
            _copied(self._state),
            _copied(self._carried),
            Evaluation(self._predictions.clone(), _copied(self._speed)),
        )
        return self._stands

    def _lay(self, batch: Batch) -> None:
        """Put the values of a batch in the fixed places."""
        for places, values in (
            (self._state, batch.state),
            (self._carried, batch.carried),
            (self._speed, batch.evaluation.speed),
        ):
            for name, place in places.items():
                place.copy_(values[name])
        self._predictions.copy_(batch.evaluation.predictions)

    def _record(self, batch: Batch) -> None:
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(_WARM):
                self._step()
        torch.cuda.current_stream().wait_stream(aside)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._step()
        self._lay(batch)

    def _step(self) -> None:
        """One step from the fixed places to the fixed places."""
        dt = self._rates.index_select(0, self._place).squeeze(0)
        self._place += 1
        self._count += 1
        memory = nested(self._carried)
        direction, new = self._optimiser.direction(self._speed, memory, self._count)
        state = advance(self._state, direction, dt)
        evaluation = self._field.evaluate(state)
        for places, values in (
            (self._state, state),
            (self._carried, flat(new)),
            (self._speed, evaluation.speed),
        ):
            if places:
                torch._foreach_copy_(list(places.values()), [values[name] for name in places])
        self._predictions.copy_(evaluation.predictions)


def flat(memory: Memory) -> dict[str, Tensor]:
    """A memory as tensors that leave with their members."""
    return {f"{kind}/{name}": v for kind, tensors in memory.items() for name, v in tensors.items()}


def nested(tensors: Mapping[str, Tensor]) -> Memory:
    """The inverse of `flat`."""
    memory: dict[str, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        kind, _, name = key.partition("/")
        memory.setdefault(kind, {})[name] = value
    return memory


def _copied(tensors: State) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in tensors.items()}
