"""Parity of handwritten digits with a deep network, and with its kernels (Figs 8, 9c,d and 10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import regimes as rg
from regimes.lab import Array, Axis, Claim, Point, TrialResult, study
from regimes.studies.compression._modes import (
    PER_KERNEL,
    bars,
    modes,
    scatter,
    stacked,
    standard_error,
)
from regimes.studies.compression.digit_parity._claims import (
    CUBES,
    compared,
    errors_of,
    parity_claims,
)
from regimes.studies.compression.digit_parity._nets import KERNELS

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

STYLES = {
    "network": ("#d95f02", "solid"),
    "initial NTK": ("#7f7f7f", "solid"),
    "final NTK": ("#7570b3", "solid"),
    "initial last layer": ("#7f7f7f", "dot"),
    "final last layer": ("#1b9e77", "dot"),
}
SHOWN = {
    "initial NTK": KERNELS.index("initial NTK"),
    "final NTK": KERNELS.index("final NTK"),
    "last layer, final": KERNELS.index("final last layer"),
}
SLOPES = {"1/2": 1 / 2, "1/3": 1 / 3}  # the triangles of Fig. 8
# Every third of the document's sizes 42, 51, 61, ..., 6944: 51, 87, 151, ..., 6944.
PAPER_P = tuple(round(6944 / 1.2**n) for n in range(27, -1, -3))


@dataclass(frozen=True)
class Params:
    """Scanned: p and seed. Fixed: the rest."""

    p: tuple[int, ...] = (40, 80)
    seed: tuple[int, ...] = (0, 1)
    images: str = "digits"  # or "mnist"
    n_test: int | None = 100  # None: all that two sets of p images leave
    width_factor: int = 1
    alpha: float = 2e-3
    softness: float = 3.0  # beta of the soft hinge
    output: float = 1.0  # largest change of a prediction in a step (spec `regimes` S6)
    gradient: float = 0.1  # and of the gradient
    max_steps: int = 15
    points: int = 100  # images unseen by the network on which eigenvectors are taken
    cube_points: int = 300  # points of the clouds that test the estimator of dimension
    cube_draws: int = 1  # such clouds a seed
    ridges: tuple[float, ...] = (0.01,)


@study(
    "compression/digit-parity",
    version=2,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            p=(100, 200, 400, 800),
            seed=tuple(range(8)),
            n_test=None,
            width_factor=2,
            max_steps=12_000,
            points=900,
            cube_points=2000,
            cube_draws=3,
        ),
        "paper": Params(
            p=PAPER_P,
            seed=tuple(range(5)),
            images="mnist",
            n_test=10_000,
            width_factor=10,
            max_steps=10_000,
            points=2000,
            cube_points=2000,
            cube_draws=3,
        ),
    },
    axes=[Axis("p", unit="images"), Axis("seed", stacked=True)],
    units={
        "error": "fraction",
        "paired_error": "fraction",
        "information": "bits",
        "information_centered": "bits",
        "satisfied": "fraction",
        "kernel_satisfied": "fraction",
    },
    watch={"paired_error": "min"},
    judges=("COMP-42", "COMP-43", "COMP-44", "COMP-45", "COMP-46", "REG-63"),
    dtype="float32",
)
class DigitParity:
    """A deep convolutional network learns whether a digit is even, and so do its kernels.

    The network is trained in the feature regime. Its tangent kernel and the kernel of its last
    layer, taken before and after, then learn as hard-margin machines: the kernel after training
    should learn from new images as well as the network did, the one before it much worse.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train the seeds side by side, then learn with the four kernels of each."""
        from regimes.flow import Status
        from regimes.nets import Ensemble
        from regimes.studies.compression.digit_parity import _nets as nets

        sets = [
            nets.digit_parity(params.images, point.p, params.n_test, seed, point.dtype)
            for seed in point.seed
        ]
        start = nets.networks(
            sets[0], params.width_factor, point.seed, dtype=point.dtype, device=point.device
        )
        run = nets.train(
            start,
            sets,
            alpha=params.alpha,
            softness=params.softness,
            tau=float(params.width_factor),
            output=params.output,
            gradient=params.gradient,
            max_steps=params.max_steps,
        )
        end = Ensemble(start.template, run.parameters, start.buffers)
        trained = [nets.member(end, i) for i in range(len(sets))]
        frozen = [
            nets.frozen_kernels(nets.member(start, i), trained[i], each, params.points)
            for i, each in enumerate(sets)
        ]
        errors, satisfied = nets.learn(frozen)
        pairs = list(zip(trained, sets, strict=True))
        own = [[nets.network_error(net, each.unseen)] for net, each in pairs]
        found = [[modes(one.fresh, one.y_fresh, params.ridges) for one in each] for each in frozen]
        arrays = {
            name: Array(("seed", "kernel", *dims), stacked(found, name))
            for name, dims in PER_KERNEL.items()
        }
        arrays |= {
            "error": Array(("seed", "curve"), np.concatenate([own, errors], axis=1)),
            "paired_error": Array("seed", [nets.network_error(n, each.test) for n, each in pairs]),
            "kernel_satisfied": Array(("seed", "kernel"), satisfied),
            "dimension": Array(
                ("seed", "kernel"),
                [
                    [rg.measure.effective_dimension(one.fresh, gram=True).value for one in each]
                    for each in frozen
                ],
            ),
            "cube_dimension": Array(
                ("seed", "cube"),
                [
                    [
                        nets.cube_dimension(
                            D, params.cube_points, params.cube_draws, str(point.p), seed
                        )
                        for D in CUBES
                    ]
                    for seed in point.seed
                ],
            ),
            "plane": Array(("kernel", "axis", "sample"), [one.functions for one in found[0]]),
            "label": Array("sample", frozen[0][0].y_fresh),
            "satisfied": Array("seed", run.history["satisfied"][:, -1]),
            "fitted": Array("seed", [status is Status.FITTED for status in run.status]),
            "t_end": Array("seed", run.times[:, -1]),
            "steps": Array("seed", run.steps),
        }
        sizes = {"n_test": len(sets[0].test.y), "pixels": sets[0].test.x[0].numel()}
        return TrialResult(sizes, arrays=arrays)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Images passed through the network."""
        return float(len(point.seed) * params.max_steps * (point.p + 100))

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """Figs 8, 9c,d and 10, and the dimension of the representations."""
        shown = compared(dataset)
        told = f"p = {int(shown.p)} training images"
        return {
            "Learning curves (Fig. 8)": _learning_curves(dataset),
            "Mutual information (Fig. 9c)": bars(
                _curves(shown, "information"),
                "mutual information I(φᵣ; y) (bits)",
                f"What each of the first ten eigenvectors tells about the parity of images the "
                f"network has not seen ({told}; mean and standard error over seeds). Training "
                "moves the information into the first eigenvectors.",
                floor=rg.measure.mutual_information_floor(),
            ),
            "Projection of the label (Fig. 9d)": bars(
                _curves(shown, "projection"),
                "projection ω²ᵣ (fraction of the label)",
                f"How much of the label lies on each eigenvector of the raw kernel ({told}). "
                "Before training it is spread over many; after it one or two carry most of it.",
            ),
            "Projection of the label, centred kernel": bars(
                _curves(shown, "projection_centered"),
                "projection ω²ᵣ (fraction of the label)",
                f"The same for the double-centred kernel ({told}), without the constant direction.",
            ),
            "First two eigenvectors (Fig. 10)": scatter(
                {name: shown.plane.values[index] for name, index in SHOWN.items()},
                shown.label.values,
                f"Unseen images in the plane of the first two eigenvectors, coloured by parity "
                f"({told}, first seed). Training pulls the classes apart, and the last layer lays "
                "the images along a curve; the next figure measures its dimension.",
            ),
            "Dimension of the last layer": _dimensions(dataset),
        }

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """COMP-42 to COMP-46, and REG-63."""
        return parity_claims(dataset)


def _curves(shown: xr.Dataset, name: str) -> dict[str, np.ndarray]:
    values = shown[name].transpose("seed", "kernel", ...).values
    return {label: values[:, index] for label, index in SHOWN.items()}


def _learning_curves(dataset: xr.Dataset) -> go.Figure:
    import plotly.graph_objects as go

    figure, p = go.Figure(), dataset.p.values
    for name, (color, dash) in STYLES.items():
        values = errors_of(dataset, name)
        figure.add_scatter(
            x=p,
            y=values.mean(0),
            error_y={"array": standard_error(values), "thickness": 1},
            mode="lines+markers",
            name=name,
            line={"color": color, "dash": dash},
            hovertemplate="p = %{x}<br>error %{y:.3f}",
        )
    middle = (p[0] * p[-1]) ** 0.5
    for (label, slope), name in zip(SLOPES.items(), ("network", "initial NTK"), strict=True):
        level = np.exp(np.log(errors_of(dataset, name).mean(0)).mean())
        figure.add_scatter(
            x=p,
            y=level * (p / middle) ** -slope,
            mode="lines",
            name=f"slope -{label} (document)",
            line={"color": "black", "dash": "dash", "width": 1},
        )
    figure.update_xaxes(type="log", title="training images p", tickvals=p)
    figure.update_yaxes(type="log", title="test error (fraction)", dtick="D2")
    caption = (
        "Test error of the parity of a digit: the network, and machines with its frozen kernels "
        "(mean and standard error over seeds). The network and the kernels it ends with fall "
        "faster than the tangent kernel it starts from, which is ahead at few images; the last "
        "layer before training learns next to nothing. Dashed: the slopes of the document's "
        "triangles."
    )
    return figure.update_layout(meta={"caption": caption})


def _dimensions(dataset: xr.Dataset) -> go.Figure:
    import plotly.graph_objects as go

    figure = go.Figure()
    for name, color in (("initial last layer", "#7f7f7f"), ("final last layer", "#1b9e77")):
        values = dataset.dimension.isel(kernel=KERNELS.index(name)).transpose("seed", "p").values
        figure.add_scatter(
            x=dataset.p.values,
            y=values.mean(0),
            error_y={"array": standard_error(values), "thickness": 1},
            mode="lines+markers",
            name=name,
            line={"color": color},
        )
    figure.update_xaxes(type="log", title="training images p", tickvals=dataset.p.values)
    figure.update_yaxes(title="effective dimension (1)", rangemode="tozero")
    caption = (
        "Dimension of the cloud of last-layer representations of unseen images, from the ratio of "
        "the distances to the two nearest neighbours. Training lowers it; the document finds about "
        "6 for MNIST."
    )
    return figure.update_layout(meta={"caption": caption})
