"""Ensembles trained to their end at several P, and how every run ended."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array
from regimes.studies._types import Checkpoint, Dataset, Ensemble, FullyConnected, Run, Tensor
from regimes.studies.landscape import _networks, _tasks, _training

SMOOTH = ("tanh",)  # activations with a slope everywhere: none of their runs is dead
SMALL = 2000  # weights up to which a CPU finds eigenvalues sooner than a GPU
_TENSORS = (  # of a run
    *("history", "event_times", "worst", "outputs_train", "outputs_test", "y_test"),
    *("steps", "refused", "forced", "unresolved"),
)
SETTLED = 0.01  # largest fall of the loss over the last tenth of a run that has converged


@dataclass(frozen=True, eq=False)
class Trained:
    """Networks after training, a member for every (P, seed), P outermost."""

    start: Ensemble
    run: Run
    data: tuple[Dataset, ...]  # one per seed, with the points of the largest P
    points: tuple[int, ...]
    seeds: tuple[int, ...]
    margin: float

    @property
    def ensemble(self) -> Ensemble:
        """The trained networks."""
        return self.start.moved_to(self.run.parameters)

    @property
    def weights(self) -> int:
        """N of every network."""
        net = self._net
        return rg.nets.n_weights(net.in_dim, net.width, net.depth)

    @property
    def counts(self) -> list[int]:
        """P of every member."""
        return [p for p in self.points for _ in self.seeds]

    def points_of(self, member: int) -> tuple[Tensor, Tensor]:
        """The training points (P, d) and labels (P,) of a member."""
        data = self.data[member % len(self.seeds)]
        p = self.counts[member]
        return data.x_train[:p], data.y_train[:p]

    def unmet(self, member: int) -> Tensor:
        """Delta = margin - y f of a member's training points, (P,)."""
        _, y = self.points_of(member)
        return self.margin - self.run.outputs_train[member, : len(y), 0] * y

    def grid(self, values: Any) -> np.ndarray:
        """Values of the members, (R, ...), as (P, seed, ...)."""
        found = np.asarray(values.cpu() if hasattr(values, "cpu") else values)
        return found.reshape(len(self.points), len(self.seeds), *found.shape[1:])

    def settled(self) -> Trained:
        """The same where it is read off: on the CPU, unless the networks are large."""
        away = self.run.outputs_train.device.type != "cpu"
        return _at_home(self) if away and self.weights <= SMALL else self

    @property
    def _net(self) -> FullyConnected:
        net = self.start.template
        assert isinstance(net, rg.nets.FullyConnected)
        return net

    def outcomes(self) -> Any:
        """`measure.fit_outcomes` of all members."""
        import torch

        outputs = self.run.outputs_train[..., 0]
        most = outputs.shape[1]
        x = torch.stack([each.x_train[:most] for each in self.data])
        y = torch.stack([each.y_train[:most] for each in self.data])
        times = len(self.points)
        own = torch.arange(most, device=x.device) < torch.tensor(
            self.counts, device=x.device
        ).unsqueeze(1)
        hidden = None
        if self._net.activation.name not in SMOOTH and self._net.depth:
            hidden = self._active_layers(x)
        return rg.measure.fit_outcomes(
            outputs,
            y.repeat(times, 1),
            self.run.losses,
            hidden,
            parameters=self.weights,
            margin=self.margin,
            own=own,
        )

    def _active_layers(self, x: Tensor) -> list[Tensor]:
        """The largest pre-activation of every hidden layer, (R, n, 1) each: enough to tell."""
        import torch

        parts: list[list[Tensor]] = []
        size = len(self.seeds)
        for i in range(len(self.points)):
            part = {k: v[i * size : (i + 1) * size] for k, v in self.run.parameters.items()}
            _, layers = self._net.layers_stacked(part, x, member_inputs=True)
            parts.append([z.amax(-1, keepdim=True) for z in layers[:-1]])
        return [torch.cat(each) for each in zip(*parts, strict=True)]


def train(
    d: int,
    width: int,
    depth: int,
    points: Sequence[int],
    seeds: Sequence[int],
    *,
    steps: int,
    activation: str = "relu",
    labels: str = "random",
    images: str = "mnist",
    n_test: int = 0,
    trainer: Callable[..., Run] = _training.adam_fast,
    margin: float = _training.MARGIN,
    dtype: str = "float64",
    device: str = "cpu",
    checkpoint: Checkpoint | None = None,
    **options: Any,
) -> Trained:
    """Train one architecture on every P and seed, all side by side.

    A seed draws the network and the points alike; the points of a smaller P are the first of those
    of a larger one. What this trains depends on its arguments alone, so two studies that ask for
    the same runs get the same ones.

    Args:
        d: input dimension; of "parity" the number of components.
        width: h.
        depth: L.
        points: P, increasing.
        seeds: of network and points.
        steps: at most so many.
        activation: of the hidden layers.
        labels: "random" or "parity".
        images: which, with "parity".
        n_test: test points, with "parity".
        trainer: a function of `_training`.
        margin: epsilon.
        dtype: precision of the training.
        device: where it runs.
        checkpoint: where to leave the state.
        options: of the trainer, such as `rate`.

    >>> trained = train(5, 3, 2, [4, 30], [0, 1], steps=300)
    >>> trained.grid(trained.run.steps).shape, trained.weights
    ((2, 2), 27)
    """
    place = {"dtype": dtype, "device": device}
    sets = _tasks.tasks(
        labels, tuple(seeds), max(points), d=d, images=images, n_test=n_test, **place
    )
    times = len(points)
    start = _networks.networks(d, width, depth, list(seeds) * times, activation=activation, **place)
    run = trainer(
        start,
        sets * times,
        steps=steps,
        margin=margin,
        n_train=[p for p in points for _ in seeds],
        checkpoint=checkpoint,
        **options,
    )
    return Trained(start, run, tuple(sets), tuple(points), tuple(seeds), margin).settled()


def _at_home(trained: Trained) -> Trained:
    """The same on the CPU."""
    end = _on_cpu(trained.run.ensemble)
    moved: dict[str, Any] = {name: _moved(getattr(trained.run, name)) for name in _TENSORS}
    run = dataclasses.replace(trained.run, networks=end, parameters=end.parameters, **moved)
    data = tuple(each.to(device="cpu") for each in trained.data)
    return dataclasses.replace(trained, start=_on_cpu(trained.start), run=run, data=data)


def _on_cpu(ensemble: Ensemble) -> Ensemble:
    return dataclasses.replace(
        ensemble,
        template=copy.deepcopy(ensemble.template).cpu(),
        parameters=_moved(ensemble.parameters),
        buffers=_moved(ensemble.buffers),
    )


def _moved(value: Any) -> Any:
    """A tensor, or tensors by name, on the CPU."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {name: each.cpu() for name, each in value.items()}
    return value.cpu()


def ends(trained: Trained, axes: tuple[str, str] = ("points", "seed")) -> dict[str, Array]:
    """How every run ended, as arrays over (P, seed): `measure.FitOutcomes`, steps, test error."""
    found: Mapping[str, Any] = vars(trained.outcomes()) | {"steps": trained.run.steps}
    if trained.run.outputs_test is not None and trained.run.outputs_test.shape[1]:
        found = {**found, "error": trained.run.test_errors}
    return {name: Array(axes, trained.grid(values).astype(float)) for name, values in found.items()}


def unfitted_at(trained: Trained, moments: Sequence[int]) -> np.ndarray:
    """N_Delta at steps along the way, (P, seed, moments): at the last look not after each.

    A run that has ended keeps its last.
    """
    import torch

    steps, share = trained.run.history["step"], trained.run.history["satisfied"]
    counts = torch.tensor(trained.counts, dtype=torch.float64, device=share.device)
    found = []
    for moment in moments:
        last = (steps <= moment).sum(1, keepdim=True).clamp_min(1) - 1
        found.append(((1 - share.gather(1, last)[:, 0].double()) * counts).round())
    return trained.grid(torch.stack(found, 1))
