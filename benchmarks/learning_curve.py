"""A learning curve of MNIST against a plain loop of scikit-learn, and the same numbers.

Even or odd digits, n = 128, 256, ..., 8192, Laplace and Gaussian kernels of length 1000 on raw
pixels, regression without a ridge, 1000 test images, several draws. Ours is one call: a distance
matrix for both kernels, and one Cholesky factor for all sizes. The loop fits a
GaussianProcessRegressor with a fixed kernel and a tiny alpha for each kernel and size. Draws take
turns, so that both see the same machine; each draw is the same work. `--loop-draws` lets the slow
loop run on the first few draws only, with which the same draws of ours are compared.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np
from _machine import judged, options, save, times_of
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, Matern

import regimes as rg
from regimes.curves._tasks import as_pool
from regimes.studies.kernels._pixels import pixels

BARS = {"ratio": 3.0, "difference": 1e-8}
SIGMA, N_TEST, ALPHA = 1000.0, 1000, 1e-14
OURS = {"laplace": rg.kernels.Laplace(SIGMA), "gaussian": rg.kernels.Gaussian(SIGMA)}
THEIRS = {"laplace": Matern(SIGMA, "fixed", nu=0.5), "gaussian": RBF(SIGMA, "fixed")}


def ours(task: Any, sizes: tuple[int, ...], repeat: int) -> np.ndarray:
    """Errors (kernel, size) of one draw, from the images on."""
    found = rg.curves.learning_curves(task, OURS, sizes, 1, n_test=N_TEST, seed=repeat)
    return np.array([found[name].errors[0] for name in OURS])


def loop(task: Any, sizes: tuple[int, ...], repeat: int) -> np.ndarray:
    """The same errors, each kernel and size on its own."""
    drawn = as_pool(task, None).drawn(sizes[-1], N_TEST, repeat, 0)
    x, y, x_test, y_test = (
        each.double().numpy() for each in (drawn.x, drawn.y, drawn.x_test, drawn.y_test)
    )
    errors = np.empty((len(THEIRS), len(sizes)))
    for i, kernel in enumerate(THEIRS.values()):
        for j, n in enumerate(sizes):
            model = GaussianProcessRegressor(kernel, alpha=ALPHA, optimizer=None)
            outputs = model.fit(x[:n], y[:n]).predict(x_test)
            errors[i, j] = np.mean((outputs - y_test) ** 2)
    return errors


def main() -> int:
    """Print and keep the times; the exit status counts bars that were missed."""
    parser = options(__doc__)
    parser.add_argument("--most", type=int, default=8192, help="largest training set")
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--loop-draws", type=int, help="draws of the loop; default: all")
    chosen = parser.parse_args()
    sizes = tuple(2**k for k in range(7, int(np.log2(chosen.most)) + 1))
    looped = chosen.draws if chosen.loop_draws is None else chosen.loop_draws
    task = pixels("mnist")
    ours(task, sizes[:2], 0)
    loop(task, sizes[:2], 0)
    times: dict[str, list[tuple[float, float]]] = {"ours": [], "loop": []}
    gaps, curves = [], []
    for repeat in range(chosen.draws):
        found: list[np.ndarray] = []
        works = {"ours": ours, "loop": loop} if repeat < looped else {"ours": ours}
        for name, work in works.items():
            run = functools.partial(work, task, sizes, repeat)
            times[name].append(times_of(lambda: found.append(run())))  # noqa: B023 - called now
            print(f"draw {repeat}, {name}: {times[name][-1][0]:.1f} s", flush=True)
        curves.append(found[0])
        gaps += [float(np.abs(found[0] / other - 1).max()) for other in found[1:]]
    wall, cpu = (
        {name: float(np.mean([row[k] for row in rows])) for name, rows in times.items()}
        for k in (0, 1)
    )
    record: dict[str, Any] = {
        "bars": BARS,
        "sizes": sizes,
        "draws": chosen.draws,
        "loop_draws": looped,
        "wall_seconds_a_draw": {name: round(value, 2) for name, value in wall.items()},
        "cpu_seconds_a_draw": {name: round(value, 2) for name, value in cpu.items()},
        "ratio": round(wall["loop"] / wall["ours"], 2),
        "cpu_ratio": round(cpu["loop"] / cpu["ours"], 2),
        "difference": max(gaps),
        "mse": np.mean(curves, 0).round(6).tolist(),
    }
    print(f"ratio {record['ratio']} (CPU time {record['cpu_ratio']}), {max(gaps):.1e} apart")
    missed = ["ratio"] if record["ratio"] < BARS["ratio"] else []
    missed += ["same numbers"] if not max(gaps) < BARS["difference"] else []
    record["missed"] = missed
    save("learning_curve", record, chosen.record)
    return judged(missed, chosen.record)


if __name__ == "__main__":
    sys.exit(main())
