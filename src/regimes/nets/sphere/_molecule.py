"""The network of [Cohen 2018, section 5.4]: a sphere around each atom, and a sum over atoms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from regimes.nets.sphere._correlation import S2Correlation, SO3Correlation
from regimes.nets.sphere._networks import _other, seeded
from regimes.nets.sphere._points import s2_near_identity, so3_identity, so3_near_identity
from regimes.nets.sphere._pool import so3_integrate


class ResidualBlock(nn.Module):
    """Correlation, batch norm, ReLU, correlation, batch norm; plus a skip that mixes channels.

    The skip is a correlation with a filter at one point, which changes no angle.

    Args:
        c_in: channels of the input.
        c_out: channels of the output.
        b_in: bandwidth of the input.
        b_out: bandwidth of the output.
        on_sphere: whether the input lives on the sphere.
        max_beta: reach of the filters.
        seed: seed of the parameters.
    """

    def __init__(
        self,
        c_in: int,
        c_out: int,
        b_in: int,
        b_out: int,
        *,
        on_sphere: bool,
        max_beta: float,
        seed: int,
    ):
        super().__init__()
        around = 2 * b_out
        self.first: nn.Module
        self.skip: nn.Module
        if on_sphere:
            points = s2_near_identity(max_beta, around, 2)
            self.first = S2Correlation(c_in, c_out, b_in, b_out, points, seed=seed)
            pole = torch.zeros(1, 2, dtype=torch.float64)
            self.skip = S2Correlation(c_in, c_out, b_in, b_out, pole, seed=seed + 1)
        else:
            points = so3_near_identity(max_beta, around, 2, 2)
            self.first = SO3Correlation(c_in, c_out, b_in, b_out, points, seed=seed)
            self.skip = SO3Correlation(c_in, c_out, b_in, b_out, so3_identity(), seed=seed + 1)
        points = so3_near_identity(max_beta, around, 2, 2)
        self.second = SO3Correlation(c_out, c_out, b_out, b_out, points, seed=seed + 2)
        self.norms = nn.ModuleList([nn.BatchNorm3d(c_out), nn.BatchNorm3d(c_out)])

    def forward(self, x: Tensor) -> Tensor:
        """Signals on SO(3) of bandwidth b_out."""
        inside = self.norms[0](self.first(x)).relu()
        return (self.norms[1](self.second(inside)) + self.skip(x)).relu()


class SphericalMolecule(nn.Module):
    """A spherical network for each atom, whose features are summed into an energy.

    The network of an atom: residual blocks of correlations, then the integral over rotations. Its
    features pass `phi`, the atoms are added, and `psi` gives the number: invariant to the order of
    atoms, to shifts, and but for aliasing to rotations. The paper's network has bandwidths 10, 8,
    6, 4, 2, features 20 to 160, phi 160 -> 150 -> 100 and psi 100 -> 50 -> 1.

    Args:
        bandwidths: of the input and of every block.
        features: channels of the blocks.
        elements: kinds of atoms T: channels of the input.
        hidden: widths of phi, twice, and of psi.
        residual: blocks with two correlations and a skip; else one correlation with ReLU each.
        join_elements: give phi the kind of the atom beside its features.
        max_beta: reach of the filters.
        seed: seed of the parameters.

    Example:
        >>> net = SphericalMolecule((4, 4, 2), (3, 4), hidden=(8, 8, 4))
        >>> net(torch.rand(2, 7, 5, 8, 8), torch.ones(2, 7, 5)).shape
        torch.Size([2])
    """

    def __init__(
        self,
        bandwidths: Sequence[int] = (10, 10, 8, 6, 4, 2),
        features: Sequence[int] = (20, 40, 60, 80, 160),
        elements: int = 5,
        *,
        hidden: Sequence[int] = (150, 100, 50),
        residual: bool = True,
        join_elements: bool = False,
        max_beta: float = math.pi / 8,
        seed: int = 0,
    ):
        super().__init__()
        if len(bandwidths) != len(features) + 1 or len(hidden) != 3:
            raise ValueError(
                "give a bandwidth for the input and for every block, and three widths, got "
                f"{tuple(bandwidths)} for {len(features)} blocks and {tuple(hidden)}"
            )
        self.join_elements = join_elements
        self.blocks = nn.Sequential()
        for i, (c_in, c_out) in enumerate(zip((elements, *features[:-1]), features, strict=True)):
            sizes = (c_in, c_out, bandwidths[i], bandwidths[i + 1])
            drawn = _other(seed, 10 * i)
            if residual:
                self.blocks.append(
                    ResidualBlock(*sizes, on_sphere=i == 0, max_beta=max_beta, seed=drawn)
                )
            elif i == 0:
                points = s2_near_identity(max_beta, 8, 3)
                self.blocks.extend([S2Correlation(*sizes, points, seed=drawn), nn.ReLU()])
            else:
                points = so3_near_identity(max_beta, 6, 2, 6)
                self.blocks.extend([SO3Correlation(*sizes, points, seed=drawn), nn.ReLU()])
        joined = features[-1] + (elements if join_elements else 0)
        self.phi = _perceptron((joined, hidden[0], hidden[1]), seed)
        self.phi.append(nn.ReLU())
        self.psi = _perceptron((hidden[1], hidden[2], 1), seed + 1)

    def forward(self, spheres: Tensor, elements: Tensor) -> Tensor:
        """Energies (n,) of spheres (n, atoms, T, 2b, 2b) and kinds (n, atoms, T), one-hot.

        A place without an atom has no kind, and counts for nothing.
        """
        n, atoms = elements.shape[:2]
        there = elements.sum(-1) > 0
        features = so3_integrate(self.blocks(spheres[there]))
        if self.join_elements:
            features = torch.cat([features, elements[there].to(features)], 1)
        parts = self.phi(features)
        molecule = torch.arange(n, device=parts.device)[:, None].expand(n, atoms)[there]
        total = parts.new_zeros(n, parts.shape[1]).index_add(0, molecule, parts)
        return self.psi(total)[:, 0]


def _perceptron(widths: Sequence[int], seed: int) -> nn.Sequential:
    """Two linear layers with ReLU between."""
    first, second = (nn.Linear(*pair, device="meta") for pair in pairwise(widths))
    made = nn.Sequential(first, nn.ReLU(), second)
    seeded(made, seed, None)
    return made
