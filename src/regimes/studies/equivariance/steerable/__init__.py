"""Steerable convolutions on voxels: what holds exactly, and how nearly the rest."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.equivariance.steerable import _exact, _film, _turning


@dataclass(frozen=True)
class Params:
    """Scanned: seed. Fixed: orders and sides."""

    seed: tuple[int, ...] = (0,)
    max_order: int = 2  # of the null spaces
    side: int = 11  # of the fields that are turned
    ball: float = 3.0  # errors are taken within so many voxels of the middle
    smooth: float = 1.5  # standard deviation of the fields' smoothing, in voxels
    frames: int = 4
    whole_networks: bool = False  # whether all published networks are counted


@study(
    "equivariance/steerable",
    version=1,
    dtype="float64",
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=tuple(range(10)),
            max_order=4,
            side=25,
            ball=8.0,
            smooth=2.0,
            frames=24,
            whole_networks=True,
        ),
    },
    axes=[Axis("seed")],
)
class Steerable:
    """Kernels on voxels that turn with the fields: complete, counted, exact under the cube.

    Between the symmetries of the cube a sampled kernel is nearly equivariant as long as shells
    carry no angular frequencies that their few voxels cannot hold.

    The paper: [Weiler 2018, secs. 4 and 5, suppl. 1, 3 and 5].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """All identities with the random numbers of one seed."""
        found = {
            **_exact.completeness(params.max_order, point.seed),
            **_exact.layers(point.seed),
            **_exact.counts(params.whole_networks),
        }
        arrays: dict[str, Array] = {}
        default = _turning.errors(params, "default", point.seed)
        none = _turning.errors(params, "none", point.seed)
        arrays["turning_error"] = Array(("cutoff", "blocks"), [default, none])
        if point.seed == min(params.seed):
            arrays |= _film.arrows(params.frames, point.seed)
        return TrialResult(found, arrays)
