"""Networks of one width trained to their end, and what is measured of them."""

from __future__ import annotations

import numpy as np

import regimes as rg
from regimes.lab import Array, Point, TrialResult
from regimes.studies._types import Dataset, Ensemble, NetworkSnapshot, Tensor
from regimes.studies.landscape import _networks, _replayed, _spread, _tasks, _training
from regimes.studies.landscape.double_descent._sizes import Scan

MARGIN = 1.0
PER_DECADE, EVERY = (
    20,
    1000,
)  # looks at the test points: so many a decade of steps, and every so many
THIRDS = (20, 4, 1)  # parts of the steps after which the norm is read


def marks(steps: int) -> np.ndarray:
    """Steps at which courses are kept: ten in a decade, of two digits, and the last.

    >>> marks(3000)[-6:].tolist()
    [1000, 1300, 1600, 2000, 2500, 3000]
    """
    digits = (10, 13, 16, 20, 25, 32, 40, 50, 63, 79)
    found = np.array([digit * 10**k for k in range(12) for digit in digits])
    return np.append(found[found < steps], steps)


def rate_at(params: Scan, width: int) -> float:
    """The learning rate: a constant, or at most a constant times h^-1.5 [Geiger 2020b, S.I. A]."""
    return min(params.rate, params.scaled * width**-1.5) if params.scaled else params.rate


def trial(params: Scan, point: Point) -> TrialResult:
    """All seeds of one width, side by side."""
    data = _tasks.parity_task(
        params.images,
        params.n_train,
        params.n_test,
        params.draw,
        dtype=point.dtype,
        device=point.device,
    )
    start = _networks.networks(
        data.in_shape[0],
        point.width,
        params.depth,
        list(point.seed),
        dtype=point.dtype,
        device=point.device,
    )
    end, steps, looks = _train(params, point, data, start)
    kept = marks(params.steps)
    courses = np.stack([_at_marks(*look, kept) for look in looks])  # (seed, mark, 2)
    each = {
        "steps": steps.astype(float),
        "early_error": [float(values[:, 0].min()) for _, values in looks],
    }
    functions = _spread.Functions(end, start if params.subtract_init else None)
    measured = _spread.measure(functions, data, MARGIN, params.group)
    arrays = {name: Array("seed", values) for name, values in each.items()} | measured
    thirds = [int(np.abs(kept - params.steps / k).argmin()) for k in THIRDS]
    arrays |= {
        "third": Array("third", kept[thirds].astype(float)),
        "square_course": Array(("seed", "third"), courses[:, thirds, 1]),
        "mark": Array("mark", kept.astype(float)),
        "course_error": Array("mark", courses[..., 0].mean(0)),
        "course_square": Array("mark", np.median(courses[..., 1], axis=0)),
    }
    weights = _networks.weights_of(data.in_shape[0], point.width, params.depth)
    best = float(arrays["ensemble_error"].values)
    del arrays["ensemble_error"]
    return TrialResult(
        {
            "parameters": weights,
            "n_train": params.n_train,
            "rate": rate_at(params, point.width),
            "ensemble_error": best,
        },
        arrays,
    )


Look = tuple[np.ndarray, np.ndarray]  # steps (k,), and error and mean square then, (k, 2)


def _train(
    params: Scan, point: Point, data: Dataset, start: Ensemble
) -> tuple[Ensemble, np.ndarray, list[Look]]:
    """The networks at the end, their steps, and what was seen of each on the test points."""
    rate = rate_at(params, point.width)
    if params.replayed:
        first = _spread.Functions(start)(data.x_test) if params.subtract_init else None

        def look(networks: Ensemble, members: np.ndarray) -> Tensor:
            outputs = _spread.Functions(networks)(data.x_test)
            own = outputs if first is None else outputs - first[members]
            return _errors_and_squares(own, data.y_test)

        taken = _replayed.adam(
            start,
            data,
            rate=rate,
            margin=MARGIN,
            marks=looks_of(params.steps),
            look=look,
            subtract_init=params.subtract_init,
            checkpoint=point.checkpoint(),
        )
        return start.moved_to(taken.parameters), taken.steps, taken.looks
    when = rg.flow.AnyOf((rg.flow.LogTimes(PER_DECADE), rg.flow.EverySteps(EVERY)))
    run = _training.adam(
        start,
        data,
        steps=params.steps,
        rate=rate,
        margin=MARGIN,
        check_every=params.look,
        subtract_init=params.subtract_init,
        observe={"test": rg.flow.Observer(_on_test_points, when)},
        checkpoint=point.checkpoint(),
    )
    seen = run.recordings["test"]
    pairs = zip(seen.times, seen.values, strict=True)
    looks = [(np.round(times.numpy() / rate), values.numpy()) for times, values in pairs]
    return start.moved_to(run.parameters), run.steps.numpy(), looks


def looks_of(steps: int) -> list[int]:
    """When replayed runs are looked at: twenty times in a decade, and every thousand steps.

    >>> looks_of(40)[:8], len(looks_of(100_000))
    ([1, 2, 3, 4, 5, 6, 7, 8], 187)
    """
    logs = 10.0 ** (np.arange(20 * 12) / PER_DECADE)
    found = np.unique([*np.round(logs[logs < steps]), *range(EVERY, steps, EVERY), steps])
    return [int(step) for step in found]


def _on_test_points(seen: NetworkSnapshot) -> Tensor:
    """Error and mean square of the output on the test points, (m, 2)."""
    return _errors_and_squares(seen.predict_test()[..., 0], seen.members.test.y)


def _errors_and_squares(outputs: Tensor, y: Tensor) -> Tensor:
    import torch

    wrong = (outputs * y <= 0).double().mean(1)
    return torch.stack([wrong, outputs.double().square().mean(1)], 1)


def _at_marks(steps: np.ndarray, values: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The last values seen up to each mark; a run that ended keeps its last."""
    last = np.searchsorted(steps, kept, side="right") - 1
    return values[np.maximum(last, 0)]


def cost(params: Scan, point: Point) -> float:
    """Arithmetic of the steps; networks of more than twice N* fit early."""
    weights = _networks.weights_of(10, point.width, params.depth)
    fits = weights > 0.4 * params.n_train
    steps = min(params.steps, 3000) if fits else params.steps
    return float(steps * len(point.seed) * (1e6 + 6.0 * params.n_train * weights))
