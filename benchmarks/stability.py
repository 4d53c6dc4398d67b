"""What `measure.stability` costs beside the forward passes it cannot do without.

ResNet18 on 500 images like CIFAR-10's: 1,500 images go through the network, as they are, deformed
and noisy (bar: 1.15 times the passes alone, in turn; CPU time, on a GPU wall time). Deforming,
noise, three medians and their errors over resamples are the rest.

    PYTHONPATH=src python3 benchmarks/stability.py [--device cuda] [--images 500] [--record]
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import torch
from _machine import judged, options, save

from regimes import measure, nets

BATCH = 256  # images of a pass
MOST = 1.15  # times the forward passes


def main() -> int:
    """Time in turn, print, and with --record keep."""
    parser = options(__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--images", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    device, fast = chosen.device, chosen.device == "cuda"
    x = torch.rand(chosen.images, 3, 32, 32, generator=torch.Generator().manual_seed(0)).to(device)
    net = nets.make("resnet18", (3, 32, 32), 10, device=device).eval()
    clock = time.perf_counter if fast else time.process_time

    def passes() -> None:
        with torch.no_grad():
            for some in torch.cat([x, x, x]).split(BATCH):
                net(some)

    def whole() -> None:
        measure.stability(net, x, batch_norm="running")

    def seconds(work: Callable[[], None]) -> float:
        start = clock()
        work()
        if fast:
            torch.cuda.synchronize()
        return clock() - start

    if fast:
        passes()
        whole()
        torch.cuda.synchronize()
    took = [(seconds(whole), seconds(passes)) for _ in range(chosen.repeats)]
    ours, alone = (statistics.median(column) for column in zip(*took, strict=True))
    ratio = statistics.median(each / other for each, other in took)
    print(f"stability {ours:.3f} s, forward passes {alone:.3f} s, ratio {ratio:.3f}")
    record = {
        "network": "ResNet18, 3 x 32 x 32",
        "images": chosen.images,
        "clock": "wall" if fast else "cpu",
        "stability_seconds": ours,
        "passes_seconds": alone,
        "ratio": ratio,
        "ratios": [each / other for each, other in took],
        "bar": MOST,
    }
    save(f"stability_{device}", record, chosen.record)
    missed = ["stability over forward passes"] if ratio > MOST and not fast else []
    return judged(missed, chosen.record)


if __name__ == "__main__":
    sys.exit(main())
