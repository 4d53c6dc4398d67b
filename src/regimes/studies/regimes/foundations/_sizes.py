"""Every block with its trial, and how large it is: in seconds, in minutes, as in the papers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from regimes.lab import Point, TrialResult
from regimes.studies.regimes.foundations import _ends, _forms, _start, _training


@dataclass(frozen=True)
class Block:
    """What one block does, and with which parameters; the defaults of their class take seconds."""

    trial: Callable[[Any, Point], TrialResult]
    cpu: Any  # in minutes on two cores
    paper: Mapping[str, Any] = field(default_factory=dict)  # what differs from that in the papers
    seconds: float = 3.0  # of one core at the size `cpu`


BLOCKS = {
    "forms": Block(_forms.forms, _forms.Forms()),
    "parametrisation": Block(
        _forms.parametrisation,
        _forms.Parametrisation(images="mnist", points=60, width=40, seed=tuple(range(4)), eps=1e-3),
        {"eps": 1e-4},
        seconds=7.0,
    ),
    "early-speed": Block(
        _forms.early_speed,
        _forms.EarlySpeed(images="mnist", points=100, width=60, seed=tuple(range(4))),
    ),
    "gaussian-process": Block(
        _start.gaussian_process,
        _start.GaussianProcess(networks=1000, width=500),
        {"width": 4096},
    ),
    "kernel-noise": Block(
        _start.kernel_noise,
        _start.KernelNoise(
            images="mnist", points=60, widths=(50, 100, 200, 400), seed=tuple(range(24))
        ),
        {"widths": (64, 128, 256, 512, 1024, 2048, 4096, 8192), "seed": tuple(range(12))},
    ),
    "layers": Block(
        _start.layers,
        _start.Layers(
            images="mnist",
            points=60,
            depth=4,
            widths=(50, 100, 200, 400, 800),
            seed=tuple(range(4)),
        ),
        {"depth": 5, "widths": (100, 200, 400, 1000, 2000, 4000), "seed": tuple(range(5))},
    ),
    "neighbours": Block(
        _forms.neighbours,
        _forms.Neighbours(points=(200, 450, 1000, 2200, 5000), seed=tuple(range(10))),
    ),
    "maximal-update": Block(
        _training.maximal_update,
        _training.MaximalUpdate(
            images="mnist",
            points=60,
            widths=(32, 64, 128, 256, 512),
            seed=tuple(range(6)),
            eps=1e-3,
        ),
        {"widths": (32, 128, 512, 2048, 4096), "eps": 1e-4},
        seconds=120.0,
    ),
    "small-steps": Block(
        _training.small_steps,
        _training.SmallSteps(
            images="mnist",
            points=50,
            width=30,
            steps=(100, 200, 400, 800),
            orders=20,
            seed=tuple(range(4)),
        ),
        seconds=7.0,
    ),
    "mean-field": Block(
        _training.mean_field,
        _training.MeanField(
            images="mnist",
            points=30,
            n_test=1000,
            widths=(50, 100, 200, 400, 800),
            seed=tuple(range(16)),
            eps=1e-3,
        ),
        {"widths": (100, 1000, 10_000, 100_000), "eps": 1e-4},
        seconds=12.0,
    ),
    "stopping": Block(
        _ends.stopping,
        _ends.Stopping(
            images="mnist", points=100, width=60, scales=(1.0, 1e3), seed=tuple(range(4)), eps=1e-3
        ),
        {"eps": 1e-4},
        seconds=30.0,
    ),
    "accepted-steps": Block(
        _ends.accepted_steps,
        _ends.AcceptedSteps(
            images="mnist",
            points=50,
            width=30,
            scales=(1e-2, 1.0, 1e2, 1e4),
            eps=1e-4,
            max_steps=4000,
        ),
        seconds=30.0,
    ),
}
SIZES: dict[str, dict[str, Any]] = {
    "smoke": {name: type(block.cpu)() for name, block in BLOCKS.items()},
    "cpu": {name: block.cpu for name, block in BLOCKS.items()},
    "paper": {name: replace(block.cpu, **block.paper) for name, block in BLOCKS.items()},
}
