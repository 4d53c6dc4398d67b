"""What is kept of runs: how members ended, how far they moved, as arrays of a trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

import regimes as rg
from regimes.lab import Array, Point
from regimes.studies._types import Dataset, Ensemble, FullyConnected, Run, Tensor


def hidden_layers(start: Ensemble, run: Run, x: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Pre-activations after and before training, (R, n, h) each, of every hidden layer."""
    net = cast("FullyConnected", start.template)
    _, before = net.layers_stacked(start.parameters, x)
    _, after = net.layers_stacked(run.parameters, x)
    return zip(after[:-1], before[:-1], strict=True)


def kernel_changes(start: Ensemble, run: Run, x: Tensor, *, seeds: int | None = None) -> np.ndarray:
    """`tangent.stacked_change` of a run; with `seeds`, of members as those of `members`, (R,)."""
    end = start.moved_to(run.parameters)
    return rg.tangent.stacked_change(start, end, x, period=seeds).cpu().numpy()


def weight_changes(start: Ensemble, run: Run) -> np.ndarray:
    """|w - w0|/|w0| over all layers of every member, (R,)."""
    import torch

    end, first = (
        torch.cat([parameters[name].flatten(1) for name in start.parameters], dim=1)
        for parameters in (run.parameters, start.parameters)
    )
    return rg.measure.relative_change(end, first).cpu().numpy()


def grid(values: Any, scales: Sequence[float], seeds: Sequence[int]) -> np.ndarray:
    """Values of the members of `members`, (R, ...), as (scale, seed, ...)."""
    found = np.asarray(values.cpu() if hasattr(values, "cpu") else values)
    return found.reshape(len(scales), len(seeds), *found.shape[1:])


def by_seed(values: Mapping[str, Any]) -> dict[str, Array]:
    """Values of every member of a trial at one scale, one per name, as arrays over its seeds."""
    return {name: Array("seed", each) for name, each in values.items()}


def by_member(point: Point, values: Mapping[str, Any]) -> dict[str, Array]:
    """Values of every member of a trial, one per name, as arrays over its scales and seeds."""
    return {
        name: Array(("scale", "seed"), grid(each, point.scale, point.seed))
        for name, each in values.items()
    }


def ensemble_errors(point: Point, run: Run, data: Dataset) -> Array:
    """Error of the mean prediction over the seeds of a trial, one for each scale."""
    outputs = run.test_predictions.view(len(point.scale), len(point.seed), -1)
    return Array(
        "scale", rg.measure.ensemble_error(outputs.transpose(0, 1), data.y_test).cpu().numpy()
    )


def ensembles_without(point: Point, run: Run, data: Dataset) -> dict[str, Array]:
    """Error of the mean prediction without each seed, for its jackknife error; all runs count."""
    outputs = grid(run.test_predictions, point.scale, point.seed)
    labels, kept = data.y_test.cpu().numpy(), np.ones(outputs.shape[:2])
    without = rg.measure.ensemble_outcomes(outputs, labels, kept, least=2).ensemble_error_without
    return {"ensemble_error_without": Array(("scale", "seed"), without)}


def outcomes(
    run: Run, data: Dataset, kept: np.ndarray, *, least: int = 3
) -> tuple[dict[str, float], dict[str, Any]]:
    """`measure.ensemble_outcomes` of a trial at one scale: of all its seeds, and of each (R,)."""
    outputs, labels = run.test_predictions[None].cpu().numpy(), data.y_test.cpu().numpy()
    found = vars(rg.measure.ensemble_outcomes(outputs, labels, kept[None], least=least))
    whole = {name: float(values[0]) for name, values in found.items() if values.ndim == 1}
    return whole, {name: values[0] for name, values in found.items() if values.ndim == 2}


def ends(point: Point, run: Run, data: Dataset) -> dict[str, Array]:
    """How the members of a trial ended, and the error of their ensembles."""
    each = {
        "error": run.test_errors,
        "fitted": run.fitted.double(),
        "unfitted": rg.measure.unfitted(run.outputs_train[..., 0], data.y_train).double(),
        "output_norm": rg.measure.output_norm(run.test_predictions),
        "steps": (run.steps + run.refused).double(),
    }
    return by_member(point, each) | {"ensemble_error": ensemble_errors(point, run, data)}
