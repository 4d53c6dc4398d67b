"""Networks on the sphere: against a loop over orders, and transforms against their own parts.

The network of digits at the paper's size, forward and backward with 32 signals, against the same
network written as a loop over the orders l with slices. Transforms at b = 30 there and back,
against their matrix products and FFTs alone, on arrays that lie ready. Bars: the loop takes at
least 2.5 times as long, a round trip at most 3 times.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from _machine import in_turns, judged, machine, options, save
from torch import Tensor, nn

from regimes.nets import sphere
from regimes.nets.sphere import _tables

LOOP_BAR, TRANSFORM_BAR = 2.5, 3.0
ROUNDS, BATCH, B = 7, 32, 30
S2_CHANNELS, SO3_CHANNELS = 32, 4


class _Loop(nn.Module):
    """`SphericalMNIST` as one would write it: complex coefficients, and a loop over the orders.

    The same points, weights and scales; the transform of each order is a product with its own
    table of Wigner's d, and lands in a slice of the coefficients or of the waves.
    """

    def __init__(self, net: sphere.SphericalMNIST):
        super().__init__()
        self.first, self.second, self.readout = net.sphere, net.rotations, net.readout
        at = sphere.s2_near_identity(), sphere.so3_near_identity()
        self.first_table = [
            sphere.wigner_matrix(l, at[0][:, 0], at[0][:, 1], 0.0)[:, :, l]
            .conj()
            .to(torch.complex64)
            for l in range(self.first.b_out)
        ]
        self.second_table = [
            sphere.wigner_matrix(l, *at[1].unbind(1)).conj().to(torch.complex64)
            for l in range(self.second.b_out)
        ]
        self.d: dict[int, list[Tensor]] = {}
        self.weights: dict[int, Tensor] = {}
        for b in (self.first.b_in, self.first.b_out, self.second.b_out):
            beta, _ = sphere.grid_angles(b)
            self.d[b] = [sphere.wigner_d(l, beta).to(torch.complex64) for l in range(b)]
            self.weights[b] = sphere.beta_weights(b).to(torch.complex64)

    def forward(self, x: Tensor) -> Tensor:
        """Logits of signals (n, 1, 2b, 2b)."""
        b, middle, last = self.first.b_in, self.first.b_out, self.second.b_out
        waves = torch.fft.ifft(x.to(torch.complex64))
        spectra = []
        weight = (self.first.weight * self.first.scale).to(torch.complex64)
        for l in range(middle):
            rows = torch.cat([waves[..., 2 * b - l :], waves[..., : l + 1]], -1)
            table = self.d[b][l][:, :, l] * self.weights[b][:, None]
            f = torch.einsum("zckm,km->zcm", rows, table)
            psi = torch.einsum("ocp,pn->ocn", weight, self.first_table[l])
            spectra.append(torch.einsum("zcm,ocn->zomn", f, psi.conj()))
        x = self._back(spectra, middle) + self.first.bias[:, None, None, None]
        x = x.relu()
        waves = torch.fft.ifft2(x.to(torch.complex64))
        spectra = []
        weight = (self.second.weight * self.second.scale).to(torch.complex64)
        for l in range(last):
            rows = torch.cat([waves[..., 2 * middle - l :, :], waves[..., : l + 1, :]], -2)
            both = torch.cat([rows[..., 2 * middle - l :], rows[..., : l + 1]], -1)
            table = self.d[middle][l] * self.weights[middle][:, None, None]
            f = torch.einsum("zckmn,kmn->zcmn", both, table)
            psi = torch.einsum("ocp,pmn->ocmn", weight, self.second_table[l])
            spectra.append(torch.einsum("zcmk,ocnk->zomn", f, psi.conj()))
        x = self._back(spectra, last) + self.second.bias[:, None, None, None]
        return self.readout(sphere.so3_integrate(x.relu()))

    def _back(self, spectra: list[Tensor], b: int) -> Tensor:
        z, c = spectra[0].shape[:2]
        waves = spectra[0].new_zeros(z, c, 2 * b, 2 * b, 2 * b)
        for l, F in enumerate(spectra):
            part = torch.einsum("zcmn,kmn->zckmn", (2 * l + 1) * F, self.d[b][l])
            low, up = slice(2 * b - l, 2 * b), slice(0, l + 1)
            waves[..., up, up] += part[..., l:, l:]
            if l:
                waves[..., low, up] += part[..., :l, l:]
                waves[..., up, low] += part[..., l:, :l]
                waves[..., low, low] += part[..., :l, :l]
        return torch.fft.fft2(waves).real


def _training(net: nn.Module, x: Tensor) -> Callable[[], object]:
    def run() -> None:
        net.zero_grad()
        net(x).square().sum().backward()

    return run


def _s2_parts() -> Callable[[], object]:
    """The FFTs and products of a round trip on the sphere, without anything between them."""
    forward, backward = _tables.s2_tables(B, B, torch.float32, torch.device("cpu"))
    x = torch.randn(S2_CHANNELS, 2 * B, 2 * B)
    waves = torch.randn(B, 2 * B, 2 * S2_CHANNELS)
    sums = torch.randn(B, B, 2 * S2_CHANNELS)
    half = torch.randn(S2_CHANNELS, 2 * B, B, dtype=torch.complex64)

    def run() -> None:
        torch.fft.rfft(x)
        torch.bmm(forward, waves)
        torch.bmm(backward, sums)
        torch.fft.irfft(half, n=2 * B)

    return run


def _so3_parts() -> Callable[[], object]:
    forward, backward = _tables.so3_tables(B, B, torch.float32, torch.device("cpu"))
    x = torch.randn(SO3_CHANNELS, 2 * B, 2 * B, 2 * B)
    waves = torch.randn(len(forward), 2 * B, 2 * SO3_CHANNELS)
    sums = torch.randn(len(forward), B, 2 * SO3_CHANNELS)
    half = torch.randn(SO3_CHANNELS, 2 * B, 2 * B, B, dtype=torch.complex64)

    def run() -> None:
        torch.fft.fft(torch.fft.rfft(x)[..., :B], dim=-2)
        torch.bmm(forward, waves)
        torch.bmm(backward, sums)
        torch.fft.irfft(torch.fft.ifft(half, dim=-2), n=2 * B)

    return run


def _round_trip(channels: int, on_sphere: bool) -> Callable[[], object]:
    x = torch.randn(channels, *[2 * B] * (2 if on_sphere else 3))

    def run() -> Tensor:
        if on_sphere:
            return sphere.s2_ifft(sphere.s2_fft(x), B, real=True)
        return sphere.so3_ifft(sphere.so3_fft(x), B, real=True)

    return run


def main() -> int:
    """Measure the network and both transforms."""
    chosen = options(__doc__).parse_args()
    print(machine())
    torch.manual_seed(0)
    missed = []

    net = sphere.SphericalMNIST()
    loop = _Loop(net)
    x = torch.randn(BATCH, 1, 2 * B, 2 * B)
    with torch.no_grad():
        out = net(x[:2])
        gap = float((loop(x[:2]) - out).abs().max() / out.abs().max())
    if gap > 1e-4:
        raise RuntimeError(f"the two networks differ by {gap:.2g}; their times cannot be compared")
    slow, fast, ratio = in_turns(_training(loop, x), _training(net, x), rounds=3)
    print(
        f"network of digits, batch {BATCH}, forward and backward: {fast:.2f} s; the loop over "
        f"orders takes {ratio:.2f} x as long (bar {LOOP_BAR})"
    )
    if ratio < LOOP_BAR:
        missed.append(f"network: {ratio:.2f} < {LOOP_BAR}")
    record: dict[str, object] = {
        "bars": {"loop": LOOP_BAR, "transform": TRANSFORM_BAR},
        "network": {"seconds": fast, "loop_seconds": slow, "ratio": ratio, "difference": gap},
    }

    with torch.no_grad():
        for name, channels, parts in (
            ("S2", S2_CHANNELS, _s2_parts()),
            ("SO(3)", SO3_CHANNELS, _so3_parts()),
        ):
            whole, alone, ratio = in_turns(_round_trip(channels, name == "S2"), parts, ROUNDS)
            print(
                f"{name} round trip, b = {B}, {channels} signals: {1e3 * whole:.1f} ms, "
                f"{ratio:.2f} x its products and FFTs alone (bar {TRANSFORM_BAR})"
            )
            if ratio > TRANSFORM_BAR:
                missed.append(f"{name}: {ratio:.2f} > {TRANSFORM_BAR}")
            record[name] = {"seconds": whole, "parts_seconds": alone, "ratio": ratio}

    save("spherical", record, chosen.record)
    return judged(missed, chosen.record)


if __name__ == "__main__":
    raise SystemExit(main())
