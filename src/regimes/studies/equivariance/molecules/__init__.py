"""Energies of molecules: counts of atoms, Coulomb matrices, and spheres around the atoms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies._types import Tensor
from regimes.studies.equivariance.molecules import _baselines, _spheres


@dataclass(frozen=True)
class Baselines:
    """Scanned: kernel, seed of the split. Fixed: sizes."""

    model: tuple[str, ...] = ("linear", "mlp", "rbf", "rbf_random", "laplace")
    seed: tuple[int, ...] = (0, 1)
    molecules: str = "drawn"
    n_train: int = 80
    n_test: int = 20
    mlp_steps: int = 50


@dataclass(frozen=True)
class Spherical:
    """Scanned: seed. Fixed: molecules, network and training."""

    seed: tuple[int, ...] = (0, 1)
    molecules: str = "drawn"
    n_train: int = 24
    n_test: int = 8
    mlp_steps: int = 50
    bandwidths: tuple[int, ...] = (4, 3, 2)
    features: tuple[int, ...] = (3, 4)
    hidden: tuple[int, ...] = (8, 8, 4)
    residual: bool = False
    join_elements: bool = True
    max_beta_eighths: float = 8 / 3  # reach of the filters, in units of pi/8
    epochs: int = 2
    decay_every: int = 10  # epochs
    batch: int = 8
    rate: float = 1e-3
    turned: int = 4  # molecules on which invariances are measured


@study(
    "equivariance/molecules",
    version=1,
    dtype="float32",
    sizes={
        "smoke": {"baselines": Baselines(), "spherical": Spherical()},
        "cpu": {
            "baselines": Baselines(
                seed=(0, 1, 2, 3, 4),
                molecules="qm7",
                n_train=5681,
                n_test=1420,
                mlp_steps=3000,
            ),
            "spherical": Spherical(
                seed=(0, 1, 2),
                molecules="qm7",
                n_train=1200,
                n_test=300,
                mlp_steps=3000,
                bandwidths=(6, 4, 3),
                features=(8, 16),
                hidden=(64, 64, 32),
                epochs=10,
                batch=20,
                rate=3e-3,
                turned=100,
            ),
        },
        "paper": {
            "baselines": Baselines(
                seed=(0, 1, 2, 3, 4),
                molecules="qm7",
                n_train=5681,
                n_test=1420,
                mlp_steps=20_000,
            ),
            "spherical": Spherical(
                seed=(0,),
                molecules="qm7",
                n_train=5681,
                n_test=1420,
                mlp_steps=20_000,
                bandwidths=(10, 10, 8, 6, 4, 2),
                features=(20, 40, 60, 80, 160),
                hidden=(150, 100, 50),
                residual=True,
                join_elements=False,
                max_beta_eighths=1.0,
                epochs=30,
                batch=32,
                turned=100,
            ),
        },
    },
    axes={"baselines": ["model", Axis("seed")], "spherical": [Axis("seed")]},
)
class Molecules:
    """Atomisation energies of small molecules from potentials on spheres around their atoms.

    How many atoms of each kind a molecule has gives its energy to 19 kcal/mol. A spherical network
    learns what is left from the potential of the other atoms on a sphere around each; it beats
    kernels on sorted Coulomb matrices, and a perceptron on randomly sorted ones beats it.

    The paper: [Cohen 2018, section 5.4, table 3].
    """

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """One model on one split."""
        train, test = _split(params, point.seed)
        if point.block == "baselines":
            return TrialResult(_baselines.errors(params, point, train, test))
        return TrialResult(_spheres.errors(params, point, train, test))

    @staticmethod
    def cost(params: Any, point: Point) -> float:
        """Spherical networks take longest."""
        return 10.0 if point.block == "spherical" else 1.0


def _split(params: Any, seed: int) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Charges, positions and energies for training and testing: a random split."""
    import torch

    from regimes._random import generator

    Z, R, E = _drawn() if params.molecules == "drawn" else _qm7()
    order = torch.randperm(len(Z), generator=generator(seed, "split"))
    if len(Z) < params.n_train + params.n_test:
        raise ValueError(
            f"n_train + n_test = {params.n_train + params.n_test}, but there are {len(Z)} molecules"
        )
    first, then = order[: params.n_train], order[params.n_train :][: params.n_test]
    return (Z[first], R[first], E[first]), (Z[then], R[then], E[then])


def _qm7() -> tuple[Tensor, Tensor, Tensor]:
    from regimes import data

    made = data.qm7()
    return made.charges, made.positions, made.energies


def _drawn() -> tuple[Tensor, Tensor, Tensor]:
    """Atoms at random with a pair energy: what there is where QM7 is not at hand."""
    import torch

    from regimes import data
    from regimes._random import generator

    draws = generator(0, "molecules")
    Z = torch.tensor(data.ELEMENTS)[torch.randint(5, (100, 6), generator=draws)]
    R = 2 * torch.randn(100, 6, 3, generator=draws, dtype=torch.float64)
    energy = -data.coulomb_matrix(Z, R + 1.5 * torch.arange(6)[:, None], "raw").sum((1, 2))
    return Z, R, energy
