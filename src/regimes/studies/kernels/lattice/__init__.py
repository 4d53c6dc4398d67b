"""The theorem on exponents, on lattices where it is exact [Spigler 2020, sec. 5, app. F]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, collect_blocks, study

LINE = ((2.0, 2.0), (3.0, 2.0), (4.0, 4.0), (6.0, 2.0), (8.0, 2.0))  # alpha_T, alpha_S for d = 1
PLANE = ((3.0, 3.0), (5.0, 3.0), (10.0, 3.0))
SPACE = ((4.0, 4.0), (6.0, 4.0))


@dataclass(frozen=True)
class Theorem:
    """Nothing is random; N along each direction."""

    line: tuple[int, ...] = (16, 32, 64)
    plane: tuple[int, ...] = (8, 16)
    space: tuple[int, ...] = (4, 8)
    space_images: int = 4


@dataclass(frozen=True)
class Relations:
    """Nothing is random; d = 1."""

    sizes: tuple[int, ...] = (16, 32, 64, 128)
    students: tuple[float, ...] = (3.0, 4.0, 6.0)  # alpha_S beside alpha_T = 3


@dataclass(frozen=True)
class Direct:
    """Nothing is random; d = 1, Laplace kernels."""

    sizes: tuple[int, ...] = (6, 8, 10, 12)
    modes: tuple[int, ...] = (400, 4000)  # in the sum over frequencies


@dataclass(frozen=True)
class Sampled:
    """A seed is a number of fields on a fine lattice, of which every s-th point is learned from."""

    sizes: tuple[int, ...] = (8, 16)
    fine: int = 16
    fields: int = 200
    seed: tuple[int, ...] = (0, 1)


def power(alpha: float) -> Callable[[np.ndarray], np.ndarray]:
    """Logarithm of `(1 + w^2)^(-alpha/2)`."""
    return lambda w: -alpha / 2 * np.log(1 + w**2)


def error(alpha_T: float, alpha_S: float, N: int, d: int, images: int | None = None) -> Any:
    """The lattice error of two such densities."""
    return rg.theory.lattice_error(power(alpha_T), power(alpha_S), N, d, images=images)


def theorem(params: Theorem, point: Point) -> TrialResult:
    """KER-15: errors for d = 1, 2, 3 in all regimes."""
    arrays: dict[str, Array] = {}
    for d, (name, cases) in enumerate((("line", LINE), ("plane", PLANE), ("space", SPACE)), 1):
        sizes = getattr(params, name)
        images = params.space_images if d == 3 else None
        found = [[error(*case, N, d, images) for N in sizes] for case in cases]
        dims = (f"{name}_case", f"{name}_size")
        arrays |= {
            f"{name}_N": Array(dims[1], sizes),
            f"{name}_teacher": Array(dims[0], [case[0] for case in cases]),
            f"{name}_student": Array(dims[0], [case[1] for case in cases]),
            f"{name}_error": Array(dims, [[each.value for each in row] for row in found]),
            f"{name}_cut": Array(
                dims, [[each.truncation / each.value for each in r] for r in found]
            ),
        }
    return TrialResult(arrays=arrays)


def relations(params: Relations, point: Point) -> TrialResult:
    """KER-11b, KER-17, KER-18, KER-19 and KER-24."""
    sizes, students = params.sizes, params.students
    expansion = {
        printed: [rg.theory.lattice_expansion(9.0, 2.0, _ratio, N, printed=printed) for N in sizes]
        for printed in (False, True)
    }
    powers = [[_tail(alpha, N) for N in sizes] for alpha in (2.0, 8.0)]
    return TrialResult(
        arrays={
            "N": Array("size", sizes),
            "alpha_S": Array("student", students),
            "smooth_error": Array(
                ("student", "size"), [[error(3.0, s, N, 1).value for N in sizes] for s in students]
            ),
            "gauss_error": Array("size", [_gauss(N) for N in sizes]),
            "log_error": Array("size", [error(5.0, 2.0, N, 1).value for N in sizes]),
            "exact_error": Array("size", [error(9.0, 2.0, N, 1).value for N in sizes]),
            "expansion": Array("size", expansion[False]),
            "expansion_printed": Array("size", expansion[True]),
            "tail_error": Array(
                ("tail_case", "size"),
                [[error(alpha, 2.0, N, 1).value for N in sizes] for alpha in (2.0, 8.0)],
            ),
            "tail": Array(("tail_case", "size"), powers),
        }
    )


def _gauss(N: int) -> float:
    """Error of a Gaussian student on a Laplace field; both have the box for a length."""
    return rg.theory.lattice_error(power(2.0), lambda w: -(w**2) / 2, N).value


def _ratio(w: np.ndarray) -> np.ndarray:
    """`kappa_T/kappa_S^2` for alpha_T = 9 and alpha_S = 2."""
    return (1 + w**2) ** (2.0 - 9.0 / 2)


def _tail(alpha: float, N: int, most: int = 10**6) -> float:
    """Power of the teacher in all modes |k| >= N/2."""
    w = 2 * np.pi * np.arange(N // 2, most)
    beyond = (2 * np.pi * most) ** (1 - alpha) / (alpha - 1) / (2 * np.pi)
    return float(2 * ((1 + w**2) ** (-alpha / 2)).sum() + 2 * beyond)


def direct(params: Direct, point: Point) -> TrialResult:
    """KER-16: the sum over frequencies against a solved lattice."""

    def kernel(x: np.ndarray) -> np.ndarray:
        """The kernel with `kappa = 2/(1 + w^2)`: exponentials from all periods."""
        return np.asarray(np.cosh(0.5 - np.abs(x) % 1) / np.sinh(0.5))

    solved = [rg.theory.lattice_error_direct(kernel, kernel, N) for N in params.sizes]
    found = [
        [2 * error(2.0, 2.0, N, 1, max(2, round(modes / N / 2))).value for modes in params.modes]
        for N in params.sizes
    ]
    return TrialResult(
        arrays={
            "mode_count": Array("modes", params.modes),
            "solved": Array("direct_size", solved),
            "summed": Array(("direct_size", "modes"), found),
        }
    )


def sampled(params: Sampled, point: Point) -> TrialResult:
    """KER-16b: fields drawn on a fine lattice."""
    import torch

    def density(w: Any) -> Any:
        return 2 / (1 + w.square())

    errors = np.empty((len(point.seed), len(params.sizes)))
    for i, seed in enumerate(point.seed):
        for j, N in enumerate(params.sizes):
            whole = N * params.fine
            fields = rg.data.periodic_field(whole, 1, density, params.fields, seed=seed)
            x = rg.data.lattice_points(whole, 1)[:, 0]
            modes = 2 * torch.pi * torch.fft.fftfreq(whole, 1 / whole, dtype=torch.float64)
            # the student sees no other modes than the fields have
            K = (torch.cos(x[:, None] * modes) * density(modes)).sum(1)
            gap = (torch.arange(whole)[:, None] - torch.arange(0, whole, params.fine)) % whole
            k = K[gap]
            inner = k[:: params.fine]
            found = rg.kernels.regression((inner + inner.T) / 2, fields[:, :: params.fine].T)
            errors[i, j] = float((found.predict(k) - fields.T).square().mean())
    formula = [2 * error(2.0, 2.0, N, 1, max(2, params.fine // 2)).value for N in params.sizes]
    return TrialResult(
        arrays={
            "sampled_N": Array("sampled_size", params.sizes),
            "sampled_error": Array(("seed", "sampled_size"), errors),
            "sampled_formula": Array("sampled_size", formula),
        }
    )


CHECKS: dict[str, Callable[[Any, Point], TrialResult]] = {
    "theorem": theorem,
    "relations": relations,
    "direct": direct,
    "sampled": sampled,
}
CPU: dict[str, Any] = {
    "theorem": Theorem((16, 32, 64, 128, 256), (8, 16, 32), (4, 8, 16), 6),
    "relations": Relations((16, 32, 64, 128, 256)),
    "direct": Direct(),
    "sampled": Sampled((8, 16, 32), seed=tuple(range(16))),
}


@study(
    "kernels/lattice",
    version=1,
    sizes={
        "smoke": {
            "theorem": Theorem(space_images=2),
            "relations": Relations(),
            "direct": Direct(),
            "sampled": Sampled(),
        },
        "cpu": CPU,
        "paper": {
            **CPU,
            "theorem": Theorem((16, 32, 64, 128, 256, 512), (8, 16, 32, 64), (4, 8, 16, 24), 8),
        },
    },
    axes={check: [Axis("seed", stacked=True)] if check == "sampled" else [] for check in CHECKS},
)
class Lattice:
    """The error of regression on a periodic lattice, exactly, for targets that are Gaussian fields.

    Fourier modes that a lattice cannot tell apart make the error, so that it is a sum over
    frequencies. As the lattice becomes finer it falls with the exponent that the smoothness of
    target and kernel set, whichever limits.

    The paper: [Spigler 2020, sec. 5, app. F].
    """

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """One check, with parameters of its own class."""
        return CHECKS[point.block](params, point)

    summarise = staticmethod(collect_blocks)
