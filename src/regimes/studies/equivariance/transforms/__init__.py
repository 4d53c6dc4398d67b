"""Symmetry as an identity: shifts, dihedral groups, transforms and correlations on the sphere."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.equivariance.transforms import _cost, _exact, _lattice, _samples, _sphere


@dataclass(frozen=True)
class Params:
    """Scanned: seed. Fixed: bandwidths, sizes and groups."""

    seed: tuple[int, ...] = (0, 1)
    s2_b: tuple[int, ...] = (2, 4)  # of the round trips
    so3_b: tuple[int, ...] = (2, 4)
    theorem_b: int = 3
    theorem_rotations: int = 3
    cost_b: tuple[int, ...] = (2, 3)
    cost_rotations: int = 64  # timed at most; the rest is taken to last as long
    d: int = 4  # of the points of the kernel machines
    groups: tuple[int, ...] = (2,)
    n_train: tuple[int, ...] = (20, 40, 80)
    n_test: int = 200
    shape_b: int = 8  # of a shape seen from a sphere
    whole_network: bool = False  # whether the published network of shapes is counted


@study(
    "equivariance/transforms",
    version=1,
    dtype="float64",
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=(0, 1, 2, 3, 4),
            s2_b=(4, 8, 16, 30),
            so3_b=(4, 8, 16, 30),
            theorem_b=6,
            theorem_rotations=20,
            cost_b=(3, 4, 5),
            cost_rotations=1000,
            d=8,
            groups=(2, 4, 8),
            n_train=(50, 100, 200, 400, 800, 1600, 3200),
            n_test=1000,
            shape_b=128,
            whole_network=True,
        ),
        "paper": Params(
            seed=(0, 1, 2, 3, 4),
            s2_b=(4, 8, 16, 30, 64, 128),
            so3_b=(4, 8, 16, 30, 64),
            theorem_b=16,
            theorem_rotations=20,
            cost_b=(3, 4, 5, 10, 20, 30),
            cost_rotations=1000,
            d=12,
            groups=(2, 4, 12),
            n_train=(100, 200, 400, 800, 1600, 3200, 6400, 12800, 20000),
            n_test=2000,
            shape_b=128,
            whole_network=True,
        ),
    },
    axes=[Axis("seed")],
)
class Transforms:
    """What symmetry gives exactly: layers that commute with it, transforms that turn into products.

    Convolutions commute with shifts and, over a dihedral group, with turns and mirrors. Signals on
    the sphere and on SO(3) survive the way to their coefficients and back; a correlation is a
    product there, and takes far less work than the integral it is. An invariant kernel learns from
    as many points as the plain one has copies.

    The papers: [Cohen 2018, sections 3 and 4, appendices B and D], [Geiger 2021b, section 0.5.2].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """All identities with the random numbers of one seed."""
        found = {
            **_lattice.shifts(point.seed),
            **_lattice.dihedral(point.seed),
            **_sphere.theorem(params.theorem_b, params.theorem_rotations, point.seed),
            **_sphere.columns(params.theorem_b, point.seed),
            **_sphere.zonal(params.theorem_b, point.seed),
            **_exact.molecules(point.seed),
            **_exact.hand_made_lists(),
            **_exact.shapes(params.shape_b, params.whole_network),
        }
        arrays: dict[str, Array] = {
            **_sphere.round_trips(params.s2_b, params.so3_b, point.seed),
            **_cost.seconds(params.cost_b, params.cost_rotations, point.seed),
            **_samples.curves(params, point.seed),
        }
        if point.seed == min(params.seed):
            arrays |= _sphere.pictures()
        return TrialResult(found, arrays)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Every seed takes as long."""
        return float(max(params.n_train))
