"""What curvature is taken of: a network where it stands, points with labels, and a loss."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor, nn

from regimes._adapter import Pick, as_batch, check_pick, is_stream
from regimes._memory import parse_bytes
from regimes._stream import joined
from regimes.curvature._losses import LossLike, PointLoss, point_loss
from regimes.tangent._arithmetic import arithmetic
from regimes.tangent.network import Batch, Snapshot, _batch

_PROBE = 3  # points that a loss is tried on
_LOOK = 64  # points at a time when looking for parameters that the loss does not reach


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """L(w) = (1/n) sum_i l(f(x_i; w), y_i) at the parameters of a private copy of the network.

    Directions in parameter space are vectors (..., N) in the order of `names`, which is that of
    `named_parameters()` among those that require a gradient.

    Attributes:
        snapshot: the copy of the network.
        x: n inputs.
        y: their labels.
        loss: of points.
        points: n.
        outputs: c.
    """

    snapshot: Snapshot
    x: Batch
    y: Any
    loss: PointLoss
    points: int
    outputs: int

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, in their own order."""
        return tuple(self.snapshot.parameters)

    @property
    def shapes(self) -> dict[str, torch.Size]:
        """The shape of every parameter."""
        return self.snapshot.shapes

    @property
    def slices(self) -> dict[str, slice]:
        """Where each parameter lies in a vector of N entries."""
        ends = torch.tensor([*self.snapshot.sizes.values()]).cumsum(0).tolist()
        starts = [0, *ends[:-1]]
        return {n: slice(a, b) for n, a, b in zip(self.names, starts, ends, strict=True)}

    @property
    def size(self) -> int:
        """Number of parameters, N."""
        return sum(self.snapshot.sizes.values())

    @property
    def dtype(self) -> torch.dtype:
        """Precision of the network's copy."""
        return self.snapshot.dtype

    @property
    def device(self) -> torch.device:
        """Where the network lies."""
        return self.snapshot.device

    @property
    def parameters(self) -> dict[str, Tensor]:
        """The parameters by name, detached."""
        return {name: p.detach() for name, p in self.snapshot.parameters.items()}

    def run(self, parameters: Mapping[str, Tensor], x: Batch) -> Tensor:
        """Outputs (n, c) on some inputs at any parameters: what is differentiated."""
        return self.snapshot.run(x, parameters)

    def rows(self, start: int, stop: int) -> tuple[Batch, Any]:
        """Inputs and labels of points start:stop."""
        return _batch.rows(self.x, start, stop), _batch.rows(self.y, start, stop)

    def blocks(self, step: int) -> Iterator[tuple[Batch, Any]]:
        """All points, some at a time."""
        for start in range(0, self.points, step):
            yield self.rows(start, min(start + step, self.points))

    def split(self, v: Tensor) -> dict[str, Tensor]:
        """Vectors (..., N) as (..., *shape) of each parameter; views."""
        parts = v.split([*self.snapshot.sizes.values()], -1)
        shapes = self.shapes.items()
        return {n: p.unflatten(-1, s or (1,)).reshape(*v.shape[:-1], *s) for (n, s), p in
                zip(shapes, parts, strict=True)}  # fmt: skip

    def join(self, parts: Mapping[str, Tensor]) -> Tensor:
        """The vectors (..., N) of what `split` gives."""
        flat = [
            part.reshape(*part.shape[: part.dim() - len(self.shapes[name])], -1)
            for name, part in ((name, parts[name]) for name in self.names)
        ]
        return torch.cat(flat, -1)

    def arithmetic(self) -> AbstractContextManager[None]:
        """How passes are run: full precision, operations that can be differentiated twice."""
        return arithmetic(self.snapshot.module, self.device, tf32=False)


def pose(
    network: nn.Module,
    x: Any,
    y: Any,
    loss: LossLike,
    *,
    memory: str | int | None = None,
    dtype: torch.dtype | None = None,
    output: Pick | None = None,
) -> Problem:
    """The problem of a user's network, data and loss, checked.

    Args:
        network: any module in evaluation mode, left as it is.
        x: inputs: a tensor, an array, a tuple or mapping of them; or a loader of (inputs, labels).
        y: labels of the n inputs; None with a loader.
        loss: a name, a `flow.Loss`, or a plain function of outputs and labels.
        memory: bytes beyond a twentieth of which a loader's batches are kept in a file.
        dtype: precision of the copy and of the inputs; None: the network's own.
        output: from what the network returns to the tensor that is meant.

    Raises:
        ValueError: says what does not fit, and what to do.
    """
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise ValueError(f"dtype must be a floating-point torch dtype or None, got {dtype!r}")
    snapshot = Snapshot(network, dtype, output=check_pick(output))
    complex_ = [name for name, p in snapshot.parameters.items() if p.is_complex()]
    if complex_:
        raise ValueError(f"parameters {', '.join(complex_)} are complex; curvature takes real ones")

    def budget() -> int:
        return parse_bytes(memory, snapshot.device)

    budget()  # a bad one is refused here
    place = snapshot.dtype, snapshot.device
    if is_stream(x):
        if y is not None:
            raise ValueError("a loader gives the labels with the inputs; leave out y")
        limit = budget() // 20 if snapshot.device.type == "cpu" else math.inf
        x, y = joined(
            (tuple(as_batch(part, *place, budget) for part in _pair(batch)) for batch in x), limit
        )
    elif y is None:
        if hasattr(x, "x_train"):
            raise ValueError("labels y are missing; of a Dataset ds give ds.x_train, ds.y_train")
        raise ValueError("labels y are missing; only a loader of (inputs, labels) brings its own")
    x = as_batch(x, *place, budget)
    if dtype is not None:
        x = _batch.convert(x, dtype)
    snapshot.check(x)
    n = _batch.size(x)
    _batch.check_finite(x)
    y = _labels(y, n, snapshot, budget)
    with torch.no_grad(), arithmetic(snapshot.module, snapshot.device, tf32=False):
        F = snapshot(_batch.rows(x, 0, min(_PROBE, n)))
    found = point_loss(loss, F.shape[1], y)
    found.check_mean(F, _batch.rows(y, 0, len(F)), lambda i: _batch.rows(y, i, i + 1))
    problem = Problem(snapshot, x, y, found, n, F.shape[1])
    _refuse_unreached(problem)
    return problem


def _pair(batch: Any) -> tuple[Any, Any]:
    """Inputs and labels of a loader's batch; of a mapping the labels are under "labels"."""
    if isinstance(batch, (tuple, list)) and len(batch) == 2:
        return batch[0], batch[1]
    if isinstance(batch, Mapping) and "labels" in batch:
        return {key: value for key, value in batch.items() if key != "labels"}, batch["labels"]
    raise ValueError(
        "a loader must give batches (inputs, labels), or mappings with the labels under 'labels'; "
        f"got {type(batch).__name__}"
    )


def _labels(y: Any, n: int, snapshot: Snapshot, budget: Any) -> Any:
    """Labels as tensors, their floats in the network's precision."""
    y = as_batch(y, snapshot.dtype, snapshot.device, budget)
    if isinstance(y, (list, tuple)) and not _batch.tensors(y):
        y = torch.as_tensor(y, device=snapshot.device)
    y = _batch.convert(y, snapshot.dtype)
    count = _batch.size(y)
    if count != n:
        raise ValueError(f"there are {n} inputs and {count} labels; give one label an input")
    for t in _batch.tensors(y):
        if t.device != snapshot.device:
            raise ValueError(f"labels are on {t.device} but the network is on {snapshot.device}")
        if t.is_floating_point() and not bool(torch.isfinite(t).all()):
            raise ValueError("labels contain NaN or infinity")
    return y


def _refuse_unreached(problem: Problem) -> None:
    """Raise where the loss of no point depends on some parameter."""
    missing = dict(problem.snapshot.parameters)
    with problem.arithmetic(), torch.enable_grad():
        for step in (_PROBE, _LOOK):  # most often a few points tell
            for x, y in problem.blocks(step):
                value = problem.loss.total(problem.snapshot(x), y)
                if value.requires_grad:
                    slopes = torch.autograd.grad(value, [*missing.values()], allow_unused=True)
                    found = zip([*missing], slopes, strict=True)
                    missing = {n: missing[n] for n, slope in found if slope is None}
                if not missing:
                    return
                if step == _PROBE:
                    break
    raise ValueError(
        f"the loss {problem.loss.name!r} does not depend on {', '.join(missing)}; freeze what "
        "takes no part with requires_grad_(False)"
    )
