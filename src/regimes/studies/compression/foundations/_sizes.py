"""The parameters of every check: the defaults take seconds, the others minutes on two cores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from regimes.studies.compression.foundations._formulas import Balance, Drawn, Information, Nothing
from regimes.studies.compression.foundations._neurons import Divergence, Drift
from regimes.studies.compression.foundations._training import Conservation, Rotation

SMOKE: dict[str, Any] = {
    "balance": Balance(),
    "conservation": Conservation(),
    "gradient": Drawn(),
    "drift": Drift(),
    "attractors": Nothing(),
    "divergence": Divergence(),
    "kernel-split": Drawn(),
    "rotation": Rotation(),
    "information": Information(),
    "exponents": Nothing(),
}
LIMITS = (0.02, 0.01, 0.005, 0.0025)
CPU = {
    **SMOKE,
    "balance": Balance(samples=1_000_000),
    "conservation": Conservation(LIMITS, conservation_width=100, seed=tuple(range(8))),
    "drift": Drift(monte_carlo=4_000_000),
    "divergence": Divergence(ode_neurons=100),
    "rotation": Rotation(n_test=5000, rotation_end_loss=0.05),
    "information": Information(information_points=2000, seed=tuple(range(8))),
}
PAPER = {**CPU, "conservation": replace(CPU["conservation"], conservation_width=10_000)}
SIZES = {"smoke": SMOKE, "cpu": CPU, "paper": PAPER}
