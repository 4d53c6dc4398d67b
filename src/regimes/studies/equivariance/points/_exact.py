"""What holds without training: equivariance of layers, fields shared with voxels, tensors."""

from __future__ import annotations

from typing import Any

from regimes.lab import TrialResult
from regimes.studies._types import Tensor

FIELDS = "2x0e + 1x0o + 2x1o + 1x1e + 1x2e"
FORMULAS = {
    "ij": ({"i": "1o", "j": "1o"}, "1x0e+1x1e+1x2e"),
    "ij=ji": ({"i": "1o"}, "1x0e+1x2e"),
    "ij=-ji": ({"i": "1o"}, "1x1e"),
    "ijkl=jikl=klij": ({"i": "1o"}, "2x0e+2x2e+1x4e"),
}


def trial(seed: int) -> TrialResult:
    """Errors of layers of points and voxels on the same fields, in float32."""
    import torch

    from regimes._random import generator
    from regimes._rotations import haar_rotations
    from regimes.nets import points, voxels

    source = generator(seed, "points/exact")
    kind = voxels.FieldType.of(FIELDS)
    at = torch.randn(4, 6, 3, generator=source)
    fields = torch.randn(4, 6, kind.dim, generator=source)
    turns = haar_rotations(3, source)
    turns = torch.cat([turns, -turns])
    layers = {
        "convolution": points.PointConvolution(kind.irreps, kind.irreps, radius=2.0, seed=seed),
        "attention": points.EquivariantAttention(kind.irreps, kind.irreps, radius=2.0, seed=seed),
    }
    errors = {f"{name}_error": _worst(layer, kind, fields, at, turns)
              for name, layer in layers.items()}  # fmt: skip
    attention: Any = layers["attention"]
    edges = attention.edges(at)
    with torch.no_grad():
        shares = attention.weights(fields.flatten(0, 1), edges)
    sums = torch.zeros(24, 1).index_add(0, edges.target, shares)
    heard = torch.zeros(24, dtype=torch.bool)
    heard[edges.target] = True
    right = sum(
        str(points.decompose_tensor(formula, **first).irreps) == irreps
        for formula, (first, irreps) in FORMULAS.items()
    )
    return TrialResult(
        {
            **errors,
            "attention_sums": float((sums[heard] - 1).abs().max()),
            "voxel_error": _voxels(kind, source),
            "tensors_right": right / len(FORMULAS),
            "elastic_dimension": points.decompose_tensor("ijkl=jikl=klij", i="1o").irreps.dim,
        }
    )


def _worst(layer: Any, kind: Any, fields: Tensor, at: Tensor, turns: Tensor) -> float:
    """The largest relative error over rotations, inversions and a shift."""
    import torch

    worst = 0.0
    with torch.no_grad():
        for R in turns:
            rho, shift = kind.matrix(R).to(fields), torch.tensor([1.0, -2.0, 0.5])
            moved = layer(fields @ rho.T, at @ R.to(at).T + shift)
            there = layer(fields, at) @ rho.T
            worst = max(worst, float((moved - there).norm() / there.norm()))
    return worst


def _voxels(kind: Any, source: Any) -> float:
    """The same for a steerable convolution of the same fields, under the 48 of the cube."""
    import torch

    from regimes.nets import voxels

    conv = voxels.SteerableConv3d(kind, kind, 3, padding=1)
    conv.draw_parameters(source)
    field = torch.randn(1, kind.dim, 7, 7, 7, generator=source)
    worst, shift = 0.0, torch.tensor([1.0, 0.0, -1.0])
    with torch.no_grad():
        out = conv(field)
        inside = (..., *[slice(2, -2)] * 3)
        for R in voxels.cube_symmetries(mirrors=True):
            moved = conv(kind.transform(field, R, shift))
            there = kind.transform(out, R, shift)
            change = (moved - there)[inside].norm() / there[inside].norm()
            worst = max(worst, float(change))
    return worst
