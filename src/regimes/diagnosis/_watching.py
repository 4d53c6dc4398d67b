"""What can be seen of a training from outside: its steps, their size, and when the kernel moved."""

from __future__ import annotations

import contextlib
import math
import time
from typing import Any, final

from torch import nn
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook

from regimes._copied import copied, inside
from regimes.diagnosis._layers import Moment
from regimes.observe import LogSteps
from regimes.tangent import TangentKernel

PROBES = 50
_SHARE = 0.2  # of the time of training that looking may take
_FREE = 1.0  # seconds that it may take in any case


@final
class Watching:
    """Looks at a network after steps 1, 2, 4, 8, ... of any torch optimiser that moves it.

    Args:
        network: what is trained; it is only copied.
        x: inputs of some probes.
        outputs: of the network.
        kernel: how a network's tangent kernel is made.
    """

    def __init__(self, network: nn.Module, x: Any, outputs: int, **kernel: Any) -> None:
        self._network, self._x, self._kernel = inside(network), x, kernel
        self._way = "trace" if outputs > 1 else "full"
        self._own = {id(p) for p in network.parameters() if p.requires_grad}
        self._start = self._gram()
        self._size = float(self._start.norm())
        self._weights = [p.detach().clone() for p in network.parameters() if p.requires_grad]
        self._begin, self._looking = time.perf_counter(), 0.0
        self._when = LogSteps(1, 2.0)
        self.steps, self.step_size = 0, None
        self.moments: list[Moment] = []

    step_size: float | None  # of plain gradient descent; None for others and where none was seen

    def __enter__(self) -> Watching:
        self._hook = register_optimizer_step_post_hook(self._stepped)
        return self

    def __exit__(self, *_: object) -> None:
        self._hook.remove()

    def _stepped(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        groups = [g for g in optimizer.param_groups if any(id(p) in self._own for p in g["params"])]
        if not groups:
            return  # another network's
        self.steps += 1
        rates = [
            g["lr"] / (1 + g["momentum"])  # momentum bears a curvature that much larger
            for g in groups
            if {"lr", "momentum", "dampening"} <= set(g)
        ]
        self.step_size = float(max(rates)) if len(rates) == len(groups) else None
        passed = time.perf_counter() - self._begin
        if self._when.due(self.steps) and self._looking <= _FREE + _SHARE * passed:
            began = time.perf_counter()
            with contextlib.suppress(ValueError):  # it diverges: its own loop will say so
                self._look()
            self._looking += time.perf_counter() - began

    def _look(self) -> None:
        gram = self._gram()
        moved = [
            float((p.detach() - start).double().square().sum())
            for p, start in zip(
                (p for p in self._network.parameters() if p.requires_grad),
                self._weights,
                strict=True,
            )
        ]
        size = math.sqrt(sum(float(w.double().square().sum()) for w in self._weights))
        self.moments.append(
            Moment(
                self.steps,
                float((gram - self._start).norm()) / self._size if self._size > 0 else math.nan,
                math.sqrt(sum(moved)) / size if size > 0 else math.nan,
            )
        )

    def _gram(self) -> Any:
        still = copied(self._network)[0].eval()
        return TangentKernel(still, copy=False, **self._kernel)(self._x, outputs=self._way)
