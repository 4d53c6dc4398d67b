"""How large every block is: the defaults in seconds, on two cores in minutes, as in the papers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from regimes.studies.regimes.foundations._ends import AcceptedSteps, Stopping
from regimes.studies.regimes.foundations._forms import (
    EarlySpeed,
    Forms,
    Neighbours,
    Parametrisation,
)
from regimes.studies.regimes.foundations._start import GaussianProcess, KernelNoise, Layers
from regimes.studies.regimes.foundations._training import MaximalUpdate, MeanField, SmallSteps

SMOKE: dict[str, Any] = {
    "forms": Forms(),
    "parametrisation": Parametrisation(),
    "early-speed": EarlySpeed(),
    "gaussian-process": GaussianProcess(),
    "kernel-noise": KernelNoise(),
    "layers": Layers(),
    "neighbours": Neighbours(),
    "maximal-update": MaximalUpdate(),
    "small-steps": SmallSteps(),
    "mean-field": MeanField(),
    "stopping": Stopping(),
    "accepted-steps": AcceptedSteps(),
}
CPU: dict[str, Any] = {
    "forms": Forms(),
    "parametrisation": Parametrisation(
        images="mnist", points=60, width=40, seed=tuple(range(4)), eps=1e-3
    ),
    "early-speed": EarlySpeed(images="mnist", points=100, width=60, seed=tuple(range(4))),
    "gaussian-process": GaussianProcess(networks=1000, width=500),
    "kernel-noise": KernelNoise(
        images="mnist", points=60, widths=(50, 100, 200, 400), seed=tuple(range(24))
    ),
    "layers": Layers(
        images="mnist", points=60, depth=4, widths=(50, 100, 200, 400, 800), seed=tuple(range(4))
    ),
    "neighbours": Neighbours(points=(200, 450, 1000, 2200, 5000), seed=tuple(range(10))),
    "maximal-update": MaximalUpdate(
        images="mnist", points=60, widths=(32, 64, 128, 256, 512), seed=tuple(range(6)), eps=1e-3
    ),
    "small-steps": SmallSteps(
        images="mnist",
        points=50,
        width=30,
        steps=(100, 200, 400, 800),
        orders=20,
        seed=tuple(range(4)),
    ),
    "mean-field": MeanField(
        images="mnist",
        points=30,
        n_test=1000,
        widths=(50, 100, 200, 400, 800),
        seed=tuple(range(16)),
        eps=1e-3,
    ),
    "stopping": Stopping(
        images="mnist", points=100, width=60, scales=(1.0, 1e3), seed=tuple(range(4)), eps=1e-3
    ),
    "accepted-steps": AcceptedSteps(
        images="mnist",
        points=50,
        width=30,
        scales=(1e-2, 1.0, 1e2, 1e4),
        eps=1e-4,
        max_steps=4000,
    ),
}
PAPER: dict[str, Any] = {
    **CPU,
    "parametrisation": replace(CPU["parametrisation"], eps=1e-4),
    "gaussian-process": replace(CPU["gaussian-process"], width=4096),
    "kernel-noise": replace(
        CPU["kernel-noise"],
        widths=(64, 128, 256, 512, 1024, 2048, 4096, 8192),
        seed=tuple(range(12)),
    ),
    "layers": replace(
        CPU["layers"], depth=5, widths=(100, 200, 400, 1000, 2000, 4000), seed=tuple(range(5))
    ),
    "maximal-update": replace(CPU["maximal-update"], widths=(32, 128, 512, 2048, 4096), eps=1e-4),
    "mean-field": replace(CPU["mean-field"], widths=(100, 1000, 10_000, 100_000), eps=1e-4),
    "stopping": replace(CPU["stopping"], eps=1e-4),
}
SIZES = {"smoke": SMOKE, "cpu": CPU, "paper": PAPER}
