"""Products of the Hessian's parts with vectors; no matrix is formed.

A forward and a backward pass leave the graph of the gradient. Differentiated along v it gives H v,
at the price of one more pass each way. The graph is kept from product to product while memory
allows.

The two parts come from the graph of J^T s at slopes s that do not know the outputs. Its derivative
along v by the parameters is Hp v, and by s it is J v, whence H0 v = J^T l'' (J v).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.func import vmap

from regimes._memory import give_back, parse_bytes, readable
from regimes.curvature._parts import Part
from regimes.curvature._problem import Problem

_ONCE = (
    "the network or the loss has an operation that torch cannot differentiate twice ({}); write it "
    "in operations that it can"
)
Product = Callable[[Tensor], Tensor]  # rows (k, N) -> (k, N)

_PROBE = 2  # points whose graph is weighed
_KEPT = 0.22  # share of the memory for graphs that are kept, and of what a pass makes beside them
# On a CPU a pass for several vectors together beats one after the other only where the passes are
# so short that starting operations takes the time: points times parameters below this.
_SHORT = 2**20


class Products:
    """Products with one problem's Hessian, in blocks of points that fit the memory.

    Args:
        problem: network, points, loss.
        memory: bound on what a call allocates and what is kept between calls.
    """

    def __init__(self, problem: Problem, memory: str | int | None = None) -> None:
        self.problem = problem
        # asked once: what is free changes with what is kept, and blocks must not
        self.budget = parse_bytes(memory, problem.device)
        self._parameters: list[Tensor] = list(problem.snapshot.parameters.values())
        self._sizes = dict(zip(problem.names, (p.numel() for p in self._parameters), strict=True))
        self._kept: dict[bool, _Tape] = {}
        self._point_bytes: dict[bool, int] = {}
        self._batched = True  # until an operation knows no batches of vectors

    def of(self, part: Part, names: Sequence[str] | None = None) -> Product:
        """The product with a part's block of some parameters, on rows (k, entries of these).

        Args:
            part: which Hessian.
            names: rows and columns that count, by parameter; None for all.
        """
        chosen = self.problem.names if names is None else names
        places = [self.problem.names.index(name) for name in chosen]
        return partial(self._product, part, places)

    def size(self, names: Sequence[str] | None = None) -> int:
        """Entries of a vector."""
        return sum(size for name, size in self._sizes.items() if names is None or name in names)

    def _product(self, part: Part, places: list[int], v: Tensor) -> Tensor:
        problem = self.problem
        v = v.detach().to(problem.device, problem.dtype)
        shapes = [self._parameters[i].shape for i in places]
        sizes = [shape.numel() for shape in shapes]
        total = torch.zeros_like(v)
        with problem.arithmetic():
            step, together = self._limits(part, len(v))
            for block in range(0, problem.points, step):
                # one graph at a time: the last one goes before the next is made
                along = partial(_along, self._tape_of(part, block, step), part, places)
                for start in range(0, len(v), together):
                    some = v[start : start + together]
                    directions = [
                        u.view(len(some), *shape)
                        for u, shape in zip(some.split(sizes, 1), shapes, strict=True)
                    ]
                    for into, found in zip(
                        total[start : start + together].split(sizes, 1),
                        self._differentiated(along, directions),
                        strict=True,
                    ):
                        into += found.reshape(into.shape)
                del along
                if step < problem.points:
                    give_back()
        return _finite(total / problem.points)

    def _differentiated(
        self, along: Callable[..., list[Tensor]], directions: list[Tensor]
    ) -> list[Tensor]:
        """The derivatives along each row of the directions, stacked."""
        several = len(directions[0]) > 1
        if several and self._batched:
            try:
                return vmap(along)(*directions)
            except (RuntimeError, NotImplementedError):
                self._batched = False
        try:
            found = [along(*each) for each in zip(*directions, strict=True)]
        except (RuntimeError, NotImplementedError) as error:
            raise ValueError(_ONCE.format(str(error).splitlines()[0])) from error
        return [torch.stack(each) for each in zip(*found, strict=True)]

    def _limits(self, part: Part, vectors: int) -> tuple[int, int]:
        """Points at a time, and vectors at a time."""
        problem = self.problem
        split = part != "total"
        if split not in self._point_bytes:
            self._point_bytes[split] = _weight(self._tape, split, min(_PROBE, problem.points))
        point = self._point_bytes[split]
        budget = self.budget
        # gradients of one pass and of the pass through it, and the sum
        fixed = 4 * sum(self._sizes.values()) * problem.dtype.itemsize
        if fixed + 2 * point > budget:
            raise ValueError(
                f"a memory budget of {readable(budget)} is too small for one product: at least "
                f"{readable(fixed + 2 * point)} is needed"
            )
        step = max(1, min(problem.points, int(_KEPT * (budget - fixed) / point)))
        short = step * sum(self._sizes.values()) <= _SHORT or problem.device.type != "cpu"
        room = int(_KEPT * (budget - fixed) / (step * point + fixed))
        return step, max(1, min(vectors, room)) if short and self._batched else 1

    def _tape_of(self, part: Part, start: int, step: int) -> _Tape:
        """The graph of a block of points: made anew, or kept where there is one block only."""
        split, n = part != "total", self.problem.points
        if step < n:
            self._kept.clear()
            return self._tape(split, start, min(start + step, n))
        if split not in self._kept:
            self._kept.clear()
            self._kept[split] = self._tape(split, 0, n)
        return self._kept[split]

    def _tape(self, split: bool, start: int, stop: int) -> _Tape:
        """One forward and one backward pass over some points, ready to be differentiated again."""
        problem, parameters = self.problem, self._parameters
        x, y = problem.rows(start, stop)
        with torch.enable_grad():
            outputs = problem.snapshot(x)
            at = outputs.detach().requires_grad_() if split else outputs
            value = problem.loss.total(at, y)
            if not split:
                pulled = _graph(value, parameters, None)
                return _Tape(parameters, pulled)
            (bent,) = torch.autograd.grad(value, at, create_graph=True)
            slopes = bent.detach().requires_grad_()
            pulled = _graph(outputs, parameters, slopes)
        return _Tape(parameters, pulled, outputs, slopes, at, bent)


@dataclass(frozen=True, eq=False)
class _Tape:
    """The gradient of some points' loss with its graph.

    Attributes:
        parameters: leaves of the graph.
        pulled: the gradient by each; None where the loss does not depend on it.
        outputs: (n, c), of the split parts alone, as all that follows.
        slopes: l' as a leaf of the gradient's graph, (n, c).
        at: the outputs as a leaf.
        bent: l' as a function of that leaf.
    """

    parameters: list[Tensor]
    pulled: list[Tensor | None]
    outputs: Tensor | None = None
    slopes: Tensor | None = None
    at: Tensor | None = None
    bent: Tensor | None = None


def _graph(value: Tensor, parameters: list[Tensor], weights: Tensor | None) -> list[Tensor | None]:
    found: Any = torch.autograd.grad(
        value, parameters, weights, create_graph=True, allow_unused=True
    )
    return list(found)


def _along(tape: _Tape, part: Part, places: list[int], *direction: Tensor) -> list[Tensor]:
    """Sum over the tape's points of a part's product with one direction, by parameter."""
    targets = [tape.parameters[i] for i in places]
    pairs = [
        (gradient, u)
        for i, u in zip(places, direction, strict=True)
        if (gradient := tape.pulled[i]) is not None and gradient.requires_grad
    ]
    gradients, along = [gradient for gradient, _ in pairs], [u for _, u in pairs]
    if part != "gauss_newton":
        return _gradients(gradients, targets, along)
    assert tape.outputs is not None and tape.slopes is not None  # noqa: PT018
    assert tape.bent is not None and tape.at is not None  # noqa: PT018
    (pushed,) = _gradients(gradients, [tape.slopes], along)
    (weighted,) = _gradients([tape.bent] if tape.bent.requires_grad else [], [tape.at], [pushed])
    return _gradients([tape.outputs], targets, [weighted])


def _gradients(values: list[Tensor], targets: list[Tensor], seeds: list[Tensor]) -> list[Tensor]:
    """Weighted sums of values differentiated, zeros where nothing depends on a target."""
    if not values:
        return [torch.zeros_like(target) for target in targets]
    found = torch.autograd.grad(
        values, targets, seeds, retain_graph=True, allow_unused=True, materialize_grads=True
    )
    return [each.to_dense() for each in found]


def _weight(make: Callable[[bool, int, int], _Tape], split: bool, points: int) -> int:
    """Bytes that the graph of one point keeps."""
    seen: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        place, own = storage.data_ptr(), tensor.numel() * tensor.element_size()
        # a view of all points holds no more than itself; what is expanded, no more than its storage
        seen[place] = max(seen.get(place, 0), min(own, storage.nbytes()))
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        tape = make(split, 0, points)
    _refuse_once_differentiable(tape.pulled)
    for parameter in tape.parameters:
        seen.pop(parameter.untyped_storage().data_ptr(), None)
    return 1 + sum(seen.values()) // points


def _refuse_once_differentiable(values: list[Tensor | None]) -> None:
    """Raise where the graph of a gradient is cut: torch would go round the cut without a word."""
    ahead = [value.grad_fn for value in values if value is not None]
    seen = set(ahead)
    while ahead:
        node = ahead.pop()
        if node is None:
            continue
        if node.name() == "torch::autograd::Error":
            raise ValueError(_ONCE.format("an autograd function marked once_differentiable"))
        for following, _ in node.next_functions:
            if following not in seen:
                seen.add(following)
                ahead.append(following)


def _finite(product: Tensor) -> Tensor:
    if not bool(torch.isfinite(product).all()):
        dtype = str(product.dtype).removeprefix("torch.")
        raise ValueError(
            f"a product with the Hessian is not finite in {dtype}: the vector holds NaN or "
            "infinity, or a derivative overflowed, which dtype=torch.float64 may mend"
        )
    return product
