"""Kernels on the sphere and in space: what the stabiliser of a point leaves of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

PARITIES = {  # (order, parity) in and out: how many kernels at a radius
    "1o -> 1o": ((1, -1), (1, -1), 2),
    "1o -> 1e": ((1, -1), (1, 1), 1),
    "0e -> 0o": ((0, 1), (0, -1), 0),
}
_MIRROR = np.diag([-1.0, 1.0, 1.0])  # keeps the axis z
OfMatrix = Callable[[np.ndarray], np.ndarray]


def _turns(seed: int, stream: str) -> np.ndarray:
    """Two rotations about z in general position, by 0.5 to 2.5."""
    import torch

    from regimes._random import generator
    from regimes._rotations import rotation_matrix

    angles = 0.5 + 2 * torch.rand(2, generator=generator(seed, stream), dtype=torch.float64)
    return rotation_matrix(angles, 0.0, 0.0).numpy()


def _spin(k: int) -> OfMatrix:
    """Rotations about z turn k times as fast; 0 is the number 1."""

    def rho(R: np.ndarray) -> np.ndarray:
        if k == 0:
            return np.ones((1, 1))
        angle = k * np.arctan2(R[1, 0], R[0, 0])
        return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

    return rho


def _wigner(l: int, parity: int = 0) -> OfMatrix:
    """D^l of rotations, and with a parity of mirrors."""
    import torch

    from regimes._rotations import real_wigner

    def rho(R: np.ndarray) -> np.ndarray:
        proper = float(np.sign(np.linalg.det(R)))
        D = real_wigner(l, torch.from_numpy(proper * R)).numpy()
        return D if proper > 0 else parity * D

    return rho


def sphere(max_spin: int, latitudes: int, seed: int) -> dict[str, float]:
    """EQU-53: numbers of kernels that differ from the theory's, by latitude and at the poles."""
    import torch

    from regimes import theory
    from regimes._rotations import random_rotations, rotation_matrix, zyz_angles

    free = poles = zonal = 0
    around = _turns(seed, "groups/sphere")
    for k1 in range(max_spin + 1):
        for k2 in range(max_spin + 1):
            one, two = _spin(k1), _spin(k2)
            d1, d2 = (2 if k else 1 for k in (k1, k2))
            hom = (2 if k1 else 1) if k1 == k2 else 0  # maps that commute with SO(2)
            for step in range(latitudes + 2):
                beta = np.pi * step / (latitudes + 1)
                gamma = rotation_matrix(0.0, beta, 0.0).numpy()
                keeps = _stabiliser(around, gamma)
                found = len(theory.kernel_space_compact(keeps, one, two, representative=gamma))
                if 0 < step <= latitudes:
                    free += found != d1 * d2
                    zonal += k1 == k2 == 0 and found != 1
                else:
                    poles += found != hom
    R = random_rotations(20, seed)
    a, b, c = zyz_angles(R)  # every rotation is Z(a) Y(b) Z(c): b names its double coset
    apart = float((rotation_matrix(a, b, c) - R).abs().max())
    H = torch.from_numpy(around)
    heights = (H[:, None, None] @ R @ H[:, None])[..., 2, 2]  # cos b of all h R h'
    moved = float((heights - R[:, 2, 2]).abs().max())
    return {
        "latitudes_wrong": float(free),
        "poles_wrong": float(poles),
        "zonal_wrong": float(zonal),
        "segment_error": max(apart, moved),
    }


def _stabiliser(around: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """Those of some rotations about z that keep the point gamma n; at least the identity."""
    point = gamma[:, 2]
    kept = [h for h in around if np.abs(h @ point - point).max() < 1e-9]
    return np.stack(kept or [np.eye(3)])


def space(max_order: int, seed: int) -> dict[str, float]:
    """EQU-54: the same in space, at a radius and at the centre, and with mirrors."""
    from regimes import theory
    from regimes._rotations import random_rotations

    around, every = _turns(seed, "groups/space"), random_rotations(3, seed).numpy()
    wrong = 0
    for j in range(max_order + 1):
        for l in range(max_order + 1):
            out, given = _wigner(j), _wigner(l)
            wrong += len(theory.kernel_space_compact(around, given, out)) != 2 * min(j, l) + 1
            wrong += len(theory.kernel_space_compact(every, given, out)) != (j == l)
    mirrored = np.concatenate([around, _MIRROR[None]])
    parity = 0
    for given_type, out_type, expected in PARITIES.values():
        found = theory.kernel_space_compact(mirrored, _wigner(*given_type), _wigner(*out_type))
        parity += len(found) != expected
    return {"space_wrong": float(wrong), "parity_wrong": float(parity)}
