"""The published equivariant architectures, each a group, a subgroup and a representation."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regimes._groups import induced, polyhedral_group, representation
from regimes._random import generator
from regimes._rotations import haar_rotations, zyz_angles
from regimes.nets import lattice, points, sphere, voxels

Action = Callable[[Tensor, Any], Tensor]


@dataclass(frozen=True, eq=False)
class EquivariantExample:
    """A small network with all that `measure.assert_equivariant` asks for.

    Attributes:
        network: from a batch of inputs to outputs.
        samples: inputs (n, ...), one for each element.
        elements: n group elements.
        act_in: what an element does to inputs.
        act_out: what it does to outputs.
    """

    network: Callable[[Tensor], Tensor]
    samples: Tensor
    elements: Sequence[Any]
    act_in: Action
    act_out: Action


Make = Callable[[int, torch.dtype], EquivariantExample]


@dataclass(frozen=True, eq=False)
class Architecture:
    """A row of [Cohen 2019, table 1].

    Attributes:
        group: G, what the network commutes with.
        subgroup: H, what keeps a point and turns the fibre.
        space: G/H, where fields live.
        representation: rho, how fields turn.
        references: who described such networks, as the table names them.
        constructors: what builds them here, names in `regimes.nets`; none where nothing can.
        note: what is to be said beside.
    """

    group: str
    subgroup: str
    space: str
    representation: str
    references: tuple[str, ...]
    constructors: tuple[str, ...]
    note: str
    _made: Mapping[str, Make]

    @property
    def cases(self) -> tuple[str, ...]:
        """Names of its examples."""
        return tuple(self._made)

    def example(
        self, case: str, *, seed: int = 0, dtype: torch.dtype = torch.float64
    ) -> EquivariantExample:
        """A small network of this kind with inputs and group elements to try it with.

        Args:
            case: one of `cases`.
            seed: of weights, inputs and elements.
            dtype: float32 or float64.

        Raises:
            ValueError: for an unknown case.
            ImportError: for networks of points without e3nn.
        """
        if case not in self._made:
            known = ", ".join(self._made) or "none"
            raise ValueError(f"unknown case {case!r} of {self}; it has: {known}")
        if dtype not in (torch.float32, torch.float64):
            raise ValueError(f"dtype must be torch.float32 or torch.float64, got {dtype!r}")
        return self._made[case](seed, dtype)

    def __str__(self) -> str:
        return f"({self.group}; {self.subgroup}; {self.representation})"

    def __repr__(self) -> str:
        built = ", ".join(self.constructors) or "nothing"
        return f"Architecture{self}: built by {built}"


def taxonomy() -> tuple[Architecture, ...]:
    """The classification of equivariant networks of [Cohen 2019, table 1], with what builds them.

    Rows that differ in their references alone are one here. Every row is a group G, a subgroup H
    and a representation rho of H, and every one with a compact H has constructors in `regimes.nets`
    and examples, which `measure.assert_equivariant` takes.

    Returns:
        16 rows.

    Example:
        >>> rows = taxonomy()
        >>> rows[3]
        Architecture(p6, p6m; C6, D6; regular): built by lattice.LatticeConv
        >>> from regimes import measure
        >>> given = rows[3].example("p6")
        >>> measure.assert_equivariant(
        ...     given.network, given.samples, given.elements, given.act_in, given.act_out
        ... )
    """
    return _ROWS


# -- what the examples are made of ----------------------------------------------------------------


def _noise(*shape: int, seed: int, dtype: torch.dtype) -> Tensor:
    draws = generator(seed, "nets/taxonomy")
    return torch.randn(*shape, generator=draws, dtype=torch.float64).to(dtype)


def _image_cnn(seed: int, dtype: torch.dtype) -> EquivariantExample:
    """Torch's own convolution on a torus, moved along it."""
    conv = torch.nn.utils.skip_init(
        nn.Conv2d, 2, 3, 3, padding=1, padding_mode="circular", dtype=dtype
    )
    with torch.no_grad():
        for part in conv.parameters():
            part.copy_(_noise(*part.shape, seed=seed, dtype=dtype))

    def roll(x: Tensor, shift: tuple[int, int]) -> Tensor:
        return x.roll(shift, (2, 3))

    shifts = [(1, 0), (0, 1), (3, 5)]
    return EquivariantExample(
        conv, _noise(3, 2, 7, 7, seed=seed + 1, dtype=dtype), shifts, roll, roll
    )


def _lattice(
    name: str, kinds: Sequence[str | int], seed: int, dtype: torch.dtype
) -> EquivariantExample:
    """Convolutions on a torus of 5 or 7 points a side, with ReLU between where it commutes."""
    fields = [lattice.LatticeFields.of(name, kind) for kind in kinds]
    net = nn.Sequential()
    for number, (given, out) in enumerate(itertools.pairwise(fields)):
        net.append(lattice.LatticeConv(given, out, padding="wrap", seed=seed + number, dtype=dtype))
        if out.representation.is_permutation and number + 2 < len(fields):
            net.append(lattice.PermutedRelu(out))
    axes, order = fields[0].axes, len(fields[0].representation.group)
    side = 7 if axes == 2 else 5
    draws = generator(seed, "nets/taxonomy/elements")
    picked = range(order) if order <= 12 else torch.randperm(order, generator=draws)[:8].tolist()
    elements = [
        (element, tuple(torch.randint(side, (axes,), generator=draws).tolist()))
        for element in picked
    ]

    def act(these: lattice.LatticeFields) -> Action:
        return lambda x, g: these.act(x, g[0], g[1], wrap=True)

    inputs = _noise(len(elements), fields[0].dim, *[side] * axes, seed=seed, dtype=dtype)
    return EquivariantExample(net, inputs, elements, act(fields[0]), act(fields[-1]))


def _planar(group: str, kinds: Sequence[Any], seed: int, dtype: torch.dtype) -> EquivariantExample:
    """Convolutions on pixels, with those elements of the group that permute them."""
    fields = [lattice.PlanarFields(group, kind, 2) for kind in kinds]
    net = nn.Sequential()
    for number, (given, out) in enumerate(itertools.pairwise(fields)):
        net.append(lattice.PlanarConv(given, out, 5, seed=seed + number, dtype=dtype))
        if out.kind == "regular" and number + 2 < len(fields):
            net.append(nn.ReLU())
    quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
    elements = [np.linalg.matrix_power(quarter, k) for k in (1, 2, 3)]
    if group[0] in "DO":
        elements += [R @ np.diag([1.0, -1.0]) for R in elements]
    inputs = _noise(len(elements), fields[0].dim, 9, 9, seed=seed, dtype=dtype)
    return EquivariantExample(net, inputs, elements, fields[0].act, fields[-1].act)


def _voxels(seed: int, dtype: torch.dtype) -> EquivariantExample:
    draws = generator(seed, "nets/taxonomy/weights")
    one = voxels.SteerableConv3d((1, 1), (2, 1, 1), 3, padding=1).to(dtype)
    two = voxels.SteerableConv3d((2, 1, 1), (1, 1), 3, padding=1).to(dtype)
    for conv in (one, two):
        conv.draw_parameters(draws)
    turns = voxels.cube_symmetries()[[3, 8, 17, 23]]
    inputs = _noise(4, one.type_in.dim, 5, 5, 5, seed=seed, dtype=dtype)
    return EquivariantExample(
        nn.Sequential(one, two), inputs, list(turns), one.type_in.transform, two.type_out.transform
    )


def _points(layer: str, seed: int, dtype: torch.dtype) -> EquivariantExample:
    """Clouds with fields, (n, points, 3 + fields), under rotations and shifts."""
    irreps = voxels.FieldType.of("2x0e + 1x1e + 1x2e")
    layers: dict[str, Any] = {
        "conv": points.PointConvolution,
        "attention": points.EquivariantAttention,
    }
    net = layers[layer](irreps.irreps, irreps.irreps, radius=2.5, seed=seed, dtype=dtype)
    turns = haar_rotations(4, generator(seed, "nets/taxonomy/rotations"))

    def network(x: Tensor) -> Tensor:
        return net(x[..., 3:], x[..., :3])

    def turned(x: Tensor, R: Tensor) -> Tensor:
        return x @ irreps.matrix(R).to(x).mT

    def moved(x: Tensor, R: Tensor) -> Tensor:
        at = x[..., :3] @ R.to(x).mT + torch.tensor([1.0, -2.0, 0.5], dtype=x.dtype)
        return torch.cat([at, turned(x[..., 3:], R)], -1)

    inputs = _noise(4, 6, 3 + irreps.dim, seed=seed, dtype=dtype)
    return EquivariantExample(network, inputs, list(turns), moved, turned)


_BAND = 4  # of the spheres


def _on_sphere(seed: int, dtype: torch.dtype) -> tuple[Tensor, list[Tensor]]:
    turns = haar_rotations(3, generator(seed, "nets/taxonomy/rotations"))
    return _noise(3, 2, 2 * _BAND, 2 * _BAND, seed=seed, dtype=dtype), list(turns)


def _correlations(seed: int, dtype: torch.dtype) -> EquivariantExample:
    inputs, turns = _on_sphere(seed, dtype)
    net = nn.Sequential(
        sphere.S2Correlation(2, 3, _BAND, _BAND, seed=seed, dtype=dtype),
        sphere.SO3Correlation(3, 2, _BAND, 3, seed=seed, dtype=dtype),
    )
    return EquivariantExample(net, inputs, turns, sphere.rotate_s2, sphere.rotate_so3)


def _zonal(seed: int, dtype: torch.dtype) -> EquivariantExample:
    inputs, turns = _on_sphere(seed, dtype)
    filters = _noise(2, 2 * _BAND, 2 * _BAND, seed=seed + 1, dtype=dtype)

    def network(x: Tensor) -> Tensor:
        return sphere.dh_convolution(x, filters)

    return EquivariantExample(network, inputs, turns, sphere.rotate_s2, sphere.rotate_s2)


def _spins(seed: int, dtype: torch.dtype) -> EquivariantExample:
    """From functions and tangent vectors to vectors; real and imaginary parts side by side."""
    spins_in, spins_out = (0, 1), (1, 2)
    complex_type = torch.complex128 if dtype == torch.float64 else torch.complex64
    layer = sphere.SpinSphericalCorrelation(
        spins_in, spins_out, _BAND, seed=seed, dtype=complex_type
    )
    turns = list(haar_rotations(3, generator(seed, "nets/taxonomy/rotations")))

    def network(x: Tensor) -> Tensor:
        return torch.view_as_real(layer(torch.view_as_complex(x)))

    def turned(spins: tuple[int, ...]) -> Action:
        def act(x: Tensor, R: Tensor) -> Tensor:
            f = torch.view_as_complex(x.contiguous())
            parts = [
                sphere.spin_ifft(
                    sphere.rotate(sphere.spin_fft(f[:, i], n), *zyz_angles(R)), n, _BAND
                )
                for i, n in enumerate(spins)
            ]
            return torch.view_as_real(torch.stack(parts, 1))

        return act

    inputs = _noise(3, len(spins_in), 2 * _BAND, 2 * _BAND, 2, seed=seed, dtype=dtype)
    return EquivariantExample(network, inputs, turns, turned(spins_in), turned(spins_out))


def _solid(seed: int, dtype: torch.dtype) -> EquivariantExample:
    """Numbers on a cube's faces to numbers on its corners, and on to its edges."""
    O = polyhedral_group("cube")
    spaces = []
    for point in ([0, 0, 1], [1, 1, 1], [1, 1, 0]):
        H = O.stabiliser(point)
        spaces.append(induced(O, H, representation(H, "trivial")))
    net = nn.Sequential(
        lattice.EquivariantLinear(spaces[0], spaces[1], 2, 3, seed=seed, dtype=dtype),
        nn.Tanh(),  # any function of one number does; this one leaves no sample without an answer
        lattice.EquivariantLinear(spaces[1], spaces[2], 3, 2, seed=seed + 1, dtype=dtype),
    )

    def act(pi: Any) -> Action:
        return lambda x, g: x @ torch.from_numpy(pi.matrices[g]).to(x).mT

    inputs = _noise(24, 2, 6, seed=seed, dtype=dtype)
    return EquivariantExample(net, inputs, range(24), act(spaces[0]), act(spaces[2]))


def _of(make: Callable, *args: Any) -> Make:
    return functools.partial(make, *args)


def _lattices(names: str, *kinds: str) -> dict[str, Make]:
    return {name: _of(_lattice, name, kinds) for name in names.split()}


_SAME = ("trivial", "regular", "regular")
_ONCE = ("trivial", "regular", "trivial")  # groups of many elements
_TABLE: list[tuple[str, str, str, str, str, list[str], str, dict[str, Make]]] = [
    (
        "Z^2", "{1}", "Z^2", "regular", "Lecun 1990", ["torch's nn.Conv2d"], "",
        {"torus": _image_cnn},
    ),
    (
        "p4, p4m", "C4, D4", "Z^2", "regular", "Cohen 2016; Dieleman 2016",
        ["lattice.LatticeConv"], "", _lattices("p4 p4m", *_SAME),
    ),
    (
        "p4, p4m", "C4, D4", "Z^2", "irrep & regular", "Cohen 2017",
        ["lattice.LatticeConv"], "",
        _lattices("p4 p4m", "sign+regular", "vector+trivial", "regular+vector"),
    ),
    (
        "p6, p6m", "C6, D6", "Z^2 (hexagonal)", "regular", "Hoogeboom 2018",
        ["lattice.LatticeConv"], "", _lattices("p6 p6m", *_SAME),
    ),
    (
        "Z^3 x H", "D4, D4h, O, Oh", "Z^3", "regular", "Winkels 2018",
        ["lattice.LatticeConv"], "",
        {**_lattices("D4", *_SAME), **_lattices("D4h O Oh", *_ONCE)},
    ),
    (
        "Z^3 x H", "V, T4, O", "Z^3", "regular", "Worrall 2018",
        ["lattice.LatticeConv"], "T4 is the tetrahedron's T",
        {**_lattices("V T", *_SAME), **_lattices("O", *_ONCE)},
    ),
    (
        "R^2 x C_N", "C_N", "R^2", "regular", "Weiler 2017; Zhou 2017; Bekkers 2018",
        ["lattice.PlanarConv"], "exact on pixels for quarter turns",
        {"C8": _of(_planar, "C8", (0, "regular", "regular"))},
    ),
    (
        "R^2 x C_N", "C_N", "R^2", "irrep & regular", "Marcos 2017",
        ["lattice.PlanarConv"], "exact on pixels for quarter turns",
        {"C8": _of(_planar, "C8", (0, "regular", (0, 1, 2)))},
    ),
    (
        "SE(2)", "SO(2)", "R^2", "irrep", "Worrall 2017",
        ["lattice.PlanarConv"], "exact on pixels for quarter turns",
        {"SO(2)": _of(_planar, "SO(2)", (0, (0, 1, 2), (1, 3)))},
    ),
    (
        "R^2 x H, H in O(2)", "O(2), SO(2), C_N, D_N", "R^2", "any", "Weiler 2019",
        ["lattice.PlanarConv"], "exact on pixels for quarter turns",
        {
            "O(2)": _of(_planar, "O(2)", (0, (0, 1, 2), (1, 3))),
            "SO(2)": _of(_planar, "SO(2)", ((1, 2), (0, 1))),
            "C4": _of(_planar, "C4", (1, "regular", "regular")),
            "D4": _of(_planar, "D4", (0, "regular", 1)),
        },
    ),
    (
        "R^2 x (R+, *)", "(R+, *)", "R^2", "regular & trivial; regular",
        "Ghosh 2019; Worrall 2019; Sosnovik 2019", [],
        "changes of scale are no compact group: nothing can be exact on a finite grid", {},
    ),
    (
        "SE(3)", "SO(3)", "R^3", "irrep; irrep & regular",
        "Kondor 2018a; Weiler 2018; Kondor 2018b; Anderson 2019; Thomas 2018",
        ["voxels.SteerableConv3d", "points.PointConvolution", "points.EquivariantAttention"],
        "Clebsch-Gordan nets (Kondor 2018b) act on the sphere",
        {
            "voxels": _voxels,
            "points": _of(_points, "conv"),
            "attention": _of(_points, "attention"),
        },
    ),
    (
        "SO(3)", "SO(2)", "S^2", "regular", "Cohen 2018",
        ["sphere.S2Correlation", "sphere.SO3Correlation"], "", {"sphere": _correlations},
    ),
    (
        "SO(3)", "SO(2)", "S^2", "trivial", "Esteves 2018; Perraudin 2018",
        ["sphere.dh_convolution"], "", {"sphere": _zonal},
    ),
    (
        "SO(3)", "SO(2)", "S^2", "irrep", "Jiang 2019",
        ["sphere.SpinSphericalCorrelation"], "", {"sphere": _spins},
    ),
    (
        "G", "H", "G/H", "trivial", "Kondor 2018c",
        ["lattice.EquivariantLinear"], "any finite group", {"cube": _solid},
    ),
]  # fmt: skip
_ROWS = tuple(
    Architecture(group, subgroup, space, rho, tuple(who.split("; ")), tuple(built), note, made)
    for group, subgroup, space, rho, who, built, note, made in _TABLE
)
