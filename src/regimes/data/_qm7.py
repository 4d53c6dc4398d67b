"""QM7: small organic molecules and their energies, from a file of the user."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from regimes.data._files import DATA_VARIABLE

_KEYS = {"Z": 2, "R": 3, "E": 1}


@dataclasses.dataclass(frozen=True, eq=False)
class Molecules:
    """Molecules of at most so many atoms.

    Attributes:
        charges: (n, atoms), int64, 0 where there is no atom.
        positions: (n, atoms, 3), in Angstrom, float64.
        energies: (n,), atomisation energies in kcal/mol, float64.
    """

    charges: Tensor
    positions: Tensor
    energies: Tensor

    def __len__(self) -> int:
        """Number of molecules."""
        return len(self.charges)

    def __repr__(self) -> str:
        low, high = float(self.energies.min()), float(self.energies.max())
        return (
            f"Molecules: {len(self)} of up to {self.charges.shape[1]} atoms, energies {low:.0f} to "
            f"{high:.0f} kcal/mol"
        )


def qm7(root: str | Path | None = None) -> Molecules:
    """QM7 molecules from `<root>/qm7/qm7.npz`, root being REGIMES_DATA by default.

    The file holds `Z` (n, 23), charges; `R` (n, 23, 3), positions in Angstrom; and `E` (n,),
    atomisation energies in kcal/mol. Nothing is downloaded.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is not what is expected.

    Example:
        >>> qm7()  # doctest: +SKIP
        Molecules: 7101 of up to 23 atoms, energies -2188 to -404 kcal/mol
    """
    base = os.environ.get(DATA_VARIABLE) if root is None else root
    if not base:
        raise FileNotFoundError(
            f"QM7 is read from <folder>/qm7/qm7.npz; set {DATA_VARIABLE}=<folder>, or pass "
            "root=<folder>. It is not downloaded"
        )
    places = [Path(base).expanduser() / "qm7" / "qm7.npz", Path(base).expanduser() / "qm7.npz"]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise FileNotFoundError(
            f"there is no {places[0]}; it should be an npz file with charges Z (n, 23), positions "
            "R (n, 23, 3) and energies E (n,)"
        )
    with np.load(found, allow_pickle=False) as file:
        missing = [key for key in _KEYS if key not in file or file[key].ndim != _KEYS[key]]
        if missing:
            raise ValueError(f"{found} lacks {', '.join(missing)}, or has them in another shape")
        Z, R, E = (torch.from_numpy(np.asarray(file[key], dtype=float)) for key in _KEYS)
    if R.shape != (*Z.shape, 3) or len(E) != len(Z):
        raise ValueError(
            f"{found}: Z {tuple(Z.shape)}, R {tuple(R.shape)} and E {tuple(E.shape)} do not fit"
        )
    return Molecules(Z.long(), R, E)
