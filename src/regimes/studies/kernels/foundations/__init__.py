"""What the theory of learning curves stands on, each by two computations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, collect_blocks, study
from regimes.studies.kernels._pixels import pixels

SPACES = ((1, 2.0, 2.0), (1, 2.5, 2.0), (2, 3.0, 3.0), (2, 4.0, 3.0))  # d, alpha_T, alpha_S: grow
BOUNDED = ((1, 5.0, 2.0), (2, 8.0, 3.0))
GENERIC = ((2.0, 2.0), (1.5, 3.0), (1.5, 6.0))  # a, b: lambda = rank^-a, q^2 = rank^-b
QUOTED = ((0.4, 784), (0.4, 15))  # beta, d
DENSITIES = (15, 35)  # effective dimensions of MNIST and CIFAR-10, Laplace kernel


@dataclass(frozen=True)
class Smoothness:
    """Nothing is random."""

    nus: tuple[float, ...] = (0.5, 1.5, 2.5, 3.5)
    orders: tuple[int, ...] = (1, 2)
    steps: tuple[float, ...] = (0.02, 0.04, 0.08)  # over the length of the kernel


@dataclass(frozen=True)
class Spectra:
    """Nothing is random."""

    levels: int = 200


@dataclass(frozen=True)
class Space:
    """A seed is a draw of points on the circle and on S^2."""

    lines: int = 100_000  # frequencies on either side, d = 1
    planes: int = 300  # the same for d = 2
    points: int = 40
    seed: tuple[int, ...] = (0, 1)


@dataclass(frozen=True)
class Generic:
    """Nothing is random."""

    modes: int = 20_000
    sizes: tuple[int, ...] = (100, 200, 400)


@dataclass(frozen=True)
class Simulation:
    """A seed is a draw of points on the circle and on S^2."""

    sizes: tuple[int, ...] = (64, 256)
    levels: int = 200  # of the spectrum of S^2; that of the circle takes 100 times as many
    n_test: int = 100
    sigma: float = 2.0
    seed: tuple[int, ...] = (0, 1)


@dataclass(frozen=True)
class Process:
    """A seed is a draw of points and of a target."""

    points: int = 40
    seed: tuple[int, ...] = (0, 1)


@dataclass(frozen=True)
class Conditions:
    """A seed is a draw of images, and of a pair of points."""

    images: str = "digits"
    points: int = 200
    sigma: float = 1000.0
    penalty: float = 1e4
    seed: tuple[int, ...] = (0, 1)


def smoothness(params: Smoothness, point: Point) -> TrialResult:
    """KER-22: variance of m-th differences of a field, from its kernel."""
    import torch

    variance = np.empty((len(params.nus), len(params.orders), len(params.steps)))
    for i, nu in enumerate(params.nus):
        kernel = rg.kernels.Matern(1.0, nu)
        for j, m in enumerate(params.orders):
            weights = np.array([(-1) ** k * comb(m, k) for k in range(m + 1)])
            gaps = np.abs(np.subtract.outer(np.arange(m + 1), np.arange(m + 1)))
            for k, step in enumerate(params.steps):
                values = kernel.of_distance(torch.from_numpy(gaps * step)).numpy()
                variance[i, j, k] = weights @ values @ weights
    return TrialResult(
        arrays={
            "nu": Array("field", params.nus),
            "order": Array("difference", params.orders),
            "step": Array("step_size", params.steps),
            "derivatives": Array(
                "field", [rg.kernels.Matern(1.0, n).smoothness for n in params.nus]
            ),
            "difference_variance": Array(("field", "difference", "step_size"), variance),
        }
    )


def values(params: Any, point: Point) -> TrialResult:
    """KER-23: the smoothness that an exponent needs."""
    found = [rg.theory.smoothness_index(d * (1 + beta), d) for beta, d in QUOTED]
    return TrialResult(
        arrays={
            "quoted_dimension": Array("quoted", [d for _, d in QUOTED]),
            "quoted_smoothness": Array("quoted", found),
        }
    )


@dataclass(frozen=True)
class Values:
    """Nothing is random, and nothing can be set."""


def spectra(params: Spectra, point: Point) -> TrialResult:
    """KER-31: exact eigenvalues of Laplace kernels on the circle and on S^2."""
    circle = rg.theory.circle_spectrum(laplace, 10 * params.levels).all()
    sphere = rg.theory.sphere_spectrum(laplace, params.levels, nodes=8 * params.levels).all()
    ranks = np.unique(np.geomspace(30, 10 * params.levels, 40).round().astype(int))
    return TrialResult(
        arrays={
            "spectrum_rank": Array("spectrum_place", ranks),
            "circle_eigenvalue": Array("spectrum_place", circle[ranks - 1]),
            "sphere_eigenvalue": Array("spectrum_place", sphere[ranks - 1]),
            "theta": Array("density", [rg.theory.density_exponent(d + 1, d) for d in DENSITIES]),
        }
    )


def laplace(r: np.ndarray) -> np.ndarray:
    """`exp(-r)`."""
    return np.exp(-r)


def space(params: Space, point: Point) -> TrialResult:
    """KER-32: squared norms of fields in the student's space, summed up to a frequency."""
    sums: dict[str, list[list[float]]] = {"grow": [], "bounded": []}
    cuts = (4, 2, 1)  # quarters of the largest frequency: growth between the last two
    for name, cases in (("grow", SPACES), ("bounded", BOUNDED)):
        for d, alpha_T, alpha_S in cases:
            most = params.lines if d == 1 else params.planes
            k = np.arange(-most, most + 1)
            w = np.abs(k) if d == 1 else np.hypot(k[:, None], k)
            ratio = (1 + (2 * np.pi * w) ** 2) ** ((alpha_S - alpha_T) / 2)
            sums[name].append([float(ratio[w <= most / cut].sum()) for cut in cuts])
    trace = []
    for seed in point.seed:
        for d in (1, 2):
            x = rg.data.sphere_points(params.points, d, seed)
            K = rg.kernels.Laplace(1.0)(x)
            trace.append(float(rg.kernels.factorise(K).solve(K).trace()))
    return TrialResult(
        {"trace_points": params.points},
        {
            "growing_sum": Array(("growing", "cut"), sums["grow"]),
            "growing_exponent": Array("growing", [d + s - t for d, t, s in SPACES]),
            "bounded_sum": Array(("bounded", "cut"), sums["bounded"]),
            "trace": Array(("seed", "sphere"), np.reshape(trace, (len(point.seed), 2))),
        },
    )


def generic(params: Generic, point: Point) -> TrialResult:
    """KER-33: the generic formula on power laws."""
    rank = np.arange(1.0, params.modes + 1)
    errors = [rg.theory.generic_curve(rank**-a, rank**-b, params.sizes).error for a, b in GENERIC]
    return TrialResult(
        arrays={
            "generic_n": Array("generic_size", params.sizes),
            "generic_error": Array(("generic_case", "generic_size"), errors),
            "generic_goal": Array("generic_case", [min(b - 1, 2 * a) for a, b in GENERIC]),
        }
    )


TEACHERS = (0.5, 1.0, 4.0)  # nu of the fields on the circle; 1/2 on S^2


def simulation(params: Simulation, point: Point) -> TrialResult:
    """KER-34: the generic formula with exact spectra, and regression on random points."""
    import torch

    def kernel(nu: float) -> Any:
        return rg.kernels.Matern(params.sigma, nu)

    def of(nu: float) -> Callable[[np.ndarray], np.ndarray]:
        return lambda r: kernel(nu).of_distance(torch.from_numpy(r.copy())).numpy()

    rough = rg.kernels.Laplace(params.sigma)
    top = max(params.sizes)
    cases = ((2, 0.5), *((1, nu) for nu in TEACHERS))
    found = np.empty((len(cases), len(point.seed), len(params.sizes)))
    formula = []
    for i, (d, nu) in enumerate(cases):
        if d == 2:
            spectra = [
                rg.theory.sphere_spectrum(of(n), params.levels, nodes=8 * params.levels)
                for n in (0.5, nu)
            ]
        else:
            spectra = [rg.theory.circle_spectrum(of(n), 100 * params.levels) for n in (0.5, nu)]
        student, teacher = (each.all() for each in spectra)
        # modes below rounding carry nothing
        curve = rg.theory.generic_curve(student, np.maximum(teacher, 0.0), params.sizes)
        formula.append(curve.error)
        for j, seed in enumerate(point.seed):
            x = rg.data.sphere_points(top + params.n_test, d, seed)
            found[i, j] = rg.kernels.teacher_error(
                kernel(nu), rough, x[:top], x[top:], params.sizes
            ).numpy()
    return TrialResult(
        arrays={
            "simulated_n": Array("simulated_size", params.sizes),
            "simulated": Array(("simulated_case", "seed", "simulated_size"), found),
            "formula": Array(("simulated_case", "simulated_size"), formula),
        }
    )


def process(params: Process, point: Point) -> TrialResult:
    """KER-35: regression against scikit-learn's Gaussian process."""
    import torch
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import Matern

    gaps = []
    for seed in point.seed:
        x = rg.data.cloud_points(2 * params.points, 3, seed)
        train, test = x[: params.points], x[params.points :]
        z = rg.data.gaussian_field(train, rg.kernels.Laplace(1.0), seed=seed)[0]
        for nu in (0.5, 1.5):
            kernel = rg.kernels.Matern(1.0, nu)
            ours = rg.kernels.regression(kernel(train), z).predict(kernel(test, train))
            peer = GaussianProcessRegressor(
                Matern(1.0, "fixed", nu), alpha=1e-14, optimizer=None
            ).fit(train.numpy(), z.numpy())
            theirs = torch.from_numpy(peer.predict(test.numpy()))
            gaps.append(float((ours - theirs).abs().max() / z.abs().max()))
    return TrialResult(
        arrays={"process_gap": Array(("seed", "process_nu"), np.reshape(gaps, (-1, 2)))}
    )


def conditions(params: Conditions, point: Point) -> TrialResult:
    """KER-36: soft margins on images, and two points."""
    from regimes._random import generator

    missed, pairs = [], []
    x, y = pixels(params.images)
    for seed in point.seed:
        import torch

        source = generator(seed, "images of a machine")
        chosen = torch.randperm(len(x), generator=source)[: params.points]
        K = rg.kernels.Laplace(params.sigma)(x[chosen])
        machine = rg.kernels.soft_margin(K, y[chosen], penalty=params.penalty)
        missed.append(machine.violation)
        between = float(torch.rand((), generator=source, dtype=torch.float64))
        pair = torch.tensor([[1.0, between], [between, 1.0]], dtype=torch.float64)
        two = rg.kernels.soft_margin(pair, torch.tensor([1.0, -1.0]), penalty=params.penalty)
        goal = 1 / (1 - between)
        off = np.abs(np.abs(two.machine.dual) - goal).max() / goal
        pairs.append(max(float(off), abs(two.machine.intercept)))
    return TrialResult(
        {"machine_points": params.points},
        {"violation": Array("seed", missed), "pair_gap": Array("seed", pairs)},
    )


CHECKS: dict[str, Callable[[Any, Point], TrialResult]] = {
    "smoothness": smoothness,
    "values": values,
    "spectra": spectra,
    "space": space,
    "generic": generic,
    "simulation": simulation,
    "process": process,
    "conditions": conditions,
}
SMOKE: dict[str, Any] = {
    "smoothness": Smoothness(),
    "values": Values(),
    "spectra": Spectra(),
    "space": Space(),
    "generic": Generic(),
    "simulation": Simulation(),
    "process": Process(),
    "conditions": Conditions(),
}
CPU: dict[str, Any] = {
    **SMOKE,
    "spectra": Spectra(400),
    "space": Space(1_000_000, 1000, 200, tuple(range(5))),
    "generic": Generic(200_000),
    "simulation": Simulation((64, 128, 256), 400, 500, seed=tuple(range(144))),
    "process": Process(seed=tuple(range(10))),
    "conditions": Conditions("mnist", seed=tuple(range(10))),
}


@study(
    "kernels/foundations",
    version=1,
    sizes={"smoke": SMOKE, "cpu": CPU, "paper": CPU},
    axes={
        check: [Axis("seed", stacked=True)] if hasattr(SMOKE[check], "seed") else []
        for check in CHECKS
    },
)
class Foundations:
    """Smoothness of fields, spectra of kernels, the generic formula, and two machines by the book.

    Each is computed in two ways, or against what is known on paper.

    The paper: [Spigler 2020, secs. 5 and 6, apps. A, F, G, H and I].
    """

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """One check, with parameters of its own class."""
        return CHECKS[point.block](params, point)

    summarise = staticmethod(collect_blocks)
