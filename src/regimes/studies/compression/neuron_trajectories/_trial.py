"""Networks trained to t*, and their neurons beside the equation of one neuron."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Point, TrialResult
from regimes.studies.compression._attractors import CLASSES, EDGES, TABLE, fastest_attractor
from regimes.studies.compression._stripe import neuron_states, train_at
from regimes.studies.compression.neuron_trajectories._claims import CLOSE, FOLLOWED

if TYPE_CHECKING:
    from regimes.data import Dataset
    from regimes.flow import Run
    from regimes.studies.compression.neuron_trajectories import Params


GREW = 2.0  # neurons whose weights have at least so much grown when they are compared
COMPARED_AT = 0.8  # of t*
SHOWN = 60  # neurons drawn, and times drawn of each


def places(params: Params, point: Point) -> TrialResult:
    """Where the kinks of networks in d = 2 go, and whether their neurons follow the equation."""
    from regimes import theory

    sets, run = _train(params, point, 2, params.n_train, weight=params.step)
    tau = theory.stripe_tau(params.width, 2)
    times = [each / tau for each in run.recordings["state"].times]
    states = run.recordings["state"].values
    seen = [_examine(*each) for each in zip(states, times, sets, strict=True)]
    arrays = {
        name: Array(
            ("seed", "class")[: 1 + np.ndim(value)], [numbers[name] for numbers, *_ in seen]
        )
        for name, value in seen[0][0].items()
    }
    arrays["t_star"] = Array("seed", run.event_times["t_star"] / tau)
    arrays["table_error"] = Array("dimension", [table_error(d) for d in TABLE])
    _, living, followed = seen[0]
    arrays |= _pictures(living, followed, times[0], sets[0])
    return TrialResult({"p": params.n_train, "h": params.width}, arrays=arrays)


def growth(params: Params, point: Point) -> TrialResult:
    """How fast the weights of the fastest class grow in d = 5."""
    from regimes import theory

    d, width = 5, params.growth_width
    options = {"width": width, "alpha": params.growth_alpha, "weight": params.growth_step}
    _, run = _train(params, point, d, params.growth_n_train, **options)
    tau = theory.stripe_tau(width, d)
    sizes = [_class_size(run.recordings["state"], number, tau) for number in range(len(point.seed))]
    slopes = []
    for times, size in sizes:
        late = times >= 2 / 3 * times[-1]
        slopes.append(np.polyfit(times[late], np.log(size[late]), 1)[0])
    times, size = sizes[0]
    shown = _evenly(len(times), 200)
    return TrialResult(
        {"p": params.growth_n_train, "h": width, "rate": fastest_attractor(d).rate},
        arrays={
            "growth": Array("seed", slopes),
            "t_star": Array("seed", run.event_times["t_star"] / tau),
            "growth_times": Array("sample", times[shown]),
            "growth_size": Array("sample", size[shown]),
        },
    )


def _train(
    params: Params, point: Point, d: int, n_train: int, **options: Any
) -> tuple[list[Dataset], Run]:
    """Data sets, and a run that keeps every neuron's (w, b, beta) after each step."""
    from regimes import flow

    sets = [rg.data.stripe(n_train=n_train, n_test=1, d=d, seed=seed) for seed in point.seed]
    every_step = flow.Observer(lambda s: neuron_states(s).double(), flow.EverySteps(1))
    seen = {"state": every_step}
    return sets, train_at(point, params, sets, until="t_star", observe=seen, **options)


def _examine(states: Any, times: Any, data: Any) -> tuple[dict[str, Any], Any, Any]:
    """One network: its numbers, the states of its living neurons and of those followed."""
    from regimes import measure

    d = data.in_shape[0]
    living = states[
        :, ~measure.dead_neurons(states[0, :, :d], states[0, :, d], data.x_train.double())
    ]
    early = int((times - COMPARED_AT * times[-1]).abs().argmin())
    size = living[..., : d + 1].norm(dim=-1)
    grown = (size[early] > GREW * size[0]).numpy()
    followed = living[:, np.flatnonzero(grown)[:FOLLOWED]]
    gap = _gaps(living, times, data, [early], everything=True)[0][0]
    source_gap = _gaps(followed, times, data, [early], everything=False)[0]
    mean, share = classes(living[-1], d)
    numbers = {
        "z_mean": mean,
        "z_early": classes(living[early], d)[0],
        "near_axis": share,
        "gap": gap[grown][:FOLLOWED].max(),
        "gap_living": gap[:FOLLOWED].max(),
        "gap_source": source_gap.max(),
        "close_share": (gap < CLOSE).mean(),
        "close_grown": (gap[grown] < CLOSE).mean(),
    }
    return numbers, living, followed


def classes(state: Any, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Amplitude-weighted z_1 of each class, and the share of its neurons with |z_2| < 0.1."""
    from regimes import measure

    z = measure.neuron_vectors(state[:, :d], state[:, d]).numpy()
    readout, w1 = state[:, -1].numpy(), state[:, 0].numpy()
    amplitude = np.abs(readout) * state[:, :d].norm(dim=1).numpy()
    means, shares = np.full(len(CLASSES), np.nan), np.full(len(CLASSES), np.nan)
    for number, (sign_w, sign_beta) in enumerate(CLASSES):
        own = (np.sign(w1) == sign_w) & (np.sign(readout) == sign_beta)
        if own.any():
            means[number] = np.average(z[own, 0], weights=amplitude[own])
            shares[number] = (np.abs(z[own, 1]) < 0.1).mean()
    return means, shares


def _gaps(
    states: Any, times: Any, data: Any, steps: list[int], *, everything: bool
) -> tuple[np.ndarray, Any]:
    """Network against ODE: largest difference of ln|w_1|, ln|b|, ln|beta|, (steps, neurons).

    The ODE starts from the network's neurons and feels the data set's own noise: on w_perp alone
    as in App. C.3, or on w_1 and b too. Returned with its logarithms (steps, neurons, d + 2).
    """
    import torch

    from regimes import theory

    first = states[0]
    path = theory.neuron_trajectories(
        first[:, :-2],
        first[:, -2],
        first[:, -1],
        times[steps],
        interfaces=EDGES,
        noise=theory.AxisNoise(data.x_train, data.y_train, interfaces=EDGES, everything=everything),
        rtol=1e-4,
    )
    b, beta = path.log_abs(path.b), path.log_abs(path.beta)
    logs = torch.cat([path.log_abs(path.w), b[..., None], beta[..., None]], -1)
    differences = logs - states[steps].abs().log()
    return differences[..., [0, -2, -1]].abs().amax(-1).numpy(), logs


def _pictures(states: Any, followed: Any, times: Any, data: Any) -> dict[str, Array]:
    """What Figs 3a and 3c show of one network."""
    from regimes import measure

    steps = _evenly(len(times), SHOWN).tolist()
    some = states[steps][:, :SHOWN]
    z = measure.neuron_vectors(some[..., :2], some[..., 2])
    _, predicted = _gaps(followed, times, data, steps, everything=True)
    measured = followed[steps].abs().log()
    over = ("time", "followed", "weight")
    return {
        "times": Array("time", times[steps]),
        "z": Array(("time", "neuron", "coordinate"), z.numpy().astype(np.float32)),
        "signs": Array(("neuron", "sign"), np.sign(some[-1][:, [0, -1]].numpy())),
        "network_log": Array(over, measured.numpy().astype(np.float32)),
        "theory_log": Array(over, predicted.numpy().astype(np.float32)),
    }


def _evenly(count: int, wanted: int) -> np.ndarray:
    """At most `wanted` different numbers from 0 to count - 1, evenly spread."""
    return np.unique(np.linspace(0, count - 1, wanted).round().astype(int))


def table_error(d: int) -> float:
    """Largest difference of z* and tau/tau* from the spec's table; infinite if not three."""
    from regimes import theory

    found = [point for point in theory.stripe_fixed_points(*EDGES, d) if point.attractor]
    if [(point.sign_w, point.sign_beta) for point in found] != list(CLASSES):
        return float("inf")
    computed = np.array([(point.z, point.rate) for point in found])
    return float(np.abs(computed - TABLE[d]).max())


def _class_size(record: Any, number: int, tau: float) -> tuple[np.ndarray, np.ndarray]:
    """Times in tau, and the rms of w_1 over the neurons that end as w_1 < 0, beta > 0."""
    times, states = record.times[number].numpy() / tau, record.values[number].numpy()
    own = (states[-1, :, 0] < 0) & (states[-1, :, -1] > 0)
    return times, np.sqrt((states[:, own, 0] ** 2).mean(1))
