"""One network, or many of one shape, as members whose Hessians are taken together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.func import vjp, vmap

from regimes._adapter import Pick
from regimes._copied import copied
from regimes.curvature._losses import LossLike, PointLoss
from regimes.curvature._problem import Problem, pose
from regimes.nets import Ensemble
from regimes.tangent._engine import Engine
from regimes.tangent.network import Batch, _batch

Tensors = dict[str, Tensor]


@final
@dataclass(frozen=True, eq=False)
class Members:
    """R networks on the same points, or on points of their own.

    Attributes:
        problem: of the only member, or of the first.
        ensemble: the networks where there are several; None for a module alone.
        x: inputs (n, ...), or (R, n, ...) where members have their own.
        y: labels (n, ...) or (R, n, ...).
        own: whether members have points of their own.
    """

    problem: Problem
    ensemble: Ensemble | None
    x: Batch
    y: Any
    own: bool

    @property
    def count(self) -> int:
        """Number of networks R."""
        return 1 if self.ensemble is None else self.ensemble.size

    @property
    def loss(self) -> PointLoss:
        """The loss of points."""
        return self.problem.loss

    @property
    def template(self) -> nn.Module:
        """A network of the common shape."""
        return self.problem.snapshot.module

    @property
    def tensors(self) -> Tensors:
        """All parameters, those that are frozen too, (R, *shape)."""
        if self.ensemble is not None:
            return {**self.ensemble.buffers, **self.ensemble.parameters}
        return {name: p.detach()[None] for name, p in self.template.named_parameters()}

    def blocks(self, step: int) -> Iterator[tuple[Batch, Any]]:
        """All points with their labels, some at a time."""
        if not self.own:
            yield from self.problem.blocks(step)
            return
        for start in range(0, self.problem.points, step):
            yield tuple(t[:, start : start + step] for t in (self.x, self.y))

    def graph(self, x: Batch) -> tuple[list[Tensor], Tensor]:
        """What is differentiated by, in the order of the names, and the outputs (R, n, c)."""
        with torch.enable_grad():
            if self.ensemble is None:
                return list(self.problem.snapshot.parameters.values()), self.problem.snapshot(x)[
                    None
                ]
            leaves = {n: p.detach().requires_grad_() for n, p in self.ensemble.parameters.items()}
            F = self.ensemble.forward(leaves, x, member_inputs=self.own)
            return [leaves[name] for name in self.problem.names], F

    def features(self, x: Batch, memory: int) -> Tensor:
        """The Jacobian of every output, (R, c, n, N)."""
        if self.ensemble is None:
            snapshot = self.problem.snapshot
            engine = Engine(
                snapshot.module, None, memory, "auto", copy=False, output=snapshot.output
            )
            return engine.features(x).transpose(0, 1)[None]
        ensemble, own = self.ensemble, self.own
        names, c = self.problem.names, self.problem.outputs

        def of_point(x: Tensor) -> Tensor:
            def outputs(w: Tensors) -> Tensor:
                found = ensemble.forward(w, x.unsqueeze(1 if own else 0), member_inputs=own)
                return found.flatten(1)  # (R, c)

            parameters = {name: ensemble.parameters[name] for name in names}
            F, pull = vjp(outputs, parameters)[:2]
            units = torch.eye(c, dtype=F.dtype, device=F.device)
            rows = vmap(pull)(units[:, None].expand(c, *F.shape))[0]
            return torch.cat([rows[name].flatten(2) for name in names], -1)  # (c, R, N)

        return vmap(of_point, in_dims=1 if own else 0)(x).permute(2, 1, 0, 3)

    def slopes(self, F: Tensor, y: Any) -> Tensor:
        """First derivatives l' at outputs (R, n, c), of the same shape."""
        return self.loss.slopes(F.flatten(0, 1), self._labels(F, y)).view_as(F)

    def second(self, F: Tensor, y: Any) -> Tensor:
        """Second derivatives l'' at outputs (R, n, c), (R, n, c, c)."""
        found = self.loss.second(F.flatten(0, 1), self._labels(F, y))
        return found.view(*F.shape, F.shape[2])

    def totals(self, F: Tensor, y: Any) -> Tensor:
        """The sum of the loss over these points, for every member, (R,)."""
        labels = self._labels(F, y)
        values = self.loss.of(F.flatten(0, 1), labels)
        if values.dim():
            return values.view(F.shape[:2]).sum(1)
        n = F.shape[1]  # a function that returns a mean tells of one member at a time
        parts = [_batch.rows(labels, r * n, (r + 1) * n) for r in range(len(F))]
        return torch.stack([self.loss.total(f, part) for f, part in zip(F, parts, strict=True)])

    def _labels(self, F: Tensor, y: Any) -> Any:
        if self.own:
            return _batch.apply(y, lambda t: t.flatten(0, 1))
        return _batch.apply(y, lambda t: t.repeat(len(F), *(1,) * (t.dim() - 1)))


def members_of(
    network: nn.Module | Ensemble,
    x: Any,
    y: Any,
    loss: LossLike,
    *,
    memory: str | int,
    dtype: torch.dtype | None,
    output: Pick | None,
    own: bool,
) -> Members:
    """The members of what a user gives, checked.

    Raises:
        ValueError: says what does not fit, and what to do.
    """
    options: dict[str, Any] = {"memory": memory, "dtype": dtype}
    if not isinstance(network, Ensemble):
        if own:
            raise ValueError(
                "own=True is for an Ensemble, whose members have inputs (R, n, ...) and labels "
                f"(R, n) each; got {type(network).__name__}"
            )
        problem = pose(network, x, y, loss, output=output, **options)
        return Members(problem, None, problem.x, problem.y, False)
    if output is not None:
        raise ValueError("an Ensemble knows its output; give output= to nets.stack")
    first = network.member(0)
    for name, parameter in first.named_parameters():
        parameter.requires_grad_(name in network.parameters)
    options["output"] = network.output
    if not own:
        problem = pose(first, x, y, loss, **options)
        if not isinstance(problem.x, Tensor):
            raise ValueError("an Ensemble takes inputs as one tensor (n, ...)")
        x, y = problem.x, problem.y
    else:
        R = network.size
        for what, given in (("inputs", x), ("labels", y)):
            if not isinstance(given, Tensor) or given.dim() < 2 or len(given) != R:
                raise ValueError(
                    f"own=True needs {what} as a tensor ({R}, n, ...), a set for each member, got "
                    f"{tuple(given.shape) if isinstance(given, Tensor) else type(given).__name__}"
                )
        if x.shape[:2] != y.shape[:2]:
            raise ValueError(
                f"inputs are {tuple(x.shape[:2])} (members, points) and labels "
                f"{tuple(y.shape[:2])}; give one label an input"
            )
        # every member's points are checked, the first member's network
        all_ = pose(first, x.flatten(0, 1), y.flatten(0, 1), loss, **options)
        x, y = all_.x.view_as(x), all_.y.view_as(y)
        problem = pose(first, x[0], y[0], loss, **options)
    if dtype is not None:
        network = Ensemble(
            copied(network.template)[0].to(dtype), _cast(network.parameters, dtype),
            _cast(network.buffers, dtype), network.output,
        )  # fmt: skip
    return Members(problem, network, x, y, own)


def _cast(tensors: Any, dtype: torch.dtype) -> Tensors:
    return {n: t.to(dtype) if t.is_floating_point() else t for n, t in tensors.items()}
