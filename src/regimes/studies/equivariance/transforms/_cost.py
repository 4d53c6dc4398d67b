"""What a correlation on SO(3) takes: through the transform, and as the integral it is."""

from __future__ import annotations

import time

from regimes.lab import Array

_RUNS = 5


def seconds(bandwidths: tuple[int, ...], at_most: int, seed: int) -> dict[str, Array]:
    """EQU-12: CPU seconds of one channel, both ways, and how far the results differ."""
    import torch

    from regimes._random import generator
    from regimes.nets import sphere

    fast, slow, gaps = [], [], []
    for b in bandwidths:
        source = generator(seed, f"transforms/cost/{b}")
        f, psi = torch.randn(2, 2 * b, 2 * b, 2 * b, generator=source, dtype=torch.float64)
        f, psi = (sphere.so3_ifft(sphere.so3_fft(each), b, real=True) for each in (f, psi))
        beta, alpha = sphere.grid_angles(b)
        every = torch.cartesian_prod(beta, alpha, alpha)
        step = -(-len(every) // at_most)
        chosen = every[::step]
        rotations = sphere.rotation_matrix(chosen[:, 1], chosen[:, 0], chosen[:, 2])

        def spectral(f: torch.Tensor = f, psi: torch.Tensor = psi, b: int = b) -> torch.Tensor:
            F, G = sphere.so3_fft(f), sphere.so3_fft(psi)
            return sphere.so3_ifft(F @ G.mH, b, real=True)

        out = spectral()  # the tables are made here
        start = time.process_time()
        for _ in range(_RUNS):
            spectral()
        fast.append(max((time.process_time() - start) / _RUNS, 1e-9))
        start = time.process_time()
        direct = torch.stack(
            [sphere.so3_integrate(sphere.rotate_so3(psi, R) * f) for R in rotations]
        )
        slow.append((time.process_time() - start) * len(every) / len(rotations))
        gap = (direct - out.flatten()[::step]).abs().max() / out.abs().max()
        gaps.append(float(gap))
    return {
        "cost_b": Array("cost_b", list(bandwidths)),
        "spectral_seconds": Array("cost_b", fast),
        "direct_seconds": Array("cost_b", slow),
        "cost_gap": Array("cost_b", gaps),
    }
