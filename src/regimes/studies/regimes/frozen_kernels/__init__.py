"""Kernels that do not move: the lazy limit of a network, and what its trained kernel knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from regimes.lab import Array, Axis, Data, Point, Results, TrialConfig, TrialResult, collect, study
from regimes.studies.regimes import _former, _runs, _setting
from regimes.studies.regimes._scans import WIDTHS
from regimes.studies.regimes.frozen_kernels._trial import Setting, train


@dataclass(frozen=True)
class Networks:
    """What every scan has. Scanned: points, width, and seeds trained side by side."""

    n_train: tuple[int, ...] = (12,)
    width: tuple[int, ...] = (8,)
    seed: tuple[int, ...] = (0, 1)
    images: str = "digits"
    components: int = _setting.COMPONENTS  # 0 keeps the pixels
    activation: str = "softplus_5"
    n_test: int = 100
    n_kernel: int = 40  # test points on which kernels are compared
    n_shown: int = 0  # of these, those in the picture of a kernel; 0: none is made
    eps: float = 1e-1  # what a step may change the gradient by
    max_steps: int = 40


@dataclass(frozen=True)
class Scales(Networks):
    """Fully connected networks at given scales."""

    depth: tuple[int, ...] = (2,)
    scale: tuple[float, ...] = (1e2, 1e4)  # sqrt(h) alpha


@dataclass(frozen=True)
class Widths(Networks):
    """Fully connected networks at given alpha: the scale grows with the width."""

    depth: tuple[int, ...] = (2,)
    alpha: tuple[float, ...] = (1.0,)


@dataclass(frozen=True)
class Convolutional(Networks):
    """Networks of images, at given alpha."""

    net: str = "cnn"  # or "wide_resnet"
    alpha: tuple[float, ...] = (1.0,)


_CPU: dict[str, Any] = {
    "seed": tuple(range(12)),
    "images": "mnist",
    "n_test": 5000,
    "n_kernel": 500,
    "eps": 3e-4,
    "max_steps": 40_000,
}
_PAPER: dict[str, Any] = {
    "seed": tuple(range(10)),
    "images": "mnist",
    "n_test": 10_000,
    "n_kernel": 2000,
    "eps": 1e-4,
    "max_steps": 100_000,
}
_CLOTHES: dict[str, Any] = {
    **_PAPER,
    "images": "fashion_mnist",
    "components": 0,
    "depth": (3,),
    "n_train": (10_000,),
}
_LIMIT = (1e2, 1e3, 1e4, 1e5, 1e6)
_SPAN = (1e1, 1e2, 1e3, 1e4)
_LEARNED = (1e-2, 0.1, 1.0, 1e3, 1e4)
SIZES = {
    "smoke": {
        "limit": Scales(n_train=(10,)),
        "span": Scales(n_train=(6,), scale=(1e1, 1e3)),
        "learned": Scales(scale=(1.0, 1e3), n_shown=20),
        "widths": Widths(width=(4, 8)),
        "widths_cnn": Convolutional(components=0, n_train=(8,), width=(4,)),
    },
    "cpu": {
        "limit": Scales(n_train=(80,), width=(60,), scale=_LIMIT, **_CPU),
        "span": Scales(n_train=(40,), width=(60,), scale=_SPAN, **_CPU),
        "learned": Scales(
            depth=(3,), n_train=(200,), width=(60,), scale=_LEARNED, n_shown=120, **_CPU
        ),
        "widths": Widths(depth=(3,), n_train=(200,), width=(15, 30, 60, 120), **_CPU),
    },
    "paper": {
        "limit": Scales(width=(100,), scale=_LIMIT, **_CLOTHES),
        "limit_widths": Scales(
            width=tuple(h for h in WIDTHS if h != 100), scale=(1e3, 1e4), **_CLOTHES
        ),
        "span": Scales(n_train=(40,), width=(60,), scale=_SPAN, **_PAPER),
        "learned": Scales(
            depth=(3,), n_train=(5000,), width=(100,), scale=_LEARNED, n_shown=200, **_PAPER
        ),
        "widths": Widths(depth=(5,), n_train=(5000,), width=WIDTHS, activation="relu", **_PAPER),
        "widths_cnn": Convolutional(
            components=0,
            n_train=(5000,),
            width=(10, 19, 37, 72, 139),
            activation="relu",
            **_PAPER,
        ),
        "gram": Convolutional(
            net="wide_resnet",
            components=0,
            n_train=(6000,),
            width=(640,),
            n_shown=200,
            **{**_PAPER, "images": "cifar10"},
        ),
    },
}
SEED = Axis("seed", stacked=True)
BY_SCALE = ("depth", "n_train", "width", "scale", SEED)
BY_ALPHA = ("n_train", "width", "alpha", SEED)
FORMER_SCANS = {"limit_widths": "limit", "widths_cnn": "widths"}  # others kept their names


@study(
    "regimes/frozen-kernels",
    version=1,
    sizes=SIZES,
    axes={
        **dict.fromkeys(("limit", "limit_widths", "span", "learned"), BY_SCALE),
        "widths": ("depth", *BY_ALPHA),
        "widths_cnn": BY_ALPHA,
        "gram": BY_ALPHA,
    },
    units=dict.fromkeys(("network_error", "initial_error", "final_error"), "fraction"),
    watch={"network_error": "min"},
)
class FrozenKernels:
    """A network beside two linear models: its tangent kernel at the start, and at the end.

    Under a frozen kernel the outputs follow the same flow as those of the network, only that the
    kernel does not move. With the kernel at the start this is the lazy limit, and the distance to
    it falls as 1/scale. With the kernel at the end it is as good as the network itself, at every
    scale: what training learns is in the kernel.

    The paper: [Geiger 2020, sec. 3 and app. A].
    """

    @staticmethod
    def trial(params: Networks, point: Point) -> TrialResult:
        """Train the networks of one place, then both frozen kernels of each."""
        setting = Setting.of(params, point)
        trained = train(setting, params, point)
        found = trained.against_kernels(eps=params.eps, max_steps=params.max_steps)
        found |= trained.kernels_compared(params.n_kernel)
        if point.block in ("limit", "limit_widths"):
            found["limit_difference"] = trained.step_by_step()
        if point.block == "span":
            found["tangent_residual"] = trained.tangent_residuals()
        arrays = _runs.by_seed(found)
        if params.n_shown:
            pictures = trained.pictures(params.n_shown)
            arrays["picture"] = Array(("stage", "row", "column"), pictures)
            arrays["positive"] = Array(("shown",), trained.positive(params.n_shown))
        return TrialResult({"neurons": setting.width}, arrays)

    @staticmethod
    def cost(params: Networks, point: Point) -> float:
        """Arithmetic of a step, what a step costs anyway, and more steps at small scales."""
        own = Setting.of(params, point)
        weights = own.width**2 * own.depth
        steps = own.n_train**0.5 * (1.0 + own.scale**-0.25)
        return steps * (1e7 + 6.0 * own.n_train * weights * len(point.seed))

    @staticmethod
    def summarise(results: Results) -> Data:
        """A row per trial, with its scale also where alpha is given."""
        return _scaled(collect(results))

    @staticmethod
    def upgrade(dataset: Data) -> Data:
        """A table of trials that were named by texts, as a table of blocks."""
        if "case" not in dataset.dims:
            return dataset
        table = _former.from_cases(dataset)
        coords = {"depth": table.depth.where(table.depth > 0)} if (table.depth == 0).any() else {}
        if "net" in table.coords:
            convolutional = (table.block == "widths") & (table.net == "cnn")
            coords["block"] = table.block.where(~convolutional, "widths_cnn")
        if "alpha" not in table.coords:
            coords["alpha"] = np.nan * table.scale
        table = table.assign_coords(coords)
        return _scaled(table.drop_vars(["net", "act", "images", "pca"], errors="ignore"))

    @staticmethod
    def formerly(params: Mapping[str, Networks], config: TrialConfig) -> TrialConfig | None:
        """A text named the trial and how it differed from the parameters that all scans had."""
        own, block = config.params, config.point["block"]
        every = _former.every_block(params, SIZES)
        if not {"span", "learned"} <= set(every):
            return None
        usual = every["span"]
        former = {name: own[name] for name in ("n_test", "n_kernel", "eps", "max_steps")}
        former |= {"images": usual.images, "components": usual.components}
        former |= {"n_shown": every["learned"].n_shown}
        named = {"net": own["net"]} if "net" in own else {}
        if own["activation"] != "softplus_5":
            named["act"] = own["activation"]
        small = own["images"] == "digits" and "net" in own  # the smoke size named them anyway
        if own["images"] != usual.images or small:
            named["images"] = own["images"]
        if own["components"] != usual.components:
            named["pca"] = own["components"]
        return _former.former_config(config, former, FORMER_SCANS.get(block, block), named)


def _scaled(table: Data) -> Data:
    return table.assign_coords(scale=table.scale.fillna(np.sqrt(table.width) * table.alpha))
