"""Networks of points on e3nn: pieces, forces, broken symmetries, and what holds exactly."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies.equivariance.points import _breaking, _exact, _forces, _pieces

TASKS = ("exact", "pieces", "forces", "breaking")


@dataclass(frozen=True)
class Params:
    """Scanned: task, seed. Fixed: how long each is trained."""

    task: tuple[str, ...] = TASKS
    seed: tuple[int, ...] = (0,)
    mul: int = 2
    piece_steps: int = 5
    n_rotations: int = 2
    force_samples: tuple[int, ...] = (8, 16)
    force_steps: int = 5
    mlp_steps: int = 20
    n_test: int = 10
    breaking_steps: int = 5


@study(
    "equivariance/points",
    version=1,
    dtype="float32",
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=(0, 1, 2),
            mul=8,
            piece_steps=200,
            n_rotations=50,
            force_samples=(50, 400),
            force_steps=250,
            mlp_steps=2000,
            n_test=200,
            breaking_steps=300,
        ),
        "paper": Params(
            seed=(0, 1, 2, 3, 4),
            mul=16,
            piece_steps=200,
            n_rotations=200,
            force_samples=(50, 100, 200, 400, 1600),
            force_steps=1000,
            mlp_steps=10_000,
            n_test=1000,
            breaking_steps=1000,
        ),
    },
    axes=["task", Axis("seed")],
)
class Points:
    """Networks of points learn from one orientation, keep parity, give forces, and show asymmetry.

    Message passing with tensor products of fields of all orders and both parities. The same fields
    as on voxels; the extra `equivariant` is needed.

    The paper: [Geiger 2020c], [Geiger 2021b, sec. 5.3].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One task with one seed."""
        if point.task == "exact":
            return _exact.trial(point.seed)
        if point.task == "pieces":
            return _pieces.trial(params.mul, params.piece_steps, params.n_rotations, point.seed)
        if point.task == "forces":
            return _forces.trial(params, point.seed)
        return _breaking.trial(params.mul, params.breaking_steps, point.seed)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Forces by energy take longest."""
        return {"forces": 10.0, "breaking": 3.0}.get(point.task, 1.0)
