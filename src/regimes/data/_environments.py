"""Surroundings of amino acids: rigid random stand-ins, and real ones from a file."""

from __future__ import annotations

from pathlib import Path

import torch

from regimes._check import positive_int, real
from regimes._random import generator
from regimes.data._clouds import Clouds, read_clouds

_KINDS = 5  # C, N, O, S and the rest
_RADIUS = 9.0  # of the ball that templates fill, Angstrom


def environment_like(
    n: int = 20, classes: int = 20, seed: int = 0, *, jitter: float = 0.3, templates: int = 0
) -> Clouds:
    """Copies of rigid random templates of 12 to 20 atoms in a fixed frame, each atom shaken.

    A check of the pipeline of [Weiler 2018, sec. 5.4]; what is learned of them says nothing about
    proteins (docs/themes/equivariance.md, "Stand-ins").

    Args:
        n: copies of every template.
        classes: number of templates.
        seed: of the shaking.
        jitter: standard deviation of every coordinate, in Angstrom.
        templates: seed of the templates, which training and test sets share.

    Returns:
        The atoms, classes in turn, with five kinds.

    Example:
        >>> environment_like(2, 3).labels.tolist()
        [0, 1, 2, 0, 1, 2]
    """
    count, number = positive_int("n", n), positive_int("classes", classes)
    shake = real("jitter", jitter)
    most = 20
    positions = torch.zeros(number, most, 3, dtype=torch.float64)
    kinds = torch.zeros(number, most, dtype=torch.int64)
    counts = torch.zeros(number, dtype=torch.int64)
    for label in range(number):
        source = generator(templates, f"environments/template/{label}")
        counts[label] = int(torch.randint(12, most + 1, (), generator=source))
        away = torch.randn(most, 3, generator=source, dtype=torch.float64)
        radius = _RADIUS * torch.rand(most, 1, generator=source, dtype=torch.float64) ** (1 / 3)
        positions[label] = radius * away / away.norm(dim=1, keepdim=True)
        kinds[label] = torch.randint(0, _KINDS, (most,), generator=source)
    inside = (torch.arange(most) < counts[:, None]).double()[..., None]
    source = generator(seed, "environments/jitter")
    noise = torch.randn(count, number, most, 3, generator=source, dtype=torch.float64)
    moved = (positions + shake * noise) * inside
    return Clouds(
        moved.flatten(0, 1),
        counts.repeat(count),
        torch.arange(number).repeat(count),
        kinds.repeat(count, 1),
    )


def amino_acid_environments(path: str | Path) -> Clouds:
    """Atoms around amino acids, from a file of one's own.

    Args:
        path: an npz file with the arrays positions (n, atoms, 3) in Angstrom around the alpha
            carbon, in its frame; kinds (n, atoms) from 0; n_atoms (n,); labels (n,) from 0 to 19.

    Returns:
        The atoms with their kinds.

    Raises:
        ValueError: if there is no such file, or it holds something else.

    Example:
        >>> atoms = amino_acid_environments("environments.npz")  # doctest: +SKIP
    """
    arrays = read_clouds(
        path,
        "environments of amino acids",
        {
            "positions": "(n, atoms, 3)",
            "kinds": "(n, atoms)",
            "n_atoms": "(n,)",
            "labels": "(n,)",
        },
    )
    return Clouds(
        torch.from_numpy(arrays["positions"]).double(),
        torch.from_numpy(arrays["n_atoms"]).long(),
        torch.from_numpy(arrays["labels"]).long(),
        torch.from_numpy(arrays["kinds"]).long(),
    )
