"""Identities: the linear model, alignments with and without a Gram, bounds, mixed derivatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regimes.lab import Array, Point, TrialResult
from regimes.studies._types import Module, Tensor
from regimes.studies.linearization import _tasks

STEPS = (0.01, 0.02, 0.04, 0.08)  # lengths of the moves from the anchor, relative to its norm
EXPANDED = ("mlp", "lenet", "resnet")
TARGETS = 3
LOOKED = 50  # eigenfunctions whose alignment is compared with their eigenvalue


@dataclass(frozen=True)
class Identities:
    """A seed draws networks, images and targets."""

    points: int = 60
    modes: int = 20  # signs of eigenfunctions whose norms are bounded
    seed: tuple[int, ...] = (0, 1)


@dataclass(frozen=True)
class Mixed:
    """A seed draws a network, its inputs and a direction."""

    points: int = 2000
    width: int = 50
    dimension: int = 10
    seed: tuple[int, ...] = (0, 1)


def identities(params: Identities, point: Point) -> TrialResult:
    """LIN-01 to LIN-04 and LIN-33, a row for each seed."""
    rows = [_expansion(seed) | _alignments(params, seed) for seed in point.seed]
    dims: dict[str, tuple[str, ...]] = {"expansion_error": ("identity_seed", "expanded", "length")}
    dims["expansion_gap"] = dims["expansion_anchor"] = ("identity_seed", "expanded")
    arrays = {
        name: Array(dims.get(name, "identity_seed"), np.stack([row[name] for row in rows]))
        for name in rows[0]
    }
    return TrialResult(arrays=arrays | {"lengths": Array("length", np.array(STEPS))})


def mixed(params: Mixed, point: Point) -> TrialResult:
    """LIN-11: alpha of u.x from gradients, and from mean mixed derivatives at the same points."""
    import torch

    import regimes as rg
    from regimes._random import generator

    gaps = []
    for seed in point.seed:
        draws = generator(seed, "linearization/mixed")
        x = torch.randn(params.points, params.dimension, generator=draws, dtype=torch.float64)
        u = torch.nn.functional.normalize(
            torch.randn(params.dimension, generator=draws).double(), dim=0
        )
        net = rg.nets.MLP(
            params.dimension, params.width, 2, 1, activation="gelu", init="lecun", seed=seed,
            dtype=torch.float64,
        )  # fmt: skip
        alignment = rg.tangent.TangentKernel(net).target_alignment(x, x @ u)
        derivative = rg.tangent.MixedDerivative(net, x).to_parameters(u)
        predicted = sum(part.square().sum() for part in derivative.values())
        gaps.append(float(alignment / predicted) - 1)
    return TrialResult(
        {"mixed_points": params.points}, {"mixed_gap": Array("mixed_seed", np.array(gaps))}
    )


def _expansion(seed: int) -> dict[str, np.ndarray]:
    """How three small networks differ from their linear models, and from other samples' company."""
    import torch

    import regimes as rg
    from regimes._random import generator

    draws = generator(seed, "linearization/expansion")
    x = torch.randn(6, 1, 8, 8, generator=draws, dtype=torch.float64)
    gap, anchor, error = [], [], []
    for name in EXPANDED:
        net = _small(name, seed)
        lin = rg.tangent.linearize(net)
        jacobian = rg.tangent.TangentKernel(net, engine="jacobian").features(x)[:, 0]
        start = [p.detach().clone() for p in net.parameters()]
        move = [torch.randn(p.shape, generator=draws, dtype=torch.float64) for p in start]
        length = float(torch.cat([m.flatten() for m in move]).norm())
        size = float(torch.cat([p.flatten() for p in start]).norm())
        move = [m * size / length for m in move]
        with torch.no_grad():
            here = net(x)[:, 0]
            anchor.append(float((lin(x)[:, 0] - here).abs().max()))
            errors = []
            for step in STEPS:
                for p, q, s, m in zip(
                    net.parameters(), lin.theta.parameters(), start, move, strict=True
                ):
                    p.copy_(s + step * m)
                    q.copy_(s + step * m)
                said = lin(x)[:, 0]
                errors.append(float((net(x)[:, 0] - said).norm()))
            flat = torch.cat([STEPS[-1] * m.flatten() for m in move])
            expected = here + jacobian @ flat
            gap.append(float((said - expected).abs().max()))
        error.append(errors)
    with torch.no_grad():
        alone = torch.cat([lin(each[None]) for each in x])
        company = float((lin(x) - alone).abs().max() / alone.abs().max())
    return {
        "expansion_gap": np.array(gap),
        "expansion_anchor": np.array(anchor),
        "expansion_error": np.array(error),
        "company": np.array(company),
    }


def _small(name: str, seed: int) -> Module:
    return _tasks.network(
        name, (1, 8, 8), seed, activation="gelu", features=(3, 4, 10, 8), base=8, dtype="float64"
    )


def _alignments(params: Identities, seed: int) -> dict[str, np.ndarray]:
    """Alignments of random targets and eigenfunctions, and norms with their bound, on digits."""
    import torch

    import regimes as rg
    from regimes._random import generator

    data = _tasks.task("digits", 1500, 297, seed, "float64")
    x = torch.cat([data.x_train, data.x_test])[: params.points]
    net = _tasks.network("mlp", data.in_shape, seed, dtype="float64")
    kernel = rg.tangent.TangentKernel(net)
    gram = kernel(x)
    draws = generator(seed, "linearization/targets")
    f = torch.randn(len(x), TARGETS, generator=draws, dtype=torch.float64)
    found = {}
    for kind, dtype in (("float64", torch.float64), ("float32", torch.float32)):
        own = rg.tangent.TangentKernel(net.to(dtype))
        form = rg.measure.target_alignment(own(x.to(dtype)).double(), f.T)
        gap = own.target_alignment(x.to(dtype), f.to(dtype)).double() / form - 1
        found[f"alignment_gap_{kind}"] = np.array(float(gap.abs().max()))
    pairs = rg.measure.gram_eigs(gram)
    kernel = rg.tangent.TangentKernel(net.double())
    count = min(LOOKED, params.modes)
    phi = pairs.vectors[1 : count + 1] * len(x) ** 0.5
    direct = kernel.target_alignment(x, phi.T)
    found["eigenvalue_gap"] = _worst(direct * len(x) / pairs.values[1 : count + 1] - 1)
    usable = int((pairs.values > 1e-12 * pairs.values[0]).sum())
    lam, modes = pairs.values[:usable], pairs.vectors[:usable]
    signs = _tasks.signs(pairs.vectors[1 : params.modes + 1])
    for what, targets in (("sign", signs), ("own", phi)):
        norm = rg.measure.rkhs_norm2(targets, lam, modes, convention="unit")
        bound = rg.measure.rkhs_lower_bound(targets, rg.measure.target_alignment(gram, targets))
        ratio = norm / bound
        if what == "sign":
            found["bound_least"] = np.array(float(ratio.min()))
        else:
            found["bound_own"] = _worst(ratio - 1)
    return found


def _worst(gaps: Tensor) -> np.ndarray:
    return np.array(float(gaps.abs().max()))
