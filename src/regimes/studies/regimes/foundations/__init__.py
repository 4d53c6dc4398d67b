"""The ground the regimes of training stand on, part by part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from regimes.lab import Axis, Claim, Point, TrialResult, study
from regimes.studies._summaries import finished_parts, one_variable_each
from regimes.studies.regimes.foundations import _ends as ends
from regimes.studies.regimes.foundations import _forms as forms
from regimes.studies.regimes.foundations import _start as start
from regimes.studies.regimes.foundations import _start_figures as figures
from regimes.studies.regimes.foundations import _training as training
from regimes.studies.regimes.foundations import _training_figures as training_figures
from regimes.studies.regimes.foundations._claims import ROWS

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

    from regimes.lab import Results

PARTS: dict[str, Callable[[Any, Any], TrialResult]] = {
    "forms": forms.forms,
    "parametrisation": forms.parametrisation,
    "early-speed": forms.early_speed,
    "gaussian-process": start.gaussian_process,
    "kernel-noise": start.kernel_noise,
    "layers": start.layers,
    "neighbours": forms.neighbours,
    "maximal-update": training.maximal_update,
    "small-steps": training.small_steps,
    "mean-field": training.mean_field,
    "stopping": ends.stopping,
    "accepted-steps": ends.accepted_steps,
}
FIGURES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "FL Fig. 1: soft hinge and hinge": ("forms", figures.losses_figure),
    "One model in two parametrisations": ("parametrisation", figures.same_model_figure),
    "Early speed and output scale": ("early-speed", figures.early_figure),
    "Random networks are Gaussian": ("gaussian-process", figures.process_figure),
    "The tangent kernel averages itself": ("kernel-noise", figures.noise_figure),
    "Gradients by layer": ("layers", figures.gradients_figure),
    "FL Fig. 11: speed of the pre-activations": ("layers", figures.speeds_figure),
    "Neighbours": ("neighbours", figures.neighbours_figure),
    "How far layers move": ("maximal-update", training_figures.moved_figure),
    "Descent and flow": ("small-steps", training_figures.descent_figure),
    "Fluctuations of the mean field": ("mean-field", training_figures.density_figure),
    "Which losses stop": ("stopping", training_figures.stopping_figure),
    "What a step may change": ("accepted-steps", training_figures.steps_figure),
}
SECONDS = {  # of one core at the size `cpu`
    "maximal-update": 120.0,
    "stopping": 30.0,
    "accepted-steps": 30.0,
    "mean-field": 12.0,
    "small-steps": 7.0,
    "parametrisation": 7.0,
}


@dataclass(frozen=True)
class Params:
    """Scanned: part. Fixed: sizes of the parts that have one; eps is the gradient's tolerance."""

    part: tuple[str, ...] = tuple(PARTS)
    images: str = "digits"
    seeds: int = 2
    eps: float = 0.1
    max_steps: int = 20_000
    same_points: int = 12
    same_width: int = 8
    speed_points: int = 20
    speed_width: int = 20
    process_networks: int = 60
    process_width: int = 40
    start_points: int = 15
    noise_widths: tuple[int, ...] = (10, 20, 40)
    noise_seeds: int = 6
    layer_depth: int = 3
    layer_widths: tuple[int, ...] = (20, 40, 80)
    layer_seeds: int = 2
    torus: tuple[int, ...] = (1, 2, 4)
    torus_points: tuple[int, ...] = (100, 300, 900)
    draws: int = 3
    move_points: int = 8
    move_widths: tuple[int, ...] = (8, 16)
    move_seeds: int = 2
    move_eps: float = 0.1
    step_points: int = 12
    step_width: int = 10
    step_counts: tuple[int, ...] = (20, 40, 80)
    orders: int = 3
    field_points: int = 6
    field_widths: tuple[int, ...] = (10, 20)
    field_seeds: int = 4
    field_eps: float = 0.1
    n_test: int = 100
    stop_points: int = 8
    stop_width: int = 15
    stop_at: tuple[float, ...] = (1.0,)
    stop_eps: float = 0.1
    check_points: int = 12
    check_width: int = 10
    check_at: tuple[float, ...] = (1.0, 1e2)
    check_eps: float = 1e-2
    check_steps: int = 80


CPU = Params(
    images="mnist",
    seeds=4,
    eps=1e-3,
    same_points=60,
    same_width=40,
    speed_points=100,
    speed_width=60,
    process_networks=1000,
    process_width=500,
    start_points=60,
    noise_widths=(50, 100, 200, 400),
    noise_seeds=24,
    layer_depth=4,
    layer_widths=(50, 100, 200, 400, 800),
    layer_seeds=4,
    torus_points=(200, 450, 1000, 2200, 5000),
    draws=10,
    move_points=60,
    move_widths=(32, 64, 128, 256, 512),
    move_seeds=6,
    move_eps=1e-3,
    step_points=50,
    step_width=30,
    step_counts=(100, 200, 400, 800),
    orders=20,
    field_points=30,
    field_widths=(50, 100, 200, 400, 800),
    field_seeds=16,
    field_eps=1e-3,
    n_test=1000,
    stop_points=100,
    stop_width=60,
    stop_at=(1.0, 1e3),
    stop_eps=1e-3,
    check_points=50,
    check_width=30,
    check_at=(1e-2, 1.0, 1e2, 1e4),
    check_eps=1e-4,
    check_steps=4000,
)
PAPER = replace(
    CPU,
    eps=1e-4,
    process_width=4096,
    noise_widths=(64, 128, 256, 512, 1024, 2048, 4096, 8192),
    noise_seeds=12,
    layer_depth=5,
    layer_widths=(100, 200, 400, 1000, 2000, 4000),
    layer_seeds=5,
    move_widths=(32, 128, 512, 2048, 4096),
    move_eps=1e-4,
    field_widths=(100, 1000, 10_000, 100_000),
    field_eps=1e-4,
    stop_eps=1e-4,
)


@study(
    "regimes/foundations",
    version=1,
    sizes={"smoke": Params(), "cpu": CPU, "paper": PAPER},
    axes=[Axis("part")],
    units={"neighbour": "sides of the torus", "stop_time": "flow time"},
    judges=tuple(row.id for row in ROWS),
)
class Foundations:
    """What the theory of lazy and feature learning takes for granted, each measured by itself.

    Two parametrisations of one model, networks of random weights as Gaussian processes, how
    kernels, gradients and speeds depend on the width, neurons as particles of a density, and the
    gradient flow itself: its steps, its end, descent as its discrete form.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One part."""
        return PARTS[point.part](params, point)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Those that train are long."""
        return SECONDS.get(point.part, 3.0)

    @staticmethod
    def summarise(results: Results) -> xr.Dataset:
        """Each variable belongs to one part, so it needs no axis over all of them."""
        return one_variable_each(results, "part")

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """Those of the parts that have run."""
        done = finished_parts(dataset, "part")
        return {title: draw(dataset) for title, (part, draw) in FIGURES.items() if part in done}

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """All; those whose part has not run are undecided."""
        done = finished_parts(dataset, "part")
        return [row.claim(dataset, done) for row in ROWS]
