"""One trial of frozen kernels: networks, their kernels before and after [Geiger 2020, app. A]."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Point
from regimes.studies._types import Dataset, Ensemble, Module, Run, Tensor
from regimes.studies.regimes import _setting, _training

NETS = ("fc", "cnn", "wide_resnet")
FLOOR = 1e-3  # of the steps of relu networks
FIRST = 1.0  # step, the same for networks and kernels: then all their steps are, in the limit


@dataclass(frozen=True)
class Setting:
    """The networks of a trial."""

    net: str
    activation: str
    depth: int
    n_train: int
    width: int
    scale: float  # sqrt(h) alpha

    @classmethod
    def of(cls, params: Any, point: Point) -> Setting:
        """What a place of the scan trains: it gives a scale or alpha, and a depth unless 4."""
        net = getattr(params, "net", "fc")
        if net not in NETS:
            raise ValueError(f"net must be one of {', '.join(NETS)}, got {net!r}")
        scale = point.scale if "scale" in point else point.width**0.5 * point.alpha
        depth = point.get("depth", 4)
        return cls(net, params.activation, depth, point.n_train, point.width, scale)

    @property
    def alpha(self) -> float:
        """The scale of the output."""
        return self.scale / self.width**0.5

    def network(self, shape: tuple[int, ...], seed: int, dtype: str, device: str) -> Module:
        """One network for inputs of this shape."""
        import torch

        common: dict[str, Any] = {
            "activation": self.activation,
            "seed": seed,
            "dtype": getattr(torch, dtype),
            "device": device,
        }
        if self.net == "fc":
            size = int(np.prod(shape))
            return rg.nets.FullyConnected(size, self.width, self.depth, **common)
        if self.net == "cnn":
            kernel = 3 if min(shape[1:]) < 20 else 5
            return rg.nets.ConvNet4(shape, width=self.width, kernel_size=kernel, **common)
        if self.width % 64:
            raise ValueError(f"a wide residual net has 64 k channels at its end, got {self.width}")
        return rg.nets.WideResNet(shape, width_factor=self.width // 64, **common)


@dataclass(frozen=True, eq=False)
class Trained:
    """The networks of a trial before and after training."""

    data: Dataset
    start: Ensemble
    run: Run

    @cached_property
    def stages(self) -> tuple[Ensemble, Ensemble]:
        """The networks before and after."""
        return self.start, self.start.moved_to(self.run.parameters)

    def against_kernels(self, *, eps: float, max_steps: int) -> dict[str, Any]:
        """Errors of networks and frozen kernels, and how far networks are from the initial one."""
        outputs = self.run.test_predictions
        found = {
            "network_error": self.run.test_errors,
            "fitted": self.run.fitted.double(),
            "steps": self.run.steps,
        }
        for name, ensemble in zip(("initial", "final"), self.stages, strict=True):
            run = rg.flow.kernel_flow(
                _kernels(ensemble, self.data.x_train),
                self.data.y_train,
                _kernels(ensemble, self.data.x_test, self.data.x_train),
                y_test=self.data.y_test,
                loss="softhinge_20",
                tolerances=rg.flow.Tolerances(output=0.1, gradient=eps),
                rule=rg.flow.StepRule(first=FIRST),
                max_steps=max_steps,
            )
            frozen = run.test_predictions
            found[f"{name}_error"] = run.test_errors
            found[f"{name}_fitted"] = run.fitted.double()
            found[f"{name}_difference"] = rg.measure.relative_change(outputs, frozen)
            found[f"{name}_disagreement"] = (outputs * frozen <= 0).double().mean(1)
        return found

    def step_by_step(self) -> Tensor:
        """Distance of the networks from their initial kernels, driven by the networks' own steps.

        Both choose their steps alike, but near the longest stable step a choice hangs on rounding;
        `against_kernels` then sees the integrators differ, by about 1e-4 at any scale.
        """
        import torch

        train = _kernels(self.start, self.data.x_train)
        test = _kernels(self.start, self.data.x_test, self.data.x_train)
        driven = [
            across @ rg.flow.kernel_steps(gram, self.data.y_train, times, "softhinge_20")
            for gram, across, times in zip(
                train, test, self.run.recordings["steps"].times, strict=True
            )
        ]
        return rg.measure.relative_change(self.run.test_predictions, torch.stack(driven))

    def kernels_compared(self, n_kernel: int) -> dict[str, Any]:
        """Growth and change of the kernel on test points, and its blocks by label."""
        x, y = self.data.x_test[:n_kernel], self.data.y_test[:n_kernel]
        before, after = (_kernels(ensemble, x) for ensemble in self.stages)
        pairs = zip(after, before, strict=True)
        return {
            "kernel_growth": after.flatten(1).norm(dim=1) / before.flatten(1).norm(dim=1),
            "kernel_change": [float(rg.measure.kernel_change(k, k0)) for k, k0 in pairs],
            "initial_contrast": [float(rg.measure.block_contrast(k, y)) for k in before],
            "final_contrast": [float(rg.measure.block_contrast(k, y)) for k in after],
        }

    def tangent_residuals(self) -> np.ndarray:
        """Share of weight changes outside the span of training gradients [Geiger 2021b, fig. 5]."""
        import torch

        found = []
        for i in range(self.start.size):
            kernel = rg.tangent.TangentKernel(self.start.member(i))
            change = [
                (self.run.parameters[name][i] - self.start.parameters[name][i]).flatten()
                for name in kernel.parameter_names
            ]
            features = kernel.features(self.data.x_train)
            found.append(float(rg.measure.tangent_residual(torch.cat(change), features)))
        return np.array(found)

    def pictures(self, n_shown: int) -> np.ndarray:
        """Kernels of the first network on test points sorted by label, (2, n, n)."""
        x, y = self.data.x_test[:n_shown], self.data.y_test[:n_shown]
        grams = [_kernels(ensemble.select([0]), x)[0] for ensemble in self.stages]
        drawn = [rg.measure.gram_picture(gram, y).cpu().numpy() for gram in grams]
        return np.stack(drawn).astype(np.float32)

    def positive(self, n_shown: int) -> np.ndarray:
        """Which of the points of the pictures have a positive label, in the order shown."""
        labels = self.data.y_test[:n_shown].cpu().numpy()
        return (np.sort(labels, kind="stable") > 0).astype(float)


def train(setting: Setting, params: Any, point: Point) -> Trained:
    """Train the networks of a trial side by side."""
    data = _setting.points_at(
        point, params.images, setting.n_train, params.n_test, components=params.components or None
    )
    shape = tuple(data.x_train.shape[1:])
    start = rg.nets.stack(
        lambda seed: setting.network(shape, seed, point.dtype, point.device), list(point.seed)
    )
    run = _training.train(
        start,
        data,
        [setting.alpha] * len(point.seed),
        eps=params.eps,
        max_steps=params.max_steps,
        rule=rg.flow.StepRule(first=FIRST, floor=FLOOR if setting.activation == "relu" else None),
        # anything small: what is wanted are the times at which it is seen
        observe={"steps": rg.flow.Observer(lambda s: s.predictions[:, 0, 0], rg.flow.EverySteps())},
    )
    return Trained(data, start, run)


def _kernels(ensemble: Ensemble, x: Tensor, z: Tensor | None = None) -> Tensor:
    """The tangent kernel of every member, (R, n, m)."""
    import torch

    grams = [rg.tangent.TangentKernel(ensemble.member(i))(x, z) for i in range(ensemble.size)]
    return torch.stack(grams)
