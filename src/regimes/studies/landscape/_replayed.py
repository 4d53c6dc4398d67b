"""Adam on stacked networks that runs from look to look, on a GPU with one launch a step.

`flow.descend` launches a hundred small kernels a step and reads numbers back at every look. Here
the step, with its test of who has reached every margin, is recorded once as a CUDA graph and
replayed; nothing is read back between looks. A member stops at the first step at which all its
margins are reached, not at the next look. Without a GPU the same step is done as it is written.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import regimes as rg
from regimes.studies._types import Checkpoint, Dataset, Ensemble, Tensor

BETAS, EPSILON = (0.9, 0.999), 1e-8
SMALLER = 0.7  # members are gathered anew when this share of them is left

Look = Callable[[Ensemble, np.ndarray], Tensor]  # numbers (m, k) of the members so numbered


@dataclass(frozen=True, eq=False)
class Replayed:
    """R networks after training.

    Attributes:
        parameters: name -> (R, ...).
        steps: taken by each, (R,).
        fitted: whether each reached every margin, (R,).
        looks: for each member the steps at which it was looked at, and what was seen, (k,) and
            (k, ...); the last is its end.
        milliseconds: a step took, on average since the last start of the process.
    """

    parameters: Mapping[str, Tensor]
    steps: np.ndarray
    fitted: np.ndarray
    looks: list[tuple[np.ndarray, np.ndarray]]
    milliseconds: float


def adam(
    start: Ensemble,
    data: Dataset,
    *,
    rate: float,
    margin: float,
    marks: Sequence[int],
    look: Look,
    subtract_init: bool = False,
    checkpoint: Checkpoint | None = None,
    graph: bool | None = None,
) -> Replayed:
    """Whole batches of the square hinge until all margins are reached or the last mark.

    Args:
        start: fully connected networks with one output.
        data: shared by all.
        rate: learning rate.
        margin: of the hinge.
        marks: increasing steps at which all members are looked at; the last is the end.
        look: what is noted of the members at a mark.
        subtract_init: learn with `f - f_0`.
        checkpoint: where to leave the state; saved at marks.
        graph: replay the step as a CUDA graph; None where there is a GPU.
    """
    stepper = _Stepper.new(start, data, rate, margin, subtract_init, graph)
    books = _Books(start.size)
    about = {"marks": [int(mark) for mark in marks], "rate": rate, "members": start.size}
    found = None if checkpoint is None else checkpoint.load()
    taken = 0
    if found is not None and found[1].get("run") == about:
        taken = stepper.restore(found[0])
        books.restore(found[0])
    begin, first = time.perf_counter(), taken
    for mark in marks:
        if mark <= taken:
            continue
        if not len(stepper.ids):
            break
        stepper.advance(mark - taken)
        taken = int(mark)
        alive = stepper.alive.cpu().numpy() > 0
        seen = look(stepper.ensemble(), stepper.ids).double().cpu().numpy()
        books.note(stepper.ids, stepper.taken.cpu().numpy(), seen)
        ended = not alive.any() or mark == marks[-1]
        if ended or alive.mean() <= SMALLER:
            books.end(stepper, ~alive if not ended else np.ones_like(alive), ~alive)
            stepper = stepper.select(np.flatnonzero(alive) if not ended else np.array([], int))
        if checkpoint is not None and checkpoint.due(ended=ended):
            tensors = stepper.kept(taken) | books.kept()
            checkpoint.save({k: v.cpu().contiguous() for k, v in tensors.items()}, {"run": about})
    spent = time.perf_counter() - begin
    return Replayed(
        books.parameters(start),
        books.steps,
        books.fitted,
        books.looks(),
        1e3 * spent / max(1, taken - first),
    )


@dataclass(eq=False)
class _Stepper:
    """Some members and all that a step changes, in place."""

    start: Ensemble
    data: Dataset
    rate: float
    margin: float
    subtract_init: bool
    graph: bool
    ids: np.ndarray
    flat: list[Tensor]  # parameters, first and second moments: one vector each
    powers: Tensor  # betas to the power of the steps, (2,)
    alive: Tensor  # (m,)
    taken: Tensor  # (m,)
    field_: Any = None
    replay: Any = None

    @staticmethod
    def new(
        start: Ensemble,
        data: Dataset,
        rate: float,
        margin: float,
        subtract_init: bool,
        graph: bool | None,
    ) -> _Stepper:
        import torch

        whole = torch.cat([value.flatten() for value in start.parameters.values()])
        one = whole.new_ones(start.size)
        return _Stepper(
            start,
            data,
            rate,
            margin,
            subtract_init,
            whole.device.type == "cuda" if graph is None else graph,
            np.arange(start.size),
            [whole.clone(), torch.zeros_like(whole), torch.zeros_like(whole)],
            torch.ones(2, dtype=torch.float64, device=whole.device),
            one,
            torch.zeros_like(one, dtype=torch.float64),
        )._ready()

    def views(self, vector: Tensor) -> dict[str, Tensor]:
        """A vector as stacked parameters, (m, ...) each."""
        shapes = {k: (len(self.ids), *v.shape[1:]) for k, v in self.start.parameters.items()}
        sizes = [int(np.prod(shape)) for shape in shapes.values()]
        parts = vector.split(sizes)
        return {k: part.view(s) for (k, s), part in zip(shapes.items(), parts, strict=True)}

    def ensemble(self) -> Ensemble:
        """The networks as they are now; they move with the next steps."""
        return self._own.moved_to(self.views(self.flat[0]))

    def _ready(self) -> _Stepper:
        import torch

        from regimes.flow._deep_field import deep_field
        from regimes.flow._gradient_flow import objective_of
        from regimes.flow._members import gather

        self._own = self.start.select(self.ids.tolist())
        members = gather(self._own, self.data, alpha=1.0, ensemble=None, n_train=None)
        objective = objective_of(
            members,
            rg.flow.quadratic_hinge(self.margin),
            subtract_init=self.subtract_init,
            divide_by="1",
        )
        self.field_, _ = deep_field(
            self._own, members.train.x, objective, own=members.train.own, memory=None
        )
        self._state = self.views(self.flat[0])
        owner = torch.arange(len(self.ids), device=self.alive.device)
        self._owner = torch.cat(
            [owner.repeat_interleave(v[0].numel()) for v in self._state.values()]
        )
        self.replay = None
        return self

    def step(self) -> None:
        """One step of all that are alive; nothing is read back."""
        import torch

        theta, mean, square = self.flat
        evaluation = self.field_.evaluate(self._state)
        margins = evaluation.predictions[..., 0] * self.field_.objective.y
        self.alive.mul_((margins < self.margin).any(1))
        speed = torch.cat([evaluation.speed[name].flatten() for name in self._state])
        b1, b2 = BETAS
        self.powers.mul_(self._betas)
        mean.lerp_(speed, 1 - b1)
        square.mul_(b2).addcmul_(speed, speed, value=1 - b2)
        first, second = (1 - self.powers).to(theta).unbind()
        moved = mean / first / ((square / second).sqrt_() + EPSILON)
        theta.addcmul_(moved, (self.rate * self.alive)[self._owner])
        self.taken.add_(self.alive)

    @property
    def _betas(self) -> Tensor:
        if not hasattr(self, "_kept_betas"):
            self._kept_betas = self.powers.new_tensor(BETAS)
        return self._kept_betas

    def advance(self, steps: int) -> None:
        """So many steps."""
        if self.graph and self.replay is None:
            self._record()
        for _ in range(steps):
            if self.replay is None:
                self.step()
            else:
                self.replay.replay()

    def _record(self) -> None:
        """Record the step; what the rehearsals change is put back."""
        import torch

        moving = [*self.flat, self.powers, self.alive, self.taken]
        before = [value.clone() for value in moving]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.step()
        for value, old in zip(moving, before, strict=True):
            value.copy_(old)
        self.replay = graph

    def select(self, kept: np.ndarray) -> _Stepper:
        """The stepper of some of its members."""
        import torch

        rows = torch.from_numpy(kept).to(self.alive.device)
        if not len(kept):
            self.ids = self.ids[kept]
            return self
        vectors = [
            torch.cat([value[rows].flatten() for value in self.views(vector).values()])
            for vector in self.flat
        ]
        self.replay = None
        return _Stepper(
            self.start,
            self.data,
            self.rate,
            self.margin,
            self.subtract_init,
            self.graph,
            self.ids[kept],
            vectors,
            self.powers.clone(),
            self.alive[rows].clone(),
            self.taken[rows].clone(),
        )._ready()

    def kept(self, taken: int) -> dict[str, Tensor]:
        """All that a step changes, for a checkpoint."""
        import torch

        return {
            "ids": torch.from_numpy(self.ids.copy()),
            "theta": self.flat[0],
            "mean": self.flat[1],
            "square": self.flat[2],
            "powers": self.powers,
            "alive": self.alive,
            "own_steps": self.taken,
            "taken": torch.tensor([taken]),
        }

    def restore(self, kept: Mapping[str, Any]) -> int:
        """The inverse of `kept`: the steps taken."""
        import torch

        def tensor(name: str) -> Tensor:
            return torch.as_tensor(np.asarray(kept[name])).to(self.alive.device)

        self.ids = np.asarray(kept["ids"]).astype(int)
        if len(self.ids):
            self.flat = [tensor(name) for name in ("theta", "mean", "square")]
            self.powers, self.alive, self.taken = (
                tensor(name) for name in ("powers", "alive", "own_steps")
            )
            self._ready()
        return int(np.asarray(kept["taken"])[0])


@dataclass(eq=False)
class _Books:
    """What was seen of R members, and how they ended."""

    size: int
    steps: np.ndarray = field(init=False)
    fitted: np.ndarray = field(init=False)
    rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)
    ends: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.steps, self.fitted = np.zeros(self.size), np.zeros(self.size)

    def note(self, ids: np.ndarray, steps: np.ndarray, seen: np.ndarray) -> None:
        """Numbers (m, k) of some members after so many steps of their own."""
        self.rows.append((ids.copy(), steps.copy(), seen))

    def end(self, stepper: _Stepper, done: np.ndarray, fitted: np.ndarray) -> None:
        """Keep the state of the members that are done."""
        where = stepper.ids[done]
        self.steps[where] = stepper.taken.cpu().numpy()[done]
        self.fitted[where] = fitted[done]
        for name, value in stepper.views(stepper.flat[0]).items():
            own = value.detach().cpu().numpy()
            if name not in self.ends:
                self.ends[name] = np.zeros((self.size, *own.shape[1:]), own.dtype)
            self.ends[name][where] = own[done]

    def parameters(self, start: Ensemble) -> dict[str, Tensor]:
        """Of all members, in the order of their numbers."""
        import torch

        return {
            name: torch.from_numpy(self.ends[name]).to(value)
            for name, value in start.parameters.items()
        }

    def looks(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Steps and numbers of every member; what repeats after its end is seen once."""
        ids, steps, seen = (np.concatenate(part) for part in zip(*self.rows, strict=True))
        found = []
        for member in range(self.size):
            own = ids == member
            times, first = np.unique(steps[own], return_index=True)
            found.append((times, seen[own][first]))
        return found

    def kept(self) -> dict[str, Tensor]:
        """For a checkpoint."""
        import torch

        columns = [np.concatenate(part) for part in zip(*self.rows, strict=True)]
        parts = dict(zip(("ids", "steps", "seen"), columns, strict=True))
        numbers = {f"row_{name}": part for name, part in parts.items()}
        numbers |= {f"end_{name}": value for name, value in self.ends.items()}
        numbers |= {"all_steps": self.steps, "all_fitted": self.fitted}
        return {name: torch.from_numpy(np.ascontiguousarray(v)) for name, v in numbers.items()}

    def restore(self, kept: Mapping[str, Any]) -> None:
        """The inverse of `kept`."""
        own = {name: np.asarray(value).copy() for name, value in kept.items()}
        self.rows = [(own["row_ids"], own["row_steps"], own["row_seen"])]
        self.steps, self.fitted = own["all_steps"], own["all_fitted"]
        self.ends = {k.removeprefix("end_"): v for k, v in own.items() if k.startswith("end_")}
