"""Networks trained to t*, and their neurons beside the equation of one neuron."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Point, TrialResult
from regimes.studies._stripe import neuron_states, train_at
from regimes.studies._types import Dataset, Run
from regimes.studies.compression._attractors import CLASSES, EDGES, TABLE, fastest_attractor
from regimes.studies.compression.neuron_trajectories._claims import CLOSE, FOLLOWED

if TYPE_CHECKING:
    from regimes.studies.compression.neuron_trajectories import Params


GREW = 2.0  # neurons whose weights have at least so much grown when they are compared
COMPARED_AT = 0.8  # of t*
SHOWN = 60  # neurons drawn, and times drawn of each


def places(params: Params, point: Point) -> TrialResult:
    """Where the kinks of networks in d = 2 go."""
    sets, seen, t_star = _in_the_plane(params, point, params.width)
    at_end = [classes(living[-1], 2) for living, _ in seen]
    arrays = {
        "z_mean": Array(("seed", "class"), [mean for mean, _ in at_end]),
        "near_axis": Array(("seed", "class"), [share for _, share in at_end]),
        "z_early": Array(
            ("seed", "class"), [classes(living[_early(t)], 2)[0] for living, t in seen]
        ),
        "t_star": Array("seed", t_star),
        "table_error": Array("dimension", [table_error(d) for d in TABLE]),
    }
    living, times = seen[0]
    followed = living[:, np.flatnonzero(_grown(living, _early(times)))[:FOLLOWED]]
    arrays |= _pictures(living, followed, times, sets[0])
    return TrialResult({"p": params.n_train, "h": params.width}, arrays=arrays)


def equation(params: Params, point: Point) -> TrialResult:
    """Whether the neurons of networks in d = 2 follow the equation of one neuron.

    Of every network the first living neurons as they come, with the noise of [Paccolat 2021, app.
    C.3], on w_perp alone, and with that on w_1 and b too.
    """
    sets, seen, t_star = _in_the_plane(params, point, params.equation_width)
    found: dict[str, list[float]] = {}
    for (living, times), data in zip(seen, sets, strict=True):
        early = _early(times)
        grown = _grown(living, early)
        for noise, everything in (("source", False), ("all", True)):
            gap = _gaps(living, times, data, [early], everything=everything)[0][0]
            numbers = {
                "gap": gap[:FOLLOWED].max(),
                "gap_grown": gap[grown][:FOLLOWED].max(),
                "close_share": (gap < CLOSE).mean(),
                "close_grown": (gap[grown] < CLOSE).mean(),
            }
            for name, value in numbers.items():
                found.setdefault(f"{name}_{noise}", []).append(float(value))
    arrays = {name: Array("seed", values) for name, values in found.items()}
    arrays["t_star"] = Array("seed", t_star)
    return TrialResult({"p": params.n_train, "h": params.equation_width}, arrays=arrays)


def growth(params: Params, point: Point) -> TrialResult:
    """How fast the weights of the fastest class grow in d = 5."""
    d, width = 5, params.growth_width
    options = {"width": width, "alpha": params.growth_alpha, "weight": params.growth_step}
    _, run = _train(params, point, d, params.growth_n_train, **options)
    tau = rg.theory.stripe_tau(width, d)
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
    sets = [rg.data.stripe(n_train=n_train, n_test=1, d=d, seed=seed) for seed in point.seed]
    every_step = rg.flow.Observer(lambda s: neuron_states(s).double(), rg.flow.EverySteps(1))
    seen = {"state": every_step}
    return sets, train_at(point, params, sets, until="t_star", observe=seen, **options)


def _in_the_plane(
    params: Params, point: Point, width: int
) -> tuple[list[Dataset], list[tuple[Any, Any]], Any]:
    """Data sets of d = 2; states and times of the living neurons of their networks; t* in tau."""
    sets, run = _train(params, point, 2, params.n_train, width=width, weight=params.step)
    tau, record = rg.theory.stripe_tau(width, 2), run.recordings["state"]
    seen = []
    for states, times, data in zip(record.values, record.times, sets, strict=True):
        first, x = states[0], data.x_train.double()
        living = states[:, ~rg.measure.dead_neurons(first[:, :2], first[:, 2], x)]
        seen.append((living, times / tau))
    return sets, seen, run.event_times["t_star"] / tau


def _early(times: Any) -> int:
    """The step at which network and equation are compared."""
    return int((times - COMPARED_AT * times[-1]).abs().argmin())


def _grown(living: Any, step: int) -> np.ndarray:
    """Which neurons have grown by then."""
    size = living[..., :-1].norm(dim=-1)
    return np.asarray((size[step] > GREW * size[0]).numpy())


def classes(state: Any, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Amplitude-weighted z_1 of each class, and the share of its neurons with |z_2| < 0.1."""
    z = rg.measure.neuron_vectors(state[:, :d], state[:, d]).numpy()
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
    as in app. C.3, or on w_1 and b too. Returned with its logarithms (steps, neurons, d + 2).
    """
    import torch

    first = states[0]
    path = rg.theory.neuron_trajectories(
        first[:, :-2],
        first[:, -2],
        first[:, -1],
        times[steps],
        interfaces=EDGES,
        noise=rg.theory.AxisNoise(
            data.x_train, data.y_train, interfaces=EDGES, everything=everything
        ),
        rtol=1e-4,
    )
    b, beta = path.log_abs(path.b), path.log_abs(path.beta)
    logs = torch.cat([path.log_abs(path.w), b[..., None], beta[..., None]], -1)
    differences = logs - states[steps].abs().log()
    return differences[..., [0, -2, -1]].abs().amax(-1).numpy(), logs


def _pictures(states: Any, followed: Any, times: Any, data: Any) -> dict[str, Array]:
    """What figs. 3a and 3c show of one network."""
    steps = _evenly(len(times), SHOWN).tolist()
    some = states[steps][:, :SHOWN]
    z = rg.measure.neuron_vectors(some[..., :2], some[..., 2])
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
    """Largest difference of z* and tau/tau* from the table; infinite if not three."""
    found = [point for point in rg.theory.stripe_fixed_points(*EDGES, d) if point.attractor]
    if [(point.sign_w, point.sign_beta) for point in found] != list(CLASSES):
        return float("inf")
    computed = np.array([(point.z, point.rate) for point in found])
    return float(np.abs(computed - TABLE[d]).max())


def _class_size(record: Any, number: int, tau: float) -> tuple[np.ndarray, np.ndarray]:
    """Times in tau, and the rms of w_1 over the neurons that end as w_1 < 0, beta > 0."""
    times, states = record.times[number].numpy() / tau, record.values[number].numpy()
    own = (states[-1, :, 0] < 0) & (states[-1, :, -1] > 0)
    return times, np.sqrt((states[:, own, 0] ** 2).mean(1))
