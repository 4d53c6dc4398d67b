"""Networks and their linearisations trained alike.

See docs/themes/linearization.md, "Training".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from regimes.studies._types import Dataset, Module, Tensor

ADAM = 1e-3  # learning rate of Adam, which the paper does not give
ROOM = "56GiB"  # for networks that train side by side on a GPU
LOW = 0.01  # the training loss that counts as reached


@dataclass(frozen=True)
class Protocol:
    """How both are trained."""

    epochs: int = 100
    rate: float = 0.05
    batch: int = 128
    optimiser: str = "momentum"
    seed: int = 0

    def steps(self, n: int) -> int:
        """Those of all epochs, incomplete batches dropped."""
        return self.epochs * max(1, n // min(self.batch, n))

    def options(self, n: int) -> dict[str, Any]:
        """Arguments of the flow's functions for n training points."""
        from regimes import flow

        steps = self.steps(n)
        return {
            "rate": ADAM if self.optimiser == "adam" else self.rate,
            "optimiser": self.optimiser,
            "batch_size": min(self.batch, n),
            "schedule": flow.linear_decay(steps),
            "max_steps": steps,
            "check_every": max(1, steps // self.epochs),
            "seed": self.seed,
        }


@dataclass(frozen=True, eq=False)
class Trained:
    """What training on k targets came to; every tensor has them first."""

    accuracy: Tensor  # on the test points
    loss: Tensor  # of the training points, at the end
    course: Tensor  # (k, epochs + 1), the loss after each epoch
    until_low: Tensor  # steps to a training loss of LOW, at whole epochs; NaN if never
    distance: Tensor  # |theta - theta_0|
    cosine: Tensor  # 1 - <theta, theta_0> / (|theta| |theta_0|)
    outputs_test: Tensor  # (k, m)


def train_networks(
    net: Module,
    sets: Sequence[Dataset],
    protocol: Protocol,
    *,
    keep: Sequence[int] = (),
    checkpoint: Any = None,
) -> tuple[Trained, list[dict[int, Module]]]:
    """The network from where it stands, trained on each of several data sets.

    Args:
        net: the start of all of them; networks without batch norm train side by side.
        sets: data sets of one size.
        protocol: how.
        keep: epochs after which the networks are wanted.
        checkpoint: of the side by side ones.

    Returns:
        What came of it, and of every data set the networks after those epochs.
    """
    if any("BatchNorm" in type(each).__name__ for each in net.modules()):
        return _one_by_one(net, sets, protocol, keep)
    import torch

    from regimes import flow

    device = next(net.parameters()).device
    sets = [each.to(device=str(device)) for each in sets]
    options = protocol.options(sets[0].n_train)
    every = options["check_every"]

    def course(seen: flow.NetworkSnapshot) -> Tensor:
        return torch.tensor(seen.readings.loss)

    def states(seen: flow.NetworkSnapshot) -> Tensor:
        return torch.cat([p.flatten(1) for p in seen.parameters.values()], 1)

    looks = {"loss": flow.Observer(course, flow.EverySteps(every))}
    if keep:
        looks["state"] = flow.Observer(states, _AtEpochs(tuple(keep), every))
    run = flow.descend(
        net,
        sets,
        loss=flow.binary_cross_entropy(),
        subtract_init=False,
        events=(),
        observe=looks,
        checkpoint=checkpoint,
        memory=ROOM if device.type == "cuda" else None,
        **options,
    )
    assert run.outputs_test is not None
    start = torch.cat([p.detach().flatten() for p in net.parameters()])
    ends = torch.cat([run.parameters[name].flatten(1) for name, _ in net.named_parameters()], 1)
    kept: list[dict[int, Module]] = [{} for _ in sets]
    if keep:
        seen = run.recordings["state"].values
        wanted = sorted({0, protocol.epochs, *keep})
        for mine, values in zip(kept, seen, strict=True):
            for epoch, flat in zip(wanted, values, strict=True):
                mine[epoch] = at(net, flat.to(device))
    found = _trained(
        torch.stack([each.double() for each in run.recordings["loss"].values]),
        every,
        run.outputs_test[..., 0],
        torch.stack([each.y_test for each in sets]),
        start,
        ends - start,
    )
    return found, kept


@dataclass(frozen=True)
class _AtEpochs:
    """A schedule: after these epochs."""

    epochs: tuple[int, ...]
    steps: int

    def due(self, readings: Any, happened: Any) -> Any:
        import numpy as np

        return np.isin(readings.step, np.array(self.epochs) * self.steps)


def at(net: Module, flat: Tensor) -> Module:
    """A copy of the network with these parameters."""
    import copy

    import torch

    made = copy.deepcopy(net)
    with torch.no_grad():
        for p, part in zip(
            made.parameters(), flat.split([p.numel() for p in net.parameters()]), strict=True
        ):
            p.copy_(part.view_as(p))
    return made


def _one_by_one(
    net: Module, sets: Sequence[Dataset], protocol: Protocol, keep: Sequence[int]
) -> tuple[Trained, list[dict[int, Module]]]:
    """Networks whose batch norm takes the statistics of their batches: they cannot be stacked.

    The loss of an epoch is the mean over its batches. Networks are kept with statistics as they
    began (mean 0, variance 1).
    """
    import torch

    start = torch.cat([p.detach().flatten() for p in net.parameters()])
    courses, ends, outputs, kept = [], [], [], []
    for each in sets:
        course, mine, end, said = _alone(net, each.to(device=str(start.device)), protocol, keep)
        courses.append(course)
        ends.append(end)
        outputs.append(said)
        kept.append(mine)
    truth = torch.stack([each.y_test for each in sets]).to(start.device)
    every = protocol.steps(sets[0].n_train) // protocol.epochs
    found = _trained(
        torch.stack(courses).double(), every, torch.stack(outputs), truth, start,
        torch.stack(ends) - start,
    )  # fmt: skip
    return found, kept


def _alone(
    net: Module, data: Dataset, protocol: Protocol, keep: Sequence[int]
) -> tuple[Tensor, dict[int, Module], Tensor, Tensor]:
    """One network by torch's own optimiser: losses of epochs, networks kept, end, test outputs."""
    import copy

    import torch
    import torch.nn.functional as F

    from regimes._random import generator

    options = protocol.options(data.n_train)
    own = copy.deepcopy(net).train()
    x, y, size = data.x_train, data.y_train, options["batch_size"]
    if x.is_cuda:
        last: Any = {"memory_format": torch.channels_last}
        x, own = x.to(**last), own.to(**last)
    kinds: dict[str, Any] = {
        "adam": lambda: torch.optim.Adam(own.parameters(), options["rate"]),
        "momentum": lambda: torch.optim.SGD(own.parameters(), options["rate"], momentum=0.9),
    }
    optimiser = kinds[protocol.optimiser]()
    rate = torch.optim.lr_scheduler.LambdaLR(optimiser, options["schedule"])
    draws = generator(protocol.seed, "linearization/batches")
    mine: dict[int, Module] = {0: copy.deepcopy(net)} if 0 in keep else {}

    def loss_of(some: Tensor) -> Tensor:
        return F.softplus(-y[some] * own(x[some])[:, 0]).mean()

    everything = torch.arange(len(x), device=x.device)
    with torch.no_grad():
        own.eval()
        course = [torch.stack([loss_of(part) for part in everything.split(1000)]).mean()]
    for epoch in range(1, protocol.epochs + 1):
        own.train()
        order = torch.randperm(len(x), generator=draws).to(x.device)
        seen = []
        for some in order[: len(x) // size * size].split(size):
            optimiser.zero_grad()
            loss = loss_of(some)
            loss.backward()
            optimiser.step()
            rate.step()
            seen.append(loss.detach())
        course.append(torch.stack(seen).mean())
        if epoch in keep:
            flat = torch.cat([p.detach().flatten() for p in own.parameters()])
            mine[epoch] = at(net, flat)
    own.eval()
    with torch.no_grad():
        said = torch.cat([own(part)[:, 0] for part in data.x_test.split(1000)])
    return (
        torch.stack(course),
        mine,
        torch.cat([p.detach().flatten() for p in own.parameters()]),
        (said),
    )


def train_linear(
    gram: Tensor,
    y: Tensor,
    n_train: int,
    protocol: Protocol,
    *,
    at_start: Tensor | None = None,
    square: float = 0.0,
) -> Trained:
    """The unbiased linearisation on k targets (k, n + m) by the Gram of all n + m points.

    Args:
        gram: of training and test points together.
        y: labels +-1 of all points.
        n_train: the first so many points are for training.
        protocol: how.
        at_start: `<theta_0, grad f(x_i)>` of all points, for the cosine distance.
        square: `|theta_0|^2`, for it too.
    """
    import torch

    from regimes import flow

    n = n_train
    run = flow.kernel_descent(
        gram[:n, :n],
        y[:, :n],
        gram[n:, :n],
        loss=flow.binary_cross_entropy(),
        at_origin=None if at_start is None else at_start[:n],
        **protocol.options(n),
    )
    assert run.outputs_test is not None
    change = torch.zeros(len(y)) if run.change is None else run.change.double().cpu()
    return found(
        run.losses,
        run.steps_until(LOW),
        run.outputs_test,
        y[:, n:],
        run.displacement.double().cpu(),
        change,
        square,
    )


def _trained(
    course: Tensor, every: int, outputs: Tensor, truth: Tensor, start: Tensor, moved: Tensor
) -> Trained:
    """Of networks, from their parameters (P,) at the start and their displacement (k, P)."""
    import torch

    low = course <= LOW
    first = every * low.to(torch.int8).argmax(1).double()
    until = torch.where(low.any(1), first, torch.full_like(first, torch.nan))
    moved, start = moved.double(), start.double()
    return found(
        course, until, outputs, truth, moved.norm(dim=1).cpu(), (moved @ start).cpu(),
        float(start.square().sum()),
    )  # fmt: skip


def found(
    course: Tensor,
    until: Tensor,
    outputs: Tensor,
    truth: Tensor,
    distance: Tensor,
    change: Tensor,
    square: float,
) -> Trained:
    """With `change = <theta - theta_0, theta_0>` and `square = |theta_0|^2`."""
    end = (square + 2 * change + distance**2).clamp_min(1e-30)
    cosine = (square + change) / (max(square, 1e-30) * end).sqrt()
    right = (outputs * truth.to(outputs) > 0).double().mean(1)
    return Trained(
        right.cpu(), course[:, -1], course, until, distance, 1 - cosine, outputs.detach().cpu()
    )
