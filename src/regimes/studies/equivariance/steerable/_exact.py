"""Identities of steerable kernels and layers: the largest deviation of each."""

from __future__ import annotations

from typing import Any

from regimes.studies._types import Tensor

KIND = (3, 2, 2)
TABLES = {  # kernels under the default cut-off, rows: orders that come out
    3: [[2, 1, 1, 1], [1, 4, 3, 2], [1, 3, 5, 3], [1, 2, 3, 5]],
    5: [[3, 2, 2, 2], [2, 7, 6, 5], [2, 6, 10, 8], [2, 5, 8, 11]],
    7: [[4, 3, 3, 3], [3, 10, 9, 8], [3, 9, 15, 13], [3, 8, 13, 18]],
}
NETWORKS = {
    "TetrisSteerable": 41_198,
    "TetrisCNN": 6_220_882,
    "ShapesSteerable": 142_617,
    "CathCNN": 15_878_764,
    "CathSteerable": 143_560,
}


def completeness(max_order: int, seed: int) -> dict[str, float]:
    """EQU-25 and -26: null spaces at a point, at the centre, and kernels of vectors."""
    import torch

    from regimes._random import generator
    from regimes._rotations import intertwiners, random_rotations, real_wigner
    from regimes.nets import voxels

    source = generator(seed, "steerable/direction")
    axis = torch.randn(3, generator=source, dtype=torch.float64)
    axis = axis / axis.norm()
    cross = torch.linalg.cross(torch.eye(3, dtype=axis.dtype), axis.expand(3, 3))
    about = torch.stack([torch.linalg.matrix_exp(angle * cross) for angle in (0.7, 2.0)])
    every = random_rotations(3, seed)
    wrong, angle = 0, 0.0
    for j in range(max_order + 1):
        for l in range(max_order + 1):
            null = intertwiners(real_wigner(j, about), real_wigner(l, about)).flatten(1)
            centre = intertwiners(real_wigner(j, every), real_wigner(l, every))
            wrong += (len(null) != 2 * min(j, l) + 1) + (len(centre) != (j == l))
            ours = torch.stack(
                [
                    (voxels.three_j(j, l, J) @ voxels.spherical_harmonics(J, axis)).flatten()
                    for J in range(abs(j - l), j + l + 1)
                ]
            )
            inside = ours / ours.norm(dim=1, keepdim=True)
            outside = inside - inside @ null.T @ null  # the sines of the principal angles
            angle = max(angle, float(torch.linalg.matrix_norm(outside, 2)))
            wrong += int(torch.linalg.matrix_rank(inside)) != len(null)
    return {"dimensions_wrong": float(wrong), "principal_angle": angle, **_vectors(source)}


def _vectors(source: Any) -> dict[str, float]:
    import torch

    from regimes.nets import voxels

    x = torch.randn(100, 3, generator=source, dtype=torch.float64)
    x = x / x.norm(dim=1, keepdim=True)
    eye = torch.eye(3, dtype=x.dtype)
    curl = torch.linalg.cross(
        eye[:, None].expand(3, 3, 3), eye[None].expand(3, 3, 3)
    )  # curl[i, j] = e_i x e_j
    wanted = (
        eye.expand(100, 3, 3),
        torch.einsum("ijk,nk->nij", curl, x),
        torch.einsum("ni,nj->nij", x, x) - eye / 3,
    )
    worst = 0.0
    for J, expected in enumerate(wanted):
        Y = voxels.spherical_harmonics(J, x)
        found = torch.einsum("ijm,nm->nij", voxels.three_j(1, 1, J), Y)
        cosine = (found * expected).sum() / found.norm() / expected.norm()
        worst = max(worst, 1 - abs(float(cosine)))
    return {"vector_kernels": worst}


def layers(seed: int) -> dict[str, float]:
    """EQU-27 (cube), -30, -31 and -33."""
    import torch

    from regimes._random import generator
    from regimes._rotations import haar_rotations
    from regimes.nets import voxels

    source = generator(seed, "steerable/layers")

    def field(kind: Any, side: int = 7) -> Tensor:
        return torch.randn(2, kind.dim, side, side, side, generator=source)

    with torch.no_grad():
        conv = voxels.SteerableConv3d(KIND, KIND, 5, padding=2)
        conv.draw_parameters(source)
        x, cube = field(conv.type_in), 0.0
        out = conv(x)
        for R in voxels.cube_symmetries():
            moved = conv(conv.type_in.transform(x, R))
            there = conv.type_out.transform(out, R)
            cube = max(cube, _relative(moved, there))
        types, strides = ((2, 2, 2), (4, 2), (8,)), (1, 2, 1)
        net = voxels.SteerableCNN(
            (1, 9, 9, 9), 4, types=types, strides=strides, padding=2, seed=seed
        )
        x = torch.randn(3, 1, 9, 9, 9, generator=source)
        before = net(x)
        for k, layer in enumerate(net.features):
            if isinstance(layer, voxels.SteerableConv3d):
                net.features[k] = layer.to_conv3d()
        found = {"cube_error": cube, "plain_error": _relative(net(x), before)}
        turns = haar_rotations(3, source)
        worst = 0.0
        for kind in (voxels.Gated(KIND), voxels.NormRelu(KIND), voxels.EquivariantBatchNorm(KIND)):
            if not isinstance(kind, voxels.EquivariantBatchNorm):
                kind.bias.uniform_(0.1, 0.9, generator=source)
            worst = max(worst, _commutes(kind, field(_input(kind), 4), turns))
        product = voxels.ProductOfFields(KIND, max_order=3)
        one, two = (field(product.fields, 4) for _ in range(2))
        worst = max(worst, _products(product, one, two, turns))
        found["nonlinear_error"] = worst
        found |= _folding(conv, field(conv.type_in, 11))
    return found


def _input(layer: Any) -> Any:
    return layer.fields if not hasattr(layer, "gates") else layer.gates


def _relative(found: Tensor, expected: Tensor) -> float:
    return float((found - expected).norm() / expected.norm())


def _act(kind: Any, x: Tensor, R: Tensor) -> Tensor:
    import torch

    return torch.einsum("ij,nj...->ni...", kind.matrix(R).to(x), x)


def _commutes(layer: Any, x: Tensor, turns: Tensor) -> float:
    """The largest error under rotations of the components alone."""
    return max(
        _relative(layer(_act(_input(layer), x, R)), _act(layer.fields, layer(x), R)) for R in turns
    )


def _products(layer: Any, one: Tensor, two: Tensor, turns: Tensor) -> float:
    return max(
        _relative(
            layer(_act(layer.fields, one, R), _act(layer.fields, two, R)),
            _act(layer.type_out, layer(one, two), R),
        )
        for R in turns
    )


def _folding(conv: Any, x: Tensor) -> dict[str, float]:
    """Batch norm and convolution as one: without padding, inside of it, and at its border."""
    from regimes.nets import voxels

    norm = voxels.EquivariantBatchNorm(KIND)
    norm(3 * x + 1)
    norm.eval()
    both, folded = conv(norm(x)), voxels.fold_batch_norm(norm, conv)(x)
    inside = (..., *[slice(conv.padding, -conv.padding)] * 3)
    valid = voxels.SteerableConv3d(KIND, KIND, 5)
    valid.load_state_dict(conv.state_dict())
    return {
        "fold_valid": _relative(voxels.fold_batch_norm(norm, valid)(x), valid(norm(x))),
        "fold_inside": _relative(folded[inside], both[inside]),
        "fold_everywhere": _relative(folded, both),
    }


def counts(whole: bool) -> dict[str, float]:
    """EQU-29, -36, -37 and -39: kernels and parameters."""
    from regimes.nets import voxels

    wrong = beyond = 0
    for size, table in TABLES.items():
        for j, row in enumerate(table):
            for l, expected in enumerate(row):
                number = len(voxels.kernel_basis(j, l, size))
                wrong += number != expected
                beyond += number > (size // 2 + 1) * (2 * min(j, l) + 1)
    found = {"counts_wrong": float(wrong), "counts_beyond": float(beyond)}
    if whole:
        for name in NETWORKS:
            found[f"parameters_{name}"] = float(getattr(voxels, name)().n_params)
        found["shape_sides_wrong"] = float(_sides() != [34, 38, 21, 25, 15, 19, 12, 16])
    return found


def _sides() -> list[int]:
    """Sides along the network for shapes of 64 voxels."""
    from regimes.nets import voxels

    side, found = 64, []
    for layer in voxels.ShapesSteerable().features:
        if isinstance(layer, voxels.SteerableConv3d):
            side = (side + 2 * layer.padding - layer.size) // layer.stride + 1
            found.append(side)
    return found
