"""The network of [Paccolat 2021, eq. 1] and its training, for studies of the stripe model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Point
from regimes.studies._types import (
    Dataset,
    Event,
    FullyConnected,
    NetworkSnapshot,
    Observer,
    Recording,
    Run,
    Tensor,
)

WEIGHT, BIAS, READOUT = "layers.0.weight", "layers.0.bias", "layers.1.weight"
OF_PARAMS = ("width", "alpha", "output", "weight", "max_steps")  # what `train_at` takes from there


def network(d: int, width: int, seed: int, *, dtype: str, device: str = "cpu") -> FullyConnected:
    """`f = (1/h) sum beta relu(w.x/sqrt(d) + b)`, all parameters N(0, 1)."""
    import torch

    return rg.nets.FullyConnected(
        d,
        width,
        parametrization="mean_field",
        bias=True,
        seed=seed,
        dtype=getattr(torch, dtype),
        device=device,
    )


def train(
    sets: Sequence[Dataset],
    *,
    width: int,
    seeds: Sequence[int],
    alpha: float | Sequence[float],
    dtype: str,
    device: str = "cpu",
    until: str | Event = "fitted",
    observe: Mapping[str, Observer] | None = None,
    output: float = 0.1,
    weight: float = 0.05,
    **options: Any,
) -> Run:
    """[Paccolat 2021, eq. 2] with the hinge, member i on `sets[i]` with the network of `seeds[i]`.

    Time is that of eq. 2; divide by `tau = h sqrt(d/2)` to compare widths.
    A step changes predictions by less than `output` and the weights by less than `weight`, as
    fractions of their norm; times of events are known to one step.
    """
    import torch

    d = sets[0].in_shape[0]
    same = all(each is sets[0] for each in sets)
    moved = [each.to(getattr(torch, dtype), device) for each in (sets[:1] if same else sets)]
    options.setdefault("rule", rg.flow.StepRule(first="weights", shrink=2.0))
    return rg.flow.gradient_flow(
        lambda seed: network(d, width, seed, dtype=dtype, device=device),
        moved[0] if same else moved,
        loss="hinge",
        alpha=alpha,
        ensemble=list(seeds),
        divide_by="alpha",
        until=until,
        tolerances=rg.flow.Tolerances(output=output, gradient=None, weight=weight),
        observe=observe,
        **options,
    )


def train_at(
    point: Point, params: Any, sets: Sequence[Dataset], *, name: str = "run", **options: Any
) -> Run:
    """`train` with the seeds, precision and device of a trial, which leaves checkpoints.

    Width, alpha, limits of a step and their number are those of the study's parameters, where it
    has them. `name` is that of the checkpoint, `options` are those of `train` and go before.
    """
    how = {field: getattr(params, field) for field in OF_PARAMS if hasattr(params, field)}
    how |= {"seeds": point.seed, "dtype": point.dtype, "device": point.device}
    return train(sets, checkpoint=point.checkpoint(name), **{**how, **options})


def by_precision(alphas: Sequence[float], single_below: float) -> list[tuple[str, list[float]]]:
    """Which alphas are trained in float32, and which in float64, in their order.

    >>> by_precision((1e-6, 1e-2, 1.0), 0.5)
    [('float32', [1e-06, 0.01]), ('float64', [1.0])]
    """
    small = [alpha for alpha in alphas if alpha < single_below]
    large = [alpha for alpha in alphas if alpha >= single_below]
    if small + large != list(alphas):
        raise ValueError(
            f"alpha must increase, so that results keep its order, got {tuple(alphas)}: sort it"
        )
    return [(dtype, part) for dtype, part in (("float32", small), ("float64", large)) if part]


def start(
    d: int, width: int, seeds: Sequence[int], *, dtype: str, device: str = "cpu"
) -> dict[str, Tensor]:
    """Parameters of the networks of these seeds before training, stacked like those of a run."""
    made = rg.nets.stack(lambda seed: network(d, width, seed, dtype=dtype, device=device), seeds)
    return dict(made.parameters)


def amplification_observer(informative: int = 1, per_decade: int = 20) -> Observer:
    """Lambda along the run, and at t*."""
    return rg.flow.Observer(
        lambda snapshot: rg.measure.amplification(
            snapshot.parameters[WEIGHT].double(), informative=informative
        ),
        rg.flow.AnyOf((rg.flow.LogTimes(per_decade), rg.flow.OnEvent("t_star"))),
    )


def peaks(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Largest amplification of every member, and when, in units of its t*."""
    seen = run.recordings["amplification"]
    best = [int(values.argmax()) for values in seen.values]
    largest = [float(values[i]) for values, i in zip(seen.values, best, strict=True)]
    times = [float(times[i]) for times, i in zip(seen.times, best, strict=True)]
    return np.array(largest), np.array(times) / run.event_times["t_star"].cpu().numpy()


def course(record: Recording, t_star: Tensor, times: np.ndarray) -> np.ndarray:
    """An observer's values at these multiples of each member's t*, held after its end."""
    return np.array(
        [
            np.interp(times * float(star), own.numpy(), values.double().numpy())
            for own, values, star in zip(record.times, record.values, t_star, strict=True)
        ]
    )


def neurons(parameters: Mapping[str, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Weights (R, h, d), biases (R, h) and readouts beta (R, h) of stacked networks."""
    return parameters[WEIGHT], parameters[BIAS], parameters[READOUT][:, 0]


def neuron_states(snapshot: NetworkSnapshot) -> Tensor:
    """Everything there is to know of every neuron, (m, h, d + 2): w, b and beta."""
    import torch

    w, b, beta = neurons(snapshot.parameters)
    return torch.cat([w, b[..., None], beta[..., None]], dim=-1)
