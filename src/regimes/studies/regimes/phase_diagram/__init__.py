"""The plane of width and scale: lazy, feature and jammed training (PD Fig. 4; PR25 and S15)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Array, Axis, Claim, Point, Results, TrialResult, study
from regimes.studies.regimes import _setting as setting

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

# 23 scales from 3e-4 to 3e7 and 22 widths from 20 to 1248, as the document's grid.
PAPER_AT = tuple(float(f"{3e-4 * 10 ** (k / 2):.3g}") for k in range(23))
PAPER_WIDTHS = tuple(round(20 * (1248 / 20) ** (k / 21)) for k in range(22))

QUARTERS = 4  # trials a width is split into where one would take long


@dataclass(frozen=True)
class Params:
    """Scanned: width, group (of the scales) and seed. Fixed: the rest."""

    width: tuple[int, ...] = (2, 6, 12)
    group: tuple[int, ...] = (0,)  # 0 trains all scales together; 1 to 4 a quarter of them each
    at: tuple[float, ...] = (0.1, 10.0, 1000.0)  # sqrt(h) alpha
    seed: tuple[int, ...] = (0, 1)
    images: str = "digits"
    n_train: int = 40
    n_test: int = 200
    n_kernel: int = 50  # test points on which the kernel's change is measured (A6)
    depth: int = 2
    activation: str = "softplus_5"
    eps: float = 0.1  # what a step may change the gradient by
    max_steps: int = 200


@study(
    "regimes/phase-diagram",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            width=(3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 48, 96, 192),
            at=(0.01, 0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 1e4),
            seed=tuple(range(5)),
            images="mnist",
            n_train=300,
            n_test=4000,
            n_kernel=400,
            eps=3e-3,
            max_steps=8000,
        ),
        # twelve widths (20 to 383) and scales of the document's grid, 8 of its 15 seeds, and eps
        # 1e-3 for its 1e-4: a quarter of an hour of one H200
        "paper": Params(
            width=tuple(PAPER_WIDTHS[k] for k in (0, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 15)),
            at=tuple(PAPER_AT[k] for k in (0, 2, 4, 6, 7, 8, 9, 10, 12, 14, 18, 22)),
            seed=tuple(range(8)),
            images="mnist-whole",
            n_train=5000,
            n_test=40_000,
            n_kernel=2500,
            activation="swish_10",
            eps=1e-3,
            max_steps=24_000,
        ),
    },
    axes=[Axis("width", unit="neurons"), Axis("group"), Axis("seed", stacked=True)],
    units={"error": "fraction", "ensemble_error": "fraction", "kernel_change": "1"},
    watch={"best_error": "min"},
    judges=("REG-14", "REG-39", "REG-51", "REG-52", "REG-53", "REG-54", "REG-55"),
    dtype="float64",
)
class PhaseDiagram:
    """Networks of many widths trained at many scales: where they fit, and how.

    Narrow networks cannot fit their data at any scale: they are jammed. Wider ones fit, and at
    small `sqrt(h) alpha` their tangent kernel changes by much more than itself (feature learning),
    at large `sqrt(h) alpha` hardly at all (lazy training). The two meet where the kernel changes by
    about its own norm, at one value of `sqrt(h) alpha` whatever the width.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """All scales of a group and all seeds of one width, side by side."""
        from regimes import measure

        at = scales(params, point.group)
        data = setting.task_at(point, params.images, params.n_train, params.n_test)
        start, alpha = setting.members_at(
            point, data, point.width, params.depth, at, point.seed, activation=params.activation
        )
        run = setting.train(
            start,
            data,
            alpha,
            eps=params.eps,
            max_steps=params.max_steps,
            checkpoint=point.checkpoint(),
        )
        assert run.outputs_test is not None
        outputs = run.outputs_test[..., 0].view(len(at), len(point.seed), -1)
        together = measure.ensemble_error(outputs.transpose(0, 1), data.y_test)
        short = measure.unfitted(run.outputs_train[..., 0], data.y_train)
        one_each = {
            "error": run.test_errors,
            "fitted": setting.fitted(run),
            "unfitted": short.double(),
            "steps": (run.steps + run.refused).double(),
            "kernel_change": setting.kernel_changes(
                start, run, data.x_test[: params.n_kernel], seeds=len(point.seed)
            ),
            "weight_change": setting.weight_changes(start, run),
            "output_norm": measure.output_norm(run.outputs_test[..., 0]),
        }
        arrays = {
            name: Array(("slot", "seed"), setting.grid(values, at, point.seed))
            for name, values in one_each.items()
        }
        arrays["ensemble_error"] = Array("slot", together.cpu().numpy())
        arrays["scale"] = Array("slot", list(at))
        taken = float((run.steps + run.refused).sum())
        scalars = {
            "best_error": float(together.min()),
            "member_steps": taken,
            "member_steps_per_second": taken / run.seconds,
            "parameters": sum(w[0].numel() for w in start.parameters.values()),
            "budget": params.max_steps,
            "n_train": params.n_train,
        }
        return TrialResult(scalars, arrays)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Arithmetic of a step and its overhead; narrow networks go on to their last step."""
        members = len(scales(params, point.group)) * len(point.seed)
        narrow = point.width**2 < params.n_train / 2
        steps = params.max_steps * (1.0 if narrow else 0.3)
        entries = params.n_train * point.width * (point.width + 40)
        # a step's calls take as long as so many entries of work: 1 ms of a core or of a GPU
        calls = 5e9 if point.device == "cuda" else 5e6
        return steps * (calls + members * entries) / 1e9

    @staticmethod
    def summarise(results: Results) -> xr.Dataset:
        """The groups of scales as one increasing axis `at`."""
        return merge_scales(results)

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """The diagram, and cuts through it."""
        from regimes.studies.regimes.phase_diagram import _figures as figures

        return {
            "Phase diagram of learning": figures.diagram(dataset),
            "Change of the tangent kernel": figures.kernel_map(dataset),
            "Cuts at fixed scale": figures.cuts(dataset),
        }

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """Crossover lines and the jamming line."""
        from regimes.studies.regimes.phase_diagram._claims import phase_claims

        return phase_claims(dataset)


def scales(params: Params, group: int) -> tuple[float, ...]:
    """The scales of a group; those of a quarter are spread, so that quarters take alike long."""
    if not 0 <= group <= QUARTERS:
        raise ValueError(f"group must be 0 (all scales) or 1 to {QUARTERS}, got {group}")
    return params.at if group == 0 else params.at[group - 1 :: QUARTERS]


def merge_scales(results: Results) -> xr.Dataset:
    """Collected trials with the axes `group` and `slot` as one axis `at`."""
    from regimes.lab import collect

    dataset = collect(results)
    if "scale" not in dataset:
        return dataset
    stacked = dataset.stack(at=("group", "slot")).reset_index("at").reset_coords(drop=True)
    other = [name for name in stacked.scale.dims if name != "at"]
    at = stacked.scale.max(other).values
    stacked = stacked.assign_coords(at=("at", at)).isel(at=np.flatnonzero(np.isfinite(at)))
    return stacked.sortby("at").drop_vars("scale")
