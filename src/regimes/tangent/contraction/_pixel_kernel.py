"""The sum over taps, positions and outputs of `_overlap.py` in one pass on a GPU.

A program has one row sample and a strip of column samples, which are side by side in memory: what a
tap shifts is then whole strips, and every number is read from the main memory once.
"""

from __future__ import annotations

import warnings

import torch
import triton
import triton.language as tl
from torch import Tensor

from regimes.tangent.contraction._overlap import Overlap

STRIP, WARPS = 128, 4  # column samples of a program, and its warps


# Triton reads annotations as code: those of arguments that are no constants are left out.
@triton.jit  # type: ignore[untyped-decorator]
def _contract(  # type: ignore[no-untyped-def]
    x,
    g,
    out,
    row_scale,
    column_scale,
    n,
    k,
    pitch,
    x_phase,
    x_row,
    g_row,
    out_row,
    out_output,
    T: tl.constexpr,
    TX: tl.constexpr,
    UY: tl.constexpr,
    UX: tl.constexpr,
    KY: tl.constexpr,
    KX: tl.constexpr,
    SY: tl.constexpr,
    SX: tl.constexpr,
    PY: tl.constexpr,
    PX: tl.constexpr,
    DY: tl.constexpr,
    DX: tl.constexpr,
    Q: tl.constexpr,
    STRIP: tl.constexpr,
    SUM: tl.constexpr,
):
    i = tl.program_id(0).to(tl.int64)
    output = tl.program_id(2)
    q = tl.arange(0, Q)
    j = tl.program_id(1) * STRIP + tl.arange(0, STRIP)
    qy = q // TX
    qx = q % TX
    inside = j < pitch
    total = tl.zeros((Q, STRIP), SUM)
    for p in range(T):
        py = p // TX
        px = p % TX
        shared = tl.zeros((Q, STRIP), SUM)
        for ky in tl.static_range(KY):
            for kx in tl.static_range(KX):
                down = (ky * DY - PY) // SY
                right = (kx * DX - PX) // SX
                phase = ((ky * DY - PY) % SY) * SX + (kx * DX - PX) % SX
                uy = py + down
                ux = px + right
                vy = qy + down
                vx = qx + right
                row = (uy >= 0) & (uy < UY) & (ux >= 0) & (ux < UX)
                column = (q < T) & (vy >= 0) & (vy < UY) & (vx >= 0) & (vx < UX)
                start = x + phase * x_phase + ((uy * UX + ux) * n + i) * x_row
                place = (vy * UX + vx)[:, None] * pitch + j[None, :]
                seen = (column & row)[:, None] & inside[None, :]
                shared += tl.load(start + place, mask=seen, other=0.0).to(SUM)
        start = g + (p * n + i) * g_row + output * T * pitch
        place = q[:, None] * pitch + j[None, :]
        pairs = tl.load(start + place, mask=(q < T)[:, None] & inside[None, :], other=0.0)
        total += shared * pairs.to(SUM)
    found = tl.sum(total, 0)
    there = j < k
    found *= tl.load(row_scale + i) * tl.load(column_scale + j, mask=there, other=0.0)
    into = out + i * out_row + output * out_output + j
    tl.store(into, tl.load(into, mask=there, other=0.0) + found, mask=there)


def add_contracted_(
    out: Tensor,
    overlap: Overlap,
    x: Tensor,
    g: Tensor,
    rows: Tensor,
    columns: Tensor,
    *,
    strip: int = STRIP,
    warps: int = WARPS,
) -> None:
    """Add K times the scales of its rows and columns to `out`.

    Args:
        out: (n, outputs, k), its last axis in one run of memory.
        overlap: geometry.
        x: (phases, cells n, cells pitch), contiguous, of `pitch` >= k columns a cell.
        g: (T n, outputs T pitch), contiguous.
        rows: scales of the rows (n,), in the precision of `out`.
        columns: scales of the columns (k or more,).
        strip: column samples of a program.
        warps: of a program.
    """
    n, outputs, k = out.shape
    spots = overlap.spots
    pitch = g.shape[1] // (outputs * spots)
    grid = (n, triton.cdiv(k, strip), outputs)
    (ky, kx), (sy, sx), (py, px), (dy, dx) = (
        overlap.kernel,
        overlap.stride,
        overlap.padding,
        overlap.dilation,
    )
    _contract[grid](
        x,
        g,
        out,
        rows,
        columns,
        n,
        k,
        pitch,
        x.stride(0),
        x.stride(1),
        g.stride(0),
        out.stride(0),
        out.stride(1),
        T=spots,
        TX=overlap.positions[1],
        UY=overlap.grid[0],
        UX=overlap.grid[1],
        KY=ky,
        KX=kx,
        SY=sy,
        SX=sx,
        PY=py,
        PX=px,
        DY=dy,
        DX=dx,
        Q=triton.next_power_of_2(spots),
        STRIP=strip,
        SUM=tl.float64 if out.dtype == torch.float64 else tl.float32,
        num_warps=warps,
    )


def works(device: torch.device) -> bool:
    """Whether the kernel compiles here and finds what plain operations find."""
    overlap = Overlap((2, 3), (3, 5), (3, 2), (2, 2), (1, 1), (1, 1))
    n, k, pitch = 3, 5, 16
    draws = torch.Generator().manual_seed(0)
    x = torch.randn(overlap.phases, overlap.cells * n, overlap.cells * pitch, generator=draws).to(
        device
    )
    g = torch.randn(overlap.spots * n, 2 * overlap.spots * pitch, generator=draws).to(device)
    out = torch.zeros(n, 2, k, device=device)
    ones = out.new_ones(pitch)
    try:
        add_contracted_(out, overlap, x, g, ones, ones)
    except (RuntimeError, OSError, ImportError, ValueError, triton.TritonError) as error:
        reason = str(error).strip().splitlines()
        warnings.warn(
            "Triton is here but cannot run the kernel for convolutions on small maps "
            f"({type(error).__name__}: {reason[-1] if reason else ''}); their Grams take longer",
            stacklevel=2,
        )
        return False
    true = overlap.contracted(
        x.view(overlap.phases, overlap.cells, n, overlap.cells, pitch),
        g.view(overlap.spots, n, 2, overlap.spots, pitch),
    )[..., :k]
    return bool((out - true).norm() < 1e-5 * true.norm())
