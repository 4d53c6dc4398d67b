"""Networks at initialisation: outputs, tangent kernel, gradients and speeds against the width."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import regimes as rg
from regimes.lab import Array, Point, TrialResult
from regimes.studies.regimes._runs import hidden_layers
from regimes.studies.regimes._setting import network
from regimes.studies.regimes.foundations._networks import data_of, networks_of

ALPHAS = (0.1, 1.0, 10.0)  # of REG-09
INSTANT = 1e-6  # length of the step from which speeds are taken


@dataclass(frozen=True)
class GaussianProcess:
    """A seed draws all these networks, the first one also the points they are asked at."""

    networks: int = 60
    width: int = 40
    seed: tuple[int, ...] = (0,)


def gaussian_process(params: GaussianProcess, point: Point) -> TrialResult:
    """REG-06: covariance and kurtosis of f over networks, against the recursion."""
    import torch

    from regimes._random import generator

    d, width = 10, params.width
    x = torch.randn(5, d, generator=generator(point.seed[0], "process"), dtype=torch.float64)
    x = (x / x.norm(dim=1, keepdim=True) * d**0.5).to(point.device)
    drawn = [seed * params.networks + k for seed in point.seed for k in range(params.networks)]
    chunk = max(1, 2**24 // width**2)
    found = []
    for first in range(0, len(drawn), chunk):
        group = rg.nets.stack(
            lambda seed: network(d, width, 2, seed, activation="relu", device=point.device),
            drawn[first : first + chunk],
        )
        found.append(group(x)[..., 0])
    f = torch.cat(found).cpu()
    predicted = rg.theory.infinite_width(x.cpu(), depth=2, activation="relu").nngp
    square = f.square().mean(0)
    return TrialResult(
        {"process_width": width},
        arrays={
            "process_covariance": Array(("place", "other_place"), f.T @ f / len(f)),
            "process_predicted": Array(("place", "other_place"), predicted),
            "process_kurtosis": Array("place", f.pow(4).mean(0) / square**2 - 3),
            "process_values": Array(("process_network", "place"), f),
        },
    )


@dataclass(frozen=True)
class KernelNoise:
    """A seed is a network."""

    images: str = "digits"
    points: int = 15
    widths: tuple[int, ...] = (10, 20, 40)
    seed: tuple[int, ...] = tuple(range(6))


def kernel_noise(params: KernelNoise, point: Point) -> TrialResult:
    """REG-07: how the tangent kernel at the start differs from network to network."""
    data = data_of(params, point)
    x, seeds = data.x_train, point.seed
    # Of one network no fluctuation is known.
    unbiased = (len(seeds) / (len(seeds) - 1)) ** 0.5 if len(seeds) > 1 else np.nan
    limit = rg.theory.infinite_width(x, depth=2, activation="softplus_5").ntk
    noise, distance = [], []
    for width in params.widths:
        start, _ = networks_of(point, data, width, [1.0])
        gram = rg.tangent.stacked_gram(start, x)
        mean = gram.mean(0)
        noise.append(
            unbiased * (gram - mean).flatten(1).norm(dim=1).cpu().numpy() / float(mean.norm())
        )
        distance.append(float((mean - limit).norm() / limit.norm()))
    return TrialResult(
        arrays={
            "noise_width": Array("noise_step", params.widths),
            "noise": Array(("noise_step", "noise_seed"), np.array(noise)),
            "limit_distance": Array("noise_step", distance),
        }
    )


@dataclass(frozen=True)
class Layers:
    """A seed is a network."""

    images: str = "digits"
    points: int = 15
    depth: int = 3
    widths: tuple[int, ...] = (20, 40, 80)
    seed: tuple[int, ...] = (0, 1)


def layers(params: Layers, point: Point) -> TrialResult:
    """REG-08 and REG-09: gradient of f and speed of the pre-activations, layer by layer."""
    data = data_of(params, point)
    x, seeds, depth = data.x_train, point.seed, params.depth
    sizes, speeds = [], []
    for width in params.widths:
        scales = [alpha * width**0.5 for alpha in ALPHAS]
        start, alpha = networks_of(point, data, width, scales, depth)
        sizes.append(rg.tangent.layer_gradients(start.select(range(len(seeds))), x).cpu().numpy())
        run = rg.flow.gradient_flow(
            start,
            data,
            loss="softhinge_20",
            alpha=alpha,
            until=None,
            t_end=INSTANT,
            rule=rg.flow.StepRule(first="weights"),
        )
        speed = [
            rg.measure.preact_speed(now, then, INSTANT).cpu().numpy()
            for now, then in hidden_layers(start, run, x)
        ]
        speeds.append(np.array(speed).reshape(depth, len(ALPHAS), len(seeds)))
    return TrialResult(
        {"layer_depth": depth},
        arrays={
            "layer_width": Array("layer_step", params.widths),
            "gradient_size": Array(
                ("layer_seed", "layer_step", "weight_layer"), np.array(sizes).swapaxes(0, 1)
            ),
            "preact_speed": Array(
                ("layer_step", "hidden_layer", "layer_scale", "layer_seed"), np.array(speeds)
            ),
        },
    )
