"""What is checked for other studies of the theme: molecules, lists of retrieval, shapes."""

from __future__ import annotations

import math

LABELS = (0, 0, 0, 1, 1, 2)
LISTS = ((0, 3, 1), (1, 0, 2), (), (4, 3), (5, 2, 0, 4), (0, 5))
_LOG3, _LOG5 = math.log2(3), math.log2(5)
# worked by hand: precision, recall, F1, average precision, gain of each query
BY_HAND = (
    (2 / 3, 2 / 3, 2 / 3, (1 + 2 / 3) / 3, 1.5 / (1.5 + 1 / _LOG3)),
    (1.0, 1.0, 1.0, 1.0, 1.0),
    (0.0, 0.0, 0.0, 0.0, 0.0),
    (1.0, 1.0, 1.0, 1.0, 1.0),
    (1 / 4, 1 / 2, 1 / 3, 1 / 8, 1 / _LOG5 / (1 + 1 / _LOG3)),
    (1 / 2, 1.0, 2 / 3, 1 / 2, 1 / _LOG3),
)


def molecules(seed: int, b: int = 10, atoms: int = 7) -> dict[str, float]:
    """EQU-23: potentials of a shifted molecule, and of one turned by a step of the grid."""
    import torch

    from regimes import data
    from regimes._random import generator
    from regimes.nets import sphere

    source = generator(seed, "transforms/molecules")
    kinds = torch.tensor(data.ELEMENTS)
    Z = kinds[torch.randint(0, len(kinds), (1, atoms), generator=source)]
    R = 2 * torch.randn(1, atoms, 3, generator=source, dtype=torch.float64)
    shift = 5 * torch.randn(3, generator=source, dtype=torch.float64)
    U = data.molecule_to_spheres(Z, R, b, 0.2)
    size = U.abs().max()
    moved = data.molecule_to_spheres(Z, R + shift, b, 0.2)
    turn = sphere.rotation_matrix(math.pi / b, 0.0, 0.0)
    turned = data.molecule_to_spheres(Z, R @ turn.mT, b, 0.2)
    return {
        "molecule_shift": float((moved - U).abs().max() / size),
        "molecule_turn": float((turned - U.roll(1, -1)).abs().max() / size),
    }


def hand_made_lists() -> dict[str, float]:
    """EQU-19: the largest difference to the scores worked by hand, of queries and of means."""
    import torch

    from regimes import measure

    labels = torch.tensor(LABELS)
    found = measure.retrieval([list(each) for each in LISTS], labels)
    each = torch.tensor(BY_HAND, dtype=torch.float64)
    macro = torch.stack([each[labels == k].mean(0) for k in range(3)]).mean(0)
    gaps = [
        (found.each - each).abs().max(),
        (torch.tensor([*found.micro], dtype=torch.float64) - each.mean(0)).abs().max(),
        (torch.tensor([*found.macro], dtype=torch.float64) - macro).abs().max(),
    ]
    return {"retrieval_gap": float(max(gaps))}


def shapes(b: int, whole: bool) -> dict[str, float]:
    """EQU-17: parameters of the network of shapes, and the shape of its input."""
    from regimes import data
    from regimes.nets import sphere

    channels, latitudes, longitudes = data.mesh_to_sphere(*data.solid_mesh("cross"), b).shape
    found = {
        "shape_channels": float(channels),
        "shape_latitudes": float(latitudes),
        "shape_longitudes": float(longitudes),
    }
    if whole:
        net = sphere.SphericalShapes()
        found["parameters_shapes"] = float(sum(each.numel() for each in net.parameters()))
    return found
