"""Fields on homogeneous spaces: what the general theory says, group by group."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies.equivariance.groups import _architectures, _compact, _finite, _pictures


@dataclass(frozen=True)
class Params:
    """Scanned: seed. Fixed: the largest order in space, the icosahedron, the architectures."""

    seed: tuple[int, ...] = (0,)
    max_order: int = 2  # of the fields in space
    max_spin: int = 2  # of the fields on the sphere
    latitudes: int = 5  # between the poles
    icosahedron: bool = False  # whether its 60 rotations are among the groups
    torus: int = 4  # side of the torus of shifts and quarter turns
    precisions: tuple[str, ...] = ("float64",)  # of the architectures


@study(
    "equivariance/groups",
    version=1,
    dtype="float64",
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=(0, 1, 2, 3, 4),
            max_order=4,
            max_spin=3,
            latitudes=25,
            icosahedron=True,
            torus=8,
            precisions=("float32", "float64"),
        ),
    },
    axes=[Axis("seed")],
)
class Groups:
    """Equivariant linear maps between fields are correlations; their kernels can be counted.

    Finite groups, where every statement is one about matrices; the sphere and space, where a
    stabiliser says what a kernel may be; and the published architectures, each a group, a
    subgroup and a representation, built and tried.

    The paper: [Cohen 2019].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """All identities, with the sections, kernels, fields and rotations of one seed."""
        numbers = {
            **_finite.tensors(point.seed),
            **_finite.sections(params.icosahedron, point.seed),
            **_finite.pictures(point.seed),
            **_finite.twists(params.torus, point.seed),
            **_finite.nonlinearity(point.seed),
            **_compact.sphere(params.max_spin, params.latitudes, point.seed),
            **_compact.space(params.max_order, point.seed),
        }
        arrays = {
            **_finite.kernel_spaces(params.icosahedron),
            **_architectures.errors(params.precisions, point.seed),
        }
        if point.seed == min(params.seed):
            arrays |= _finite.table() | _pictures.arrows()
        return TrialResult(numbers, arrays)
