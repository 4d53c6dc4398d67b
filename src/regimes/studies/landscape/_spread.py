"""How trained networks that differ in their initialisation alone differ in what they say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import regimes as rg
from regimes.lab import Array
from regimes.studies._types import Dataset, Ensemble, Tensor

PROBED = 60  # points of a network from which its boundary is looked for
CLOSE = 0.05  # ratios this near to 1 count as met
GRADIENT_POINTS = 5000  # test points at which gradients by the input are taken, at most


@dataclass(frozen=True, eq=False)
class Functions:
    """Predictions of R trained networks, of each less its own at the start if there is one."""

    end: Ensemble
    start: Ensemble | None = None

    def __call__(self, x: Tensor) -> Tensor:
        """(R, n) at points (n, d), some points at a time."""
        import torch

        widest = max(p.shape[1] if p.ndim > 1 else 1 for p in self.end.parameters.values())
        chunk = max(1, 2**26 // (self.end.size * widest))
        with torch.no_grad():
            parts = [self._at(part) for part in x.split(chunk)]
        return torch.cat(parts, 1)

    def _at(self, x: Tensor, *, member_inputs: bool = False) -> Tensor:
        f = self.end(x, member_inputs=member_inputs)[..., 0]
        if self.start is not None:
            f = f - self.start(x, member_inputs=member_inputs)[..., 0]
        return f

    def gradients(self, x: Tensor) -> Tensor:
        """By the inputs, (R, n, d)."""
        found = rg.tangent.input_gradients(self.end, x)
        if self.start is not None:
            found = found - rg.tangent.input_gradients(self.start, x)
        return found

    def member(self, index: int) -> Callable[[Tensor], Tensor]:
        """One of them, as a function of points."""
        own = Functions(
            self.end.select([index]), None if self.start is None else self.start.select([index])
        )
        return lambda x: own(x)[0]


def measure(functions: Functions, data: Dataset, margin: float, group: int) -> dict[str, Array]:
    """Errors alone and together, fluctuations, norms, gradients and boundaries.

    Every number is one per network, along `seed`, but those of ensembles: of all networks, of all
    but one (for the error of the former), and of disjoint groups of `group` in the order of seeds.
    """
    train, test = functions(data.x_train), functions(data.x_test)
    short = margin - train * data.y_train > 0
    some = data.x_test[:GRADIENT_POINTS]
    slopes = functions.gradients(some)
    steep = slopes.norm(dim=-1)
    outputs = test[:, :GRADIENT_POINTS]
    boundary = rg.measure.boundary_distance(outputs, steep, center=test.mean(0)[: len(some)])
    wrong, wrong_without, wrong_groups = together(test, data.y_test, group)
    each = {
        "fitted": (~short.any(1)).double(),
        "unfitted": short.sum(1).double(),
        "train_error": (train * data.y_train <= 0).double().mean(1),
        "error": (test * data.y_test <= 0).double().mean(1),
        "square": test.double().square().mean(1),
        "apart_test": rg.measure.output_fluctuation(test).each,
        "apart_train": rg.measure.output_fluctuation(train).each,
        "steepness": steep.double().square().mean(1).sqrt(),
        "distance": boundary.typical,
        "distance_overall": boundary.overall,
        "disagreeing": boundary.disagreeing.double(),
        "flat": boundary.flat.double(),
        "ensemble_without": wrong_without,
    }
    found = {name: Array("seed", values.cpu().numpy()) for name, values in each.items()}
    met, close, missed = _probes(functions, some, outputs, slopes)
    return found | {
        "ensemble_error": Array((), wrong),
        "group_error": Array("group", wrong_groups.cpu().numpy()),
        "probe_ratio": Array("seed", met),
        "probe_close": Array("seed", close),
        "probe_missed": Array("seed", missed),
    }


def together(F: Tensor, y: Tensor, group: int) -> tuple[float, Tensor, Tensor]:
    """Error of the mean of all (R, n), of all but each (R,), and of disjoint groups."""
    total = F.sum(0)

    def error(sums: Tensor) -> Tensor:
        return (sums * y <= 0).double().mean(-1)

    count = max(1, len(F) // group)
    groups = F[: count * group].view(count, -1, F.shape[1]).sum(1)
    return float(error(total)), error(total - F), error(groups)


def _probes(
    functions: Functions, x: Tensor, outputs: Tensor, slopes: Tensor
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Median of crossing over prediction, share within 5 %, share without: each (R,).

    From the first points at which a network and the mean of all disagree, and its output is not
    flat, along its gradient; the prediction is `f/|grad f|` [Geiger 2020b, S.I. B].
    """
    middle, steep = outputs.mean(0), slopes.norm(dim=-1)
    told = np.full((3, len(outputs)), np.nan)
    for i in range(len(outputs)):
        apart = ((outputs[i] > 0) != (middle > 0)) & (steep[i] > 1e-6 * steep[i].mean())
        where = apart.nonzero()[:PROBED, 0]
        if not len(where):
            continue
        probe = rg.measure.line_probe(
            functions.member(i), x[where], slopes[i, where], outputs[i, where] / steep[i, where]
        )
        near = ((probe.ratio - 1).abs() <= CLOSE).double().mean()
        told[:, i] = probe.quartiles[1], float(near), probe.missed
    return told[0], told[1], told[2]
