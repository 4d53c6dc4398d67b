"""Kernels that do not move: the lazy limit of a network, and what its trained kernel knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from regimes.lab import Array, Axis, Claim, Point, TrialResult, study
from regimes.studies.regimes import _cases, _setting
from regimes.studies.regimes.frozen_kernels import _claims as _frozen_claims
from regimes.studies.regimes.frozen_kernels import _figures as _frozen_figures
from regimes.studies.regimes.frozen_kernels import _trial as _frozen_trial

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

    from regimes.lab import Results

WIDTHS = (10, 14, 19, 27, 37, 52, 72, 100, 139, 193, 268, 373, 518, 720, 1000, 1390)


@dataclass(frozen=True)
class Params:
    """Scanned: case, and seeds trained side by side. Fixed: the rest, unless a case says so."""

    case: tuple[str, ...] = (
        *_cases.cases("limit", L=2, P=10, h=8, at=(1e2, 1e4)),
        *_cases.cases("span", L=2, P=6, h=8, at=(1e1, 1e3)),
        *_cases.cases("learned", L=2, P=12, h=8, at=(1.0, 1e3)),
        *_cases.cases("widths", L=2, P=12, h=(4, 8), alpha=1.0),
        *_cases.cases("widths", net="cnn", images="digits", pca=0, P=8, h=4, alpha=1.0),
    )
    seed: tuple[int, ...] = (0, 1)
    images: str = "digits"
    components: int = _setting.COMPONENTS  # 0 keeps the pixels
    n_test: int = 100
    n_kernel: int = 40  # test points on which kernels are compared
    n_shown: int = 20  # of these, those in the picture of a kernel
    eps: float = 1e-1  # what a step may change the gradient by
    max_steps: int = 40


@study(
    "regimes/frozen-kernels",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            case=(
                *_cases.cases("limit", L=2, P=80, h=60, at=(1e2, 1e3, 1e4, 1e5, 1e6)),
                *_cases.cases("span", L=2, P=40, h=60, at=(1e1, 1e2, 1e3, 1e4)),
                *_cases.cases("learned", L=3, P=200, h=60, at=(1e-2, 0.1, 1.0, 1e3, 1e4)),
                *_cases.cases("widths", L=3, P=200, h=(15, 30, 60, 120), alpha=1.0),
            ),
            seed=tuple(range(12)),
            images="mnist",
            n_test=5000,
            n_kernel=500,
            n_shown=120,
            eps=3e-4,
            max_steps=40_000,
        ),
        "paper": Params(
            case=(
                *_cases.cases(
                    "limit", images="fashion_mnist", pca=0, L=3, P=10_000, h=WIDTHS, at=(1e3, 1e4)
                ),
                *_cases.cases(
                    "limit", images="fashion_mnist", pca=0, L=3, P=10_000, h=100, at=(1e2, 1e5, 1e6)
                ),
                *_cases.cases("span", L=2, P=40, h=60, at=(1e1, 1e2, 1e3, 1e4)),
                *_cases.cases("learned", L=3, P=5000, h=100, at=(1e-2, 0.1, 1.0, 1e3, 1e4)),
                *_cases.cases("widths", act="relu", L=5, P=5000, h=WIDTHS, alpha=1.0),
                *_cases.cases(
                    "widths",
                    net="cnn",
                    act="relu",
                    pca=0,
                    P=5000,
                    h=(10, 19, 37, 72, 139),
                    alpha=1.0,
                ),
                *_cases.cases(
                    "gram", net="wide_resnet", images="cifar10", pca=0, P=6000, h=640, alpha=1.0
                ),
            ),
            seed=tuple(range(10)),
            images="mnist",
            n_test=10_000,
            n_kernel=2000,
            n_shown=200,
            eps=1e-4,
            max_steps=100_000,
        ),
    },
    axes=[Axis("case"), Axis("seed", stacked=True)],
    units=dict.fromkeys(("network_error", "initial_error", "final_error"), "fraction"),
    watch={"network_error": "min"},
    judges=_frozen_claims.JUDGED,
)
class FrozenKernels:
    """A network beside two linear models: its tangent kernel at the start, and at the end.

    Under a frozen kernel the outputs follow the same flow as those of the network, only that the
    kernel does not move. With the kernel at the start this is the lazy limit, and the distance to
    it falls as 1/at. With the kernel at the end it is as good as the network itself, at every
    scale: what training learns is in the kernel.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train the networks of one case, then both frozen kernels of each."""
        setting = _frozen_trial.Setting.of(point.case, params.images, params.components)
        trained = _frozen_trial.train(
            setting,
            point.seed,
            n_test=params.n_test,
            eps=params.eps,
            max_steps=params.max_steps,
            dtype=point.dtype,
            device=point.device,
        )
        found = trained.against_kernels(eps=params.eps, max_steps=params.max_steps)
        found |= trained.kernels_compared(params.n_kernel)
        if setting.scan == "limit":
            found["limit_difference"] = trained.step_by_step()
        if setting.scan == "span":
            found["tangent_residual"] = trained.tangent_residuals()
        arrays = {name: Array("seed", values) for name, values in found.items()}
        if setting.scan in ("learned", "gram"):
            pictures = trained.pictures(params.n_shown)
            arrays["picture"] = Array(("stage", "row", "column"), pictures)
            arrays["positive"] = Array(("shown",), trained.positive(params.n_shown))
        return TrialResult({"scale": setting.at, "neurons": setting.width}, arrays)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Arithmetic of a step, what a step costs anyway, and more steps where at is small."""
        own = _frozen_trial.Setting.of(point.case, params.images, params.components)
        weights = own.width**2 * own.depth
        steps = own.n_train**0.5 * (1.0 + own.at**-0.25)
        return steps * (1e7 + 6.0 * own.n_train * weights * len(point.seed))

    @staticmethod
    def summarise(results: Results) -> xr.Dataset:
        """A table with a row a case."""
        return _cases.tabled(results)

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """Those whose scans have run."""
        return _frozen_figures.figures(dataset)

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """REG-26, 27, 48, 49 and 50."""
        return _frozen_claims.claims(dataset)
