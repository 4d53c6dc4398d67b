"""Training of an image network: momentum on random batches, in training mode, in place.

A sibling of `descend`, which evaluates stacked networks as functions of their parameters: that has
no place for what batch norm, dropout and augmentation do while a network trains, and deep networks
fill a machine one by one.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regimes._check import choose, instance, not_negative, positive_int, real, shown
from regimes._random import generator
from regimes.data import Dataset, Points
from regimes.flow._batches import Batches
from regimes.flow._bookkeeping import below, within
from regimes.flow._checkpoint import Checkpoint, Shelf
from regimes.flow._rates import RateFactor, constant, cosine
from regimes.flow._status import Status

_OPTIMISERS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}
_PRECISIONS = {"float32": None, "bfloat16": torch.bfloat16}
_AT_ONCE = 512  # images of a pass that only evaluates


@dataclass(frozen=True, eq=False)
class ImageRun:
    """What happened while an image network was trained; the network itself was changed."""

    status: Status  # REACHED after all steps, or DIVERGED
    steps: int  # taken
    kept: int  # after so many steps the network had the weights it has now
    looks: Tensor  # steps at which it was looked at, (k,)
    losses: Tensor  # mean loss of the batches since the last look, (k,)
    validation_errors: Tensor  # share of wrong validation images at the looks, (k,); NaN without
    train_loss: float  # of the weights that were kept, in evaluation mode, without augmentation
    train_error: float
    test_error: float  # NaN without test images
    held_out: int  # training images that were kept for validation
    seconds: float  # of the steps and looks

    @property
    def steps_per_second(self) -> float:
        """How fast it went, looks included."""
        return self.steps / self.seconds if self.seconds else math.nan


def train_images(
    network: nn.Module,
    data: Dataset,
    *,
    steps: int,
    rate: float = 0.1,
    optimiser: str = "sgd",
    momentum: float = 0.9,
    nesterov: bool = False,
    weight_decay: float = 5e-4,
    schedule: str | RateFactor = "cosine",
    batch_size: int = 128,
    rates: Mapping[str, float] | None = None,
    augment: Callable[[Tensor], Tensor] | None = None,
    validation: float | Points | None = None,
    look_every: int | None = None,
    evaluate: int | None = None,
    loss: Callable[[Tensor, Tensor], Tensor] = F.cross_entropy,
    precision: str = "float32",
    channels_last: bool = True,
    progress: Callable[[int, int, float], None] | None = None,
    checkpoint: Checkpoint | None = None,
    seed: int = 0,
) -> ImageRun:
    """Train a network on images in classes, as [Petrini 2021, app. E.1] does.

    Batches are drawn without repetition in each epoch, and an incomplete last one is dropped; a
    training set below the batch size is one batch. With the same `steps` training sets of all
    sizes get the same number of optimiser steps. Learning is by momentum with cosine annealing;
    parameters of one dimension (biases, scales of batch norm) have no weight decay.

    Args:
        network: trained in place where it is, in training mode, and left in evaluation mode.
        data: images and classes; moved to the device of the network.
        steps: optimiser steps.
        rate: learning rate.
        optimiser: "sgd" or "adam".
        momentum: of "sgd".
        nesterov: the form of that momentum.
        weight_decay: added to gradients as `weight_decay w`.
        schedule: "cosine" to zero over all steps, "constant", or a function of the steps taken.
        batch_size: images a step.
        rates: factors of the rate, by the first letters of parameters' names, such as
            `{"classifier": 10.0}`; the longest that fits counts, and all others have 1.
        augment: changes a batch of images (n, channels, height, width), such as
            `data.DeformationAugment`; it is given those of training alone.
        validation: a share of the training images that is held out, or images and classes; the
            network then ends with the weights that made the fewest errors there. None keeps the
            last weights.
        look_every: steps between looks at losses and validation; None: twenty looks.
        evaluate: so many training images give the losses at the end; None: all.
        loss: of outputs (n, c) and classes (n,), to a mean.
        precision: "float32", or "bfloat16" for the passes alone (autocast), for a GPU.
        channels_last: how images and convolutions lie in memory; it is faster on CPUs and GPUs.
        progress: called at each look with the steps taken, those of the run, and the loss.
        checkpoint: where the run leaves its state; the same call goes on from it.
        seed: of batches, dropout and what is held out.

    Returns:
        What happened.

    Raises:
        ValueError: for labels that are not classes, or settings that do not fit.

    Example:
        >>> from regimes import data, nets
        >>> net = nets.make("resnet10", (1, 8, 8), 10, base=4)
        >>> run = train_images(net, data.digits(500), steps=30, rate=0.05)
        >>> run.test_error < 0.7, run.kept
        (True, 30)
    """
    instance("network", network, nn.Module, "a torch.nn.Module")
    instance("data", data, Dataset, "a Dataset of images and classes")
    if data.y_train.dtype != torch.int64:
        raise ValueError(
            f"labels must be classes (int64), got {data.y_train.dtype}; `flow.descend` takes others"
        )
    total = positive_int("steps", steps)
    settings = {
        "steps": total,
        "rate": real("rate", rate, above=0.0),
        "optimiser": optimiser,
        "momentum": momentum,
        "nesterov": nesterov,
        "weight_decay": not_negative("weight_decay", weight_decay),
        "batch_size": positive_int("batch_size", batch_size),
        "rates": dict(rates or {}),
        "augment": str(augment) if isinstance(augment, nn.Module) else augment is not None,
        "precision": precision,
        "channels_last": channels_last,
        "seed": seed,
        "schedule": schedule if isinstance(schedule, str) else "function",
        "data": [*data.x_train.shape, data.name, data.seed],
    }
    choose(precision, _PRECISIONS, "precision")
    trainer = _Trainer(
        network=network,
        images=_laid(data.x_train, data.y_train, validation, network, channels_last, seed),
        optimiser=_optimiser(network, optimiser, rate, momentum, nesterov, weight_decay, rates),
        factor=_factor(schedule, total),
        batch_size=batch_size,
        augment=augment,
        loss=loss,
        cast=_PRECISIONS[precision],
        seed=seed,
    )
    every = max(1, total // 20) if look_every is None else positive_int("look_every", look_every)
    begin = time.perf_counter()
    shelf = Shelf(checkpoint, lambda: settings, trainer.images.x.device)
    history, status, taken = trainer.run(total, every, shelf, progress)
    seconds = time.perf_counter() - begin
    network.eval()
    images, count = trainer.images, evaluate or len(trainer.images.x)
    train_loss, train_error = evaluated(network, images.x[:count], images.y[:count], loss)
    test = math.nan
    if len(data.x_test):
        device = images.x.device
        test = evaluated(network, data.x_test.to(images.x), data.y_test.to(device), loss)[1]
    looks, losses, errors = history
    return ImageRun(
        status=status,
        steps=taken,
        kept=trainer.best_step or taken,
        looks=torch.tensor(looks),
        losses=torch.tensor(losses, dtype=torch.float64),
        validation_errors=torch.tensor(errors, dtype=torch.float64),
        train_loss=train_loss,
        train_error=train_error,
        test_error=test,
        held_out=images.held_out,
        seconds=seconds,
    )


@torch.no_grad()
def evaluated(
    network: nn.Module, x: Tensor, y: Tensor, loss: Callable[[Tensor, Tensor], Tensor]
) -> tuple[float, float]:
    """Mean loss and share of errors on these images, as the network's mode has it."""
    total, wrong = x.new_zeros((), dtype=torch.float64), 0.0
    for images, classes in zip(x.split(_AT_ONCE), y.split(_AT_ONCE), strict=True):
        found = network(images)
        total += loss(found, classes).double() * len(images)
        wrong += (found.argmax(1) != classes).sum()
    return float(total) / len(x), float(wrong) / len(x)


@final
@dataclass(frozen=True, eq=False)
class _Images:
    """Training images where the network is, and those of validation."""

    x: Tensor
    y: Tensor
    validation: Points | None
    held_out: int
    channels_last: bool

    def laid(self, x: Tensor) -> Tensor:
        return x.contiguous(memory_format=torch.channels_last) if self.channels_last else x


@final
@dataclass(eq=False)
class _Trainer:
    """Takes the steps of one run."""

    network: nn.Module
    images: _Images
    optimiser: torch.optim.Optimizer
    factor: RateFactor
    batch_size: int
    augment: Callable[[Tensor], Tensor] | None
    loss: Callable[[Tensor, Tensor], Tensor]
    cast: torch.dtype | None
    seed: int
    best_step: int = 0  # 0: no weights were set aside

    def __post_init__(self) -> None:
        count = len(self.images.x)
        self.batches = Batches(torch.tensor([count]), min(self.batch_size, count), [self.seed])
        self.full = [float(group["lr"]) for group in self.optimiser.param_groups]
        self.best: dict[str, Tensor] = {}
        self.least = math.inf
        self.since = torch.zeros((), dtype=torch.float64, device=self.images.x.device)

    def run(
        self,
        total: int,
        every: int,
        shelf: Shelf,
        progress: Callable[[int, int, float], None] | None,
    ) -> tuple[tuple[list[int], list[float], list[float]], Status, int]:
        """All steps, with a look every so often."""
        looks: list[int] = []
        losses: list[float] = []
        errors: list[float] = []
        device, taken, status = self.images.x.device, 0, Status.REACHED
        with _own_randomness(device, self.seed):
            if (found := shelf.tensors()) is not None:
                taken = self.restore(found)
                looks = found["looks"].tolist()
                losses, errors = found["losses"].tolist(), found["errors"].tolist()
                shelf.forget()
            self.network.train()
            while taken < total:
                self.step(taken)
                taken += 1
                if taken % every == 0 or taken == total:
                    looks.append(taken)
                    losses.append(float(self.since) / (taken - (looks[-2] if looks[1:] else 0)))
                    errors.append(self.validated(taken))
                    self.since.zero_()
                    if progress is not None:
                        progress(taken, total, losses[-1])
                    if not math.isfinite(losses[-1]):
                        status = Status.DIVERGED
                        break
                if shelf.due(ended=taken == total):
                    history = {
                        "looks": torch.tensor(looks, dtype=torch.int64),
                        "losses": torch.tensor(losses, dtype=torch.float64),
                        "errors": torch.tensor(errors, dtype=torch.float64),
                    }
                    shelf.save(self.kept(taken) | history)
        if self.best:
            self.network.load_state_dict(self.best)
        return (looks, losses, errors), status, taken

    def step(self, taken: int) -> None:
        """One batch."""
        device = self.images.x.device
        points = self.batches.next([0])[0].to(device, non_blocking=True)
        x, y = self.images.x[points], self.images.y[points]
        if self.augment is not None:
            x = self.augment(x)
        for group, full in zip(self.optimiser.param_groups, self.full, strict=True):
            group["lr"] = full * self.factor(taken)
        self.optimiser.zero_grad(set_to_none=True)
        with torch.autocast(device.type, self.cast or torch.bfloat16, self.cast is not None):
            loss = self.loss(self.network(self.images.laid(x)), y)
        loss.backward()
        self.optimiser.step()
        self.since += loss.detach()

    def validated(self, taken: int) -> float:
        """The share of wrong validation images, the weights being set aside when it is least."""
        if self.images.validation is None:
            return math.nan
        self.network.eval()
        error = evaluated(self.network, *self.images.validation, self.loss)[1]
        self.network.train()
        if error < self.least:
            self.least, self.best_step = error, taken
            state = self.network.state_dict()
            self.best = {name: value.detach().clone() for name, value in state.items()}
        return error

    def kept(self, taken: int) -> dict[str, Tensor]:
        """Everything that changes along the run, for a checkpoint."""
        device = self.images.x.device
        moments = {
            f"{number}/{name}": value
            for number, each in self.optimiser.state_dict()["state"].items()
            for name, value in each.items()
            if isinstance(value, Tensor)
        }
        random = {"cpu": torch.get_rng_state()}
        if device.type == "cuda":
            random["cuda"] = torch.cuda.get_rng_state(device)
        drawn: dict[str, Tensor] = getattr(self.augment, "kept", dict)()
        return (
            {"taken": torch.tensor(taken), "since": self.since.clone()}
            | {"least": torch.tensor(self.least), "best_step": torch.tensor(self.best_step)}
            | within("network", dict(self.network.state_dict()))
            | within("best", self.best)
            | within("moments", moments)
            | within("random", random)
            | within("augment", drawn)
            | within("batches", self.batches.kept())
        )

    def restore(self, kept: Mapping[str, Tensor]) -> int:
        """The inverse of `kept`: the steps taken."""
        self.network.load_state_dict(below("network", kept))
        self.best = dict(below("best", kept))
        self.least, self.best_step = float(kept["least"]), int(kept["best_step"])
        self.since.copy_(kept["since"])
        self.batches.restore(below("batches", kept))
        state: dict[int, dict[str, Tensor]] = {}
        for key, value in below("moments", kept).items():
            number, _, name = key.partition("/")
            state.setdefault(int(number), {})[name] = value
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": state, "param_groups": groups})
        random = below("random", kept)
        torch.set_rng_state(random["cpu"].clone())
        if "cuda" in random:
            torch.cuda.set_rng_state(random["cuda"].cpu().clone(), self.images.x.device)
        if drawn := below("augment", kept):
            self.augment.restore(drawn)  # type: ignore[union-attr]
        return int(kept["taken"])


@contextlib.contextmanager
def _own_randomness(device: torch.device, seed: int) -> Iterator[None]:
    """Dropout draws from torch's global state: here it is seeded, and afterwards as it was."""
    own = int(generator(seed, "images/dropout").initial_seed())
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(own)
        yield


def _laid(
    x: Tensor,
    y: Tensor,
    validation: float | Points | None,
    network: nn.Module,
    channels_last: bool,
    seed: int,
) -> _Images:
    """Images on the device of the network, some of them held out."""
    weights = next(network.parameters(), None)
    if weights is None:
        raise ValueError("the network has no parameters to train")
    some_convolution = any(isinstance(module, nn.Conv2d) for module in network.modules())
    last = channels_last and x.ndim == 4 and some_convolution
    if last:
        network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    x, y = x.to(weights), y.to(weights.device)
    held_out, apart = 0, None
    if isinstance(validation, float):
        if not 0.0 < validation < 1.0 or not 0 < (held_out := round(validation * len(x))) < len(x):
            raise ValueError(
                "validation must be a share of the training images that leaves some on both sides, "
                f"got {validation} of {len(x)}"
            )
        order = torch.randperm(len(x), generator=generator(seed, "images/held_out")).to(x.device)
        apart = Points(x[order[:held_out]], y[order[:held_out]])
        x, y = x[order[held_out:]], y[order[held_out:]]
    elif validation is not None:
        if not isinstance(validation, tuple) or len(validation) != 2:
            raise ValueError(
                f"validation must be a share such as 0.1, or Points(x, y), got {shown(validation)}"
            )
        apart = Points(validation[0].to(weights), validation[1].to(weights.device))
    return _Images(x, y, apart, held_out, last)


def _optimiser(
    network: nn.Module,
    name: str,
    rate: float,
    momentum: float,
    nesterov: bool,
    weight_decay: float,
    rates: Mapping[str, float] | None,
) -> torch.optim.Optimizer:
    """Groups of parameters by their factor of the rate and their decay."""
    kind = choose(name, _OPTIMISERS, "optimiser")
    factors = dict(rates or {})
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}
    for key, parameter in network.named_parameters():
        if not parameter.requires_grad:
            continue
        fits = [first for first in factors if key.startswith(first)]
        factor = factors[max(fits, key=len)] if fits else 1.0
        decay = weight_decay if parameter.ndim > 1 else 0.0
        groups.setdefault((factor, decay), []).append(parameter)
    for first in factors:
        if not any(key.startswith(first) for key, _ in network.named_parameters()):
            raise ValueError(f"no parameter's name begins with {first!r}, a key of rates")
    options: dict[str, Any] = {"fused": True} if next(network.parameters()).is_cuda else {}
    if kind is torch.optim.SGD:
        options |= {"momentum": real("momentum", momentum), "nesterov": nesterov}
    return kind(
        [
            {"params": some, "lr": rate * factor, "weight_decay": decay}
            for (factor, decay), some in groups.items()
        ],
        **options,
    )


def _factor(schedule: str | RateFactor, steps: int) -> RateFactor:
    if callable(schedule):
        return schedule
    return choose(schedule, {"cosine": cosine(steps), "constant": constant()}, "schedule")
