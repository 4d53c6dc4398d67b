"""A steerable convolution against a plain one with the same channels: forward, and with backward.

In eval mode the kernel is expanded once; in training it is made anew at every step. Bar: the
forward in eval mode takes at most 1.3 times as long.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from _machine import in_turns, judged, machine, options, save
from torch import Tensor, nn

from regimes.nets import voxels

BAR = 1.3
ROUNDS = 15
# name: fields in, fields out, batch, voxels a side
LAYERS = {
    "Tetris, second layer": ((4, 4, 4, 1), (16, 16, 16), 2, 22),
    "shapes, third layer": ((16, 8, 4), (16, 8, 4), 2, 21),
    "proteins, second stage": ((4, 4, 4, 4), (4, 4, 4, 4), 2, 25),
}


def _forward(layer: nn.Module, x: Tensor) -> Callable[[], object]:
    def run() -> Tensor:
        with torch.no_grad():
            return layer(x)

    return run


def _both(layer: nn.Module, x: Tensor) -> Callable[[], object]:
    def run() -> None:
        layer.zero_grad()
        layer(x).sum().backward()

    return run


def main() -> int:
    """Measure all layers."""
    chosen = options(__doc__).parse_args()
    print(machine())
    rows, missed = {}, []
    for name, (given, out, batch, side) in LAYERS.items():
        source = torch.Generator().manual_seed(0)
        conv = voxels.SteerableConv3d(given, out, 5, padding=2)
        conv.draw_parameters(source)
        plain = conv.to_conv3d()
        x = torch.randn(batch, conv.type_in.dim, side, side, side, generator=source)
        forward = in_turns(_forward(conv.eval(), x), _forward(plain, x), ROUNDS)
        training = in_turns(_both(conv.train(), x), _both(plain, x), ROUNDS)
        rows[name] = {
            "channels": [conv.type_in.dim, conv.type_out.dim],
            "input": list(x.shape),
            "forward_seconds": forward[:2],
            "forward_ratio": forward[2],
            "training_ratio": training[2],
        }
        print(
            f"{name}: {x.shape[1]} -> {conv.type_out.dim} channels, {side}^3: forward "
            f"{1e3 * forward[0]:.1f} ms, {forward[2]:.2f} x plain; with backward "
            f"{training[2]:.2f} x plain"
        )
        if forward[2] > BAR:
            missed.append(f"{name}: forward {forward[2]:.2f} > {BAR}")
    save("steerable_conv", {"bar": BAR, "layers": rows}, chosen.record)
    return judged(missed, chosen.record)


if __name__ == "__main__":
    raise SystemExit(main())
