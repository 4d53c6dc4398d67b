"""The ground the regimes of training stand on, block by block.

Files go by what the blocks are about: formulas and what needs no widths (`_forms`), networks at
their start (`_start`), training in small (`_training`), the steps and the end of a run (`_ends`).
Each has its trials with their parameters, its claims and its figures.
"""

from __future__ import annotations

from typing import Any

from regimes.lab import Axis, Point, TrialResult, collect_blocks, judge, study
from regimes.studies.regimes.foundations._ends_claims import claim as of_ends
from regimes.studies.regimes.foundations._ends_figures import FIGURES as ENDS
from regimes.studies.regimes.foundations._former import RENAMED, formerly
from regimes.studies.regimes.foundations._forms_claims import claim as of_forms
from regimes.studies.regimes.foundations._forms_figures import FIGURES as FORMS
from regimes.studies.regimes.foundations._sizes import BLOCKS, SIZES
from regimes.studies.regimes.foundations._start_claims import claim as of_start
from regimes.studies.regimes.foundations._start_figures import FIGURES as START
from regimes.studies.regimes.foundations._training_claims import claim as of_training
from regimes.studies.regimes.foundations._training_figures import FIGURES as TRAINING

FIGURES = {**FORMS, **START, **TRAINING, **ENDS}


@study(
    "regimes/foundations",
    version=1,
    sizes=SIZES,
    axes={block: [] if block == "forms" else [Axis("seed", stacked=True)] for block in BLOCKS},
    units={"neighbour": "sides of the torus", "stop_time": "flow time"},
    renamed=RENAMED,
)
class Foundations:
    """What the theory of lazy and feature learning takes for granted, each measured by itself.

    Two parametrisations of one model, networks of random weights as Gaussian processes, how
    kernels, gradients and speeds depend on the width, neurons as particles of a density, and the
    gradient flow itself: its steps, its end, descent as its discrete form.

    The papers: [Geiger 2020, secs. 1, 2 and 6], [Geiger 2021, secs. 1 and 4],
    [Geiger 2021b, ch. 8].
    """

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """One block, with parameters of its own class."""
        return BLOCKS[point.block].trial(params, point)

    @staticmethod
    def cost(params: Any, point: Point) -> float:
        """Those that train are long."""
        return BLOCKS[point.block].seconds

    summarise = staticmethod(collect_blocks)
    formerly = staticmethod(formerly)
    claims = judge.Claims(of_forms, of_start, of_training, of_ends)
    figures = FIGURES
