"""Smooth deformations of CIFAR-sized images: ours against a loop, and against an elastic transform.

`python benchmarks/deformations.py [--device cuda] [--images 1000] [--record]`. The loop is the same
formula for one image after the other, without a batch. Torchvision's elastic transform (where it is
installed) draws a random field for each image and smooths it by a Gaussian; it is called image by
image as a pipeline does, with a smoothing of the same correlation length. On a GPU ours is also
compared with the time to read and write the images and to read the fields once.
"""

import math
import sys
import time
from collections.abc import Callable

import torch
from _machine import judged, options, save
from torch.nn import functional as F

from regimes import data

N, C = 32, 3.0
LEAST, MOST = 20.0, 3.0  # times faster than the loop; times the traffic of a GPU's memory


def one(image: torch.Tensor, T: float, c: float) -> torch.Tensor:
    """The formula for one image: sums over sines, then the four neighbours of each pixel."""
    n, m = image.shape[-1], math.ceil(c)
    k = torch.arange(1, m + 1, device=image.device)
    i, j = torch.meshgrid(k, k, indexing="ij")
    r = (i**2 + j**2).sqrt()
    s = torch.sin(torch.pi * torch.linspace(0, 1, n, device=image.device)[:, None] * k)
    dx, dy = (
        n * T**0.5 * torch.einsum("ij,xi,yj->yx", torch.randn(m, m, device=r.device) * e, s, s)
        for e in [(r < c + 0.5) / r] * 2
    )
    y, x = torch.meshgrid(*[torch.arange(n, device=image.device)] * 2, indexing="ij")
    a, b = (x - dx).clamp(0, n - 1), (y - dy).clamp(0, n - 1)
    left, top, right, bottom = a.floor().long(), b.floor().long(), a.ceil().long(), b.ceil().long()
    u, v = a - left, b - top
    return (1 - v) * ((1 - u) * image[:, top, left] + u * image[:, top, right]) + v * (
        (1 - u) * image[:, bottom, left] + u * image[:, bottom, right]
    )


def elastic(device: str) -> Callable[[torch.Tensor], torch.Tensor] | None:
    """Torchvision's transform with a field as smooth as ours, image by image."""
    try:
        from torchvision.transforms.v2 import ElasticTransform  # type: ignore[import-not-found]
    except ImportError:
        return None
    change = ElasticTransform(alpha=30.0, sigma=N / (2 * C))
    return lambda x: torch.stack([change(image) for image in x])


def seconds(run: Callable[[], object], device: str, least: float = 0.5) -> float:
    """The shortest wall time of several runs."""
    clock = time.perf_counter
    run()
    best, spent = float("inf"), 0.0
    while spent < least:
        if device != "cpu":
            torch.cuda.synchronize()
        start = clock()
        run()
        if device != "cpu":
            torch.cuda.synchronize()
        took = clock() - start
        best, spent = min(best, took), spent + took
    return best


def main() -> int:
    """Time, print, and with --record keep."""
    parser = options(__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--large", type=int, default=200_000, help="images of the GPU's comparison")
    chosen = parser.parse_args()
    device = chosen.device
    source = torch.Generator().manual_seed(0)
    x = torch.rand(chosen.images, 3, N, N, generator=source).to(device)
    T = data.temperature(1.0, C, N)
    ours = seconds(lambda: data.deform(x, T, C), device)
    loop = seconds(lambda: torch.stack([one(image, T, C) for image in x]), device)
    table = {"ours_ms": 1e3 * ours, "loop_ms": 1e3 * loop, "loop_over_ours": loop / ours}
    other = elastic(device)
    if other is None:
        print("torchvision is not installed: no comparison with its elastic transform")
    else:
        peer = seconds(lambda: other(x), device)
        table |= {"torchvision_ms": 1e3 * peer, "torchvision_over_ours": peer / ours}
    if device != "cpu":
        field = data.sample_field(N, T, C, chosen.large, device=device)
        moved, images = field.pixels(), x[:1].expand(chosen.large, -1, -1, -1).contiguous()
        out = torch.empty_like(images)
        traffic = seconds(lambda: (out.copy_(images), moved.sum()), device)
        whole = seconds(lambda: data.displace(images, field), device)
        plain = seconds(lambda: F.interpolate(images, scale_factor=1.0), device)
        table |= {"large": chosen.large, "displace_ms": 1e3 * whole, "traffic_ms": 1e3 * traffic}
        table |= {"displace_over_traffic": whole / traffic, "plain_copy_ms": 1e3 * plain}
    for name, value in table.items():
        print(f"{name:24} {value:12.3f}")
    save(f"deformations_{device}", {"images": chosen.images} | table, chosen.record)
    missed = ["times the loop"] if table["loop_over_ours"] < LEAST else []
    missed += ["times the traffic"] if table.get("displace_over_traffic", 0.0) > MOST else []
    return judged(missed, chosen.record)


if __name__ == "__main__":
    sys.exit(main())
