"""How equivariant networks of correlations are: rounding, ReLU, and where its error comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies._types import Module

FACTORS = {"relu": 1, "relu2": 2, "relu3": 3}  # how much finer the grid of the ReLU is


@dataclass(frozen=True)
class Params:
    """Scanned: activation, bandwidth, layers, seed. Fixed: channels, pairs, who is oversampled."""

    act: tuple[str, ...] = ("exact", "linear", "relu", "relu2", "relu3")
    b: tuple[int, ...] = (3, 4)
    layers: tuple[int, ...] = (1, 2)
    seed: tuple[int, ...] = (0, 1)
    channels: int = 2
    pairs: int = 2
    oversampled_b: tuple[int, ...] = (3, 4)
    oversampled_layers: tuple[int, ...] = (1, 2)
    exact_b: tuple[int, ...] = (3, 4)


@study(
    "equivariance/error",
    version=1,
    dtype="float32",
    sizes={
        "smoke": Params(),
        "cpu": Params(
            b=(4, 6, 8, 12, 16),
            layers=(1, 2, 4),
            seed=(0, 1, 2, 3),
            channels=10,
            pairs=10,
            oversampled_b=(4, 6, 8),
            exact_b=(4, 8, 12),
        ),
        "paper": Params(
            act=("linear", "relu", "relu2"),
            b=(10, 15, 20, 25, 30),
            layers=(1, 2, 4, 8),
            seed=(0, 1),
            channels=10,
            pairs=50,
            oversampled_b=(10,),
            oversampled_layers=(1, 2, 4),
            exact_b=(10,),
        ),
    },
    axes=["act", "b", "layers", Axis("seed")],
)
class Error:
    """Rotating the input or the output differs by rounding alone, until a ReLU stands between.

    Networks of correlations on SO(3) with random filters, fed with white noise. Without ReLU the
    error is that of rounding and grows slowly with resolution and depth. With ReLU it is larger by
    orders of magnitude, for ReLU makes frequencies that the grid cannot hold; on a finer grid the
    error falls.

    The paper: [Cohen 2018, section 5.1, fig. 3].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """The error of one network, as the paper has it and below the bandlimit alone."""
        import torch

        from regimes import measure
        from regimes._random import generator
        from regimes.nets import sphere

        dtype = torch.float64 if point.act == "exact" else getattr(torch, point.dtype)
        net = _network(params, point, dtype).to(point.device)
        draws = generator(point.seed, "noise")
        side = 2 * point.b
        rotations = sphere.random_rotations(params.pairs, seed=point.seed)

        def noise(_: int) -> Any:
            x = torch.randn(1, params.channels, side, side, side, generator=draws)
            return x.to(device=point.device, dtype=dtype)

        drawn = [noise(i) for i in range(params.pairs)]
        found = {}
        for name, size in (("delta", "std"), ("spectral", sphere.spectral_size())):
            turn = sphere.rotate_so3
            measured = measure.equivariance_error(
                net, drawn.__getitem__, rotations, turn, turn, size=size
            )
            found[name], found[f"{name}_error"] = measured.value, measured.error
        return TrialResult(found)

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """Fine grids and double precision only where they are judged."""
        if point.act in ("relu2", "relu3"):
            return point.b in params.oversampled_b and point.layers in params.oversampled_layers
        return bool(point.act != "exact" or point.b in params.exact_b)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """As the grid's volume and the depth."""
        return float(point.b**3 * (point.layers + 1) * FACTORS.get(point.act, 1) ** 3)


def _network(params: Params, point: Point, dtype: Any) -> Module:
    """Correlations with random filters of unit gain, each followed by the activation."""
    import torch
    from torch import nn

    from regimes._random import generator
    from regimes.nets import sphere

    net, K, b = nn.Sequential(), params.channels, point.b
    points = sphere.so3_near_identity(n_alpha=8, n_beta=3, n_gamma=8)
    for layer in range(point.layers):
        made = sphere.SO3Correlation(K, K, b, b, points, dtype=dtype)
        draws = generator(point.seed, f"filters/{layer}")
        with torch.no_grad():  # N(0, 1), times the layer's own 1/sqrt(K p)
            made.weight.copy_(torch.randn(made.weight.shape, generator=draws, dtype=torch.float64))
        net.append(made)
        if point.act == "relu":
            net.append(nn.ReLU())
        elif point.act in FACTORS:
            net.append(sphere.Oversampled(torch.relu, FACTORS[point.act]))
        elif point.act not in ("linear", "exact"):
            raise ValueError(f"unknown act {point.act!r}; use exact, linear or one of {FACTORS}")
    return net
