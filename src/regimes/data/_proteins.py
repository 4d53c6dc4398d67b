"""Chains of alpha carbons: generated ones of ten architectures, and CATH domains from a file."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes._random import generator
from regimes._rotations import haar_rotations
from regimes.data._clouds import Clouds, read_clouds

_HELIX = (1.5, math.radians(100), 2.3)  # rise (Angstrom), turn and radius of a residue
_STRAND = (3.3, 0.9)  # rise, and how far it zigzags
_BOND = 3.8  # between neighbouring alpha carbons
_BETWEEN_HELICES, _BETWEEN_STRANDS = 10.0, 4.8


class _Element(NamedTuple):
    """A helix or strand: where its middle is, along what it runs, how many residues it has."""

    kind: str
    middle: Tensor
    direction: Tensor
    residues: int


class _Draw:
    """The random numbers of one chain."""

    def __init__(self, source: torch.Generator) -> None:
        self.source = source

    def between(self, low: float, high: float) -> float:
        return low + (high - low) * float(
            torch.rand((), generator=self.source, dtype=torch.float64)
        )

    def whole(self, low: int, high: int) -> int:
        return int(torch.randint(low, high + 1, (), generator=self.source))

    def helix(self) -> int:
        return self.whole(10, 18)

    def strand(self) -> int:
        return self.whole(5, 9)


def _vector(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def _bundle(draw: _Draw, helices: int) -> list[_Element]:
    """Helices side by side, up and down."""
    ring = _BETWEEN_HELICES / (2 * math.sin(math.pi / helices))
    length = draw.helix()
    found = []
    for k in range(helices):
        turn = 2 * math.pi * k / helices
        middle = _vector(ring * math.cos(turn), ring * math.sin(turn), draw.between(-2, 2))
        found.append(
            _Element("helix", middle, _vector(0, 0, (-1) ** k), length + draw.whole(-2, 2))
        )
    return found


def _crossed(draw: _Draw, helices: int) -> list[_Element]:
    """Helices in layers, each at right angles to the one below."""
    found = []
    for k in range(helices):
        sign = 1 if k % 4 < 2 else -1
        direction = _vector(sign, 0, 0) if k % 2 == 0 else _vector(0, sign, 0)
        aside = (k // 2 - (helices - 1) // 4) * _BETWEEN_HELICES
        middle = _vector(0, aside, -5) if k % 2 == 0 else _vector(aside, 0, 5)
        middle = middle + _vector(*(draw.between(-1.5, 1.5) for _ in range(3)))
        found.append(_Element("helix", middle, direction, draw.helix()))
    return found


def _sheet(draw: _Draw, strands: int, height: float = 0.0, turn: float = 0.0) -> list[_Element]:
    """Strands side by side, up and down, each twisted against the last."""
    length, found = draw.strand(), []
    for k in range(strands):
        aside = (k - (strands - 1) / 2) * _BETWEEN_STRANDS
        twist = turn - math.radians(20) * (k - (strands - 1) / 2)
        direction = _vector(math.sin(twist), math.cos(twist), 0) * (-1) ** k
        middle = _vector(aside * math.cos(turn), -aside * math.sin(turn), height)
        found.append(_Element("strand", middle, direction, length + draw.whole(-1, 1)))
    return found


def _sandwich(draw: _Draw) -> list[_Element]:
    strands = draw.whole(3, 4)
    below = _sheet(draw, strands, -5.0)
    return below + _sheet(draw, strands, 5.0, math.radians(30))


def _barrel(draw: _Draw, strands: int) -> list[_Element]:
    """Strands around a cylinder, tilted by 36 degrees."""
    tilt = math.radians(36)
    ring = _BETWEEN_STRANDS / (2 * math.sin(math.pi / strands) * math.cos(tilt))
    length, found = draw.strand(), []
    for k in range(strands):
        turn = 2 * math.pi * k / strands
        out, around = (
            _vector(math.cos(turn), math.sin(turn), 0),
            _vector(-math.sin(turn), math.cos(turn), 0),
        )
        direction = (math.sin(tilt) * around + math.cos(tilt) * _vector(0, 0, 1)) * (-1) ** k
        found.append(_Element("strand", ring * out, direction, length + draw.whole(-1, 1)))
    return found


def _layered(draw: _Draw, layers: int) -> list[_Element]:
    """A strand, a helix behind the sheet, the next strand: one layer of helices or two."""
    strands = draw.whole(4, 5)
    found: list[_Element] = []
    for k, strand in enumerate(_sheet(draw, strands)):
        forward = strand._replace(direction=strand.direction * (-1) ** k)  # all strands parallel
        found.append(forward)
        if k < strands - 1:
            height = 10.0 * (1 if layers == 1 or k < strands // 2 else -1)
            middle = strand.middle * 1.5 + _vector(0, 0, height)
            found.append(_Element("helix", middle, -forward.direction, draw.helix()))
    return found


ARCHITECTURES: dict[str, Callable[[_Draw], list[_Element]]] = {
    "up-down bundle of 3": lambda draw: _bundle(draw, 3),
    "orthogonal bundle of 3": lambda draw: _crossed(draw, 3),
    "sheet": lambda draw: _sheet(draw, draw.whole(5, 7)),
    "barrel of 6": lambda draw: _barrel(draw, 6),
    "sheet and a layer of helices": lambda draw: _layered(draw, 1),
    "up-down bundle of 5": lambda draw: _bundle(draw, 5),
    "orthogonal bundle of 5": lambda draw: _crossed(draw, 5),
    "sandwich": _sandwich,
    "barrel of 8": lambda draw: _barrel(draw, 8),
    "sheet between two layers of helices": lambda draw: _layered(draw, 2),
}


def protein_like(classes: int = 10, n: int = 100, seed: int = 0, *, noise: float = 0.5) -> Clouds:
    """Generated chains of alpha carbons, a stand-in for domains of proteins.

    Helices and strands of random lengths are laid out in ten ways (`ARCHITECTURES`), joined by
    straight connectors, shaken, centred, and turned at random.

    Args:
        classes: the first so many architectures.
        n: chains of every class.
        seed: of all draws.
        noise: standard deviation of every coordinate, in Angstrom.

    Returns:
        The chains, classes in turn, in Angstrom.

    Example:
        >>> chains = protein_like(2, 3)
        >>> len(chains), chains.labels.tolist()
        (6, [0, 1, 0, 1, 0, 1])
    """
    if positive_int("classes", classes) > len(ARCHITECTURES):
        raise ValueError(f"there are {len(ARCHITECTURES)} architectures, got classes={classes!r}")
    shake, count = real("noise", noise), positive_int("n", n)
    layouts = list(ARCHITECTURES.values())[:classes]
    chains = []
    for k in range(count):
        for label, layout in enumerate(layouts):
            source = generator(seed, f"proteins/{label}/{k}")
            trace = _trace(layout(_Draw(source)), source)
            trace = trace - trace.mean(0)
            trace = trace + shake * torch.randn(trace.shape, generator=source, dtype=torch.float64)
            chains.append(trace @ haar_rotations(1, source)[0].T)
    most = max(len(chain) for chain in chains)
    positions = torch.zeros(len(chains), most, 3, dtype=torch.float64)
    for row, chain in zip(positions, chains, strict=True):
        row[: len(chain)] = chain
    counts = torch.tensor([len(chain) for chain in chains])
    return Clouds(positions, counts, torch.arange(classes).repeat(count))


def _trace(elements: list[_Element], source: torch.Generator) -> Tensor:
    """The chain through all elements, with straight connectors between them."""
    pieces: list[Tensor] = []
    for element in elements:
        piece = _residues(element, source)
        if pieces:
            start, end = pieces[-1][-1], piece[0]
            steps = int((end - start).norm() / _BOND)
            share = torch.arange(1, steps + 1, dtype=torch.float64)[:, None] / (steps + 1)
            pieces.append(start + share * (end - start))
        pieces.append(piece)
    return torch.cat(pieces)


def _residues(element: _Element, source: torch.Generator) -> Tensor:
    k = torch.arange(element.residues, dtype=torch.float64) - (element.residues - 1) / 2
    along = element.direction / element.direction.norm()
    helper = _vector(1, 0, 0) if abs(float(along[0])) < 0.9 else _vector(0, 1, 0)
    first = torch.linalg.cross(along, helper)
    first = first / first.norm()
    second = torch.linalg.cross(along, first)
    if element.kind == "strand":
        rise, aside = _STRAND
        zigzag = aside * (-1) ** torch.arange(element.residues)
        return element.middle + rise * k[:, None] * along + zigzag[:, None] * first
    rise, turn, radius = _HELIX
    phase = turn * k + 2 * math.pi * torch.rand((), generator=source, dtype=torch.float64)
    around = phase.cos()[:, None] * first + phase.sin()[:, None] * second
    return element.middle + rise * k[:, None] * along + radius * around


def cath(path: str | Path) -> Clouds:
    """Domains of ten architectures of CATH, from the file of [Weiler 2018, sec. 5.5].

    Args:
        path: an npz file with the arrays positions (n, atoms, 3) in Angstrom, n_atoms (n,),
            labels (n,) and split_start_indices, as the authors published it.

    Returns:
        The alpha carbons, with the rows at which the ten splits begin.

    Raises:
        ValueError: if there is no such file, or it holds something else.

    Example:
        >>> domains = cath("cath_10arch.npz")  # doctest: +SKIP
    """
    arrays = read_clouds(
        path,
        "CATH domains",
        {
            "positions": "(n, atoms, 3)",
            "n_atoms": "(n,)",
            "labels": "(n,)",
            "split_start_indices": "(splits,)",
        },
    )
    return Clouds(
        torch.from_numpy(arrays["positions"]).double(),
        torch.from_numpy(arrays["n_atoms"]).long(),
        torch.from_numpy(arrays["labels"]).long(),
        splits=tuple(int(each) for each in arrays["split_start_indices"]),
    )
