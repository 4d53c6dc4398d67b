"""Training of an image network by `flow.train_images`, side by side with a bare loop.

On a CPU MiniResNet(8) on images like MNIST's (bar: 0.8 of the bare loop's steps a second, CPU
time). On a GPU ResNet18 on images like those of CIFAR-10, batches of 128, shifts and mirrors,
bfloat16 (bar: 0.8, wall time). The bare loop has its images and random numbers where the network
is, and does nothing but the steps: no looks, checkpoints or evaluation.

    PYTHONPATH=src python3 benchmarks/image_training.py [--device cuda] [--steps 60] [--record]
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

import torch
from _machine import judged, options, save
from torch import Tensor, nn
from torch.nn import functional as F

from regimes import data, flow, nets

BATCH, RATE, DECAY, PAD = 128, 0.05, 5e-4, 4
LEAST = 0.8  # of the bare loop's steps a second


def images(shape: tuple[int, ...], count: int) -> data.Dataset:
    """Random pixels in ten classes: what they show does not change the time."""
    source = torch.Generator().manual_seed(0)
    x = torch.rand(count + 10, *shape, generator=source)
    y = torch.randint(10, (count + 10,), generator=source)
    return data.Dataset(
        x[:count],
        y[:count],
        x[count:],
        y[count:],
        name="random",
        description=("random pixels",),
        seed=0,
    )


def groups(net: nn.Module) -> list[dict[str, object]]:
    """Decay for what has more than one dimension."""
    wide = [each for each in net.parameters() if each.ndim > 1]
    flat = [each for each in net.parameters() if each.ndim <= 1]
    return [{"params": wide, "weight_decay": DECAY}, {"params": flat, "weight_decay": 0.0}]


def shifted(x: Tensor) -> Tensor:
    """Every image shifted by up to four pixels and half of them mirrored, on its device."""
    n, _, height, width = x.shape
    down, along = torch.randint(2 * PAD + 1, (2, n, 1), device=x.device)
    rows = torch.arange(height, device=x.device) + down
    columns = torch.arange(width, device=x.device).expand(n, width)
    mirrored = torch.rand(n, 1, device=x.device) < 0.5
    columns = torch.where(mirrored, columns.flip(1), columns) + along
    padded = F.pad(x, (PAD,) * 4).permute(0, 2, 3, 1)
    which = torch.arange(n, device=x.device)[:, None, None]
    return padded[which, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)


def bare(net: nn.Module, made: data.Dataset, steps: int, device: str, augment: bool) -> None:
    """The steps and nothing else."""
    x, y = made.x_train.to(device), made.y_train.to(device)
    fast = device == "cuda"
    descent = torch.optim.SGD(groups(net), lr=RATE, momentum=0.9, fused=fast)
    net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    net.train()
    order = torch.empty(0, dtype=torch.int64, device=device)
    for step in range(steps):
        if len(order) < BATCH:
            order = torch.randperm(len(x), device=device)
        points, order = order[:BATCH], order[BATCH:]
        batch = x[points]
        if augment:
            batch = shifted(batch)
        for group in descent.param_groups:
            group["lr"] = RATE * 0.5 * (1 + math.cos(math.pi * step / steps))
        descent.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.bfloat16, enabled=fast):
            found = net(batch.contiguous(memory_format=torch.channels_last))
            loss = F.cross_entropy(found, y[points])
        loss.backward()
        descent.step()


def ours(net: nn.Module, made: data.Dataset, steps: int, device: str, augment: bool) -> None:
    """The same by the trainer of this package, with its looks and its evaluation at the end."""
    flow.train_images(
        net,
        made,
        steps=steps,
        rate=RATE,
        weight_decay=DECAY,
        batch_size=BATCH,
        augment=data.ShiftAugment(PAD, mirror=True) if augment else None,
        evaluate=BATCH,
        precision="bfloat16" if device == "cuda" else "float32",
    )


def seconds(work: Callable[[], None], device: str) -> float:
    """CPU time on a CPU, wall time on a GPU."""
    clock = time.perf_counter if device == "cuda" else time.process_time
    if device == "cuda":
        torch.cuda.synchronize()
    start = clock()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    return clock() - start


def main() -> int:
    """Train in turn, print, and with --record keep."""
    parser = options(__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=0, help="of a run; 0: 25 on a CPU, else 200")
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args()
    device, fast = chosen.device, chosen.device == "cuda"
    steps = chosen.steps or (200 if fast else 25)
    made = images((3, 32, 32) if fast else (1, 28, 28), 8000)

    def network() -> nn.Module:
        if fast:
            return nets.make("resnet18", made.in_shape, 10, device=device)
        return nets.make("resnet10", made.in_shape, 10, device=device, base=8)

    took: dict[str, list[float]] = {"ours": [], "bare": []}
    for turn in range(chosen.repeats + 1):  # the first warms up
        for name, run in (("ours", ours), ("bare", bare)):
            work = partial(run, network(), made, steps, device, fast)
            spent = seconds(work, device)
            if turn:
                took[name].append(spent)
    rates = {name: steps / statistics.median(spent) for name, spent in took.items()}
    ratio = rates["ours"] / rates["bare"]
    what = "ResNet18, 3 x 32 x 32, bfloat16, shifts" if fast else "MiniResNet(8), 1 x 28 x 28"
    print(f"{what}: {rates['ours']:.1f} steps/s ours, {rates['bare']:.1f} bare, ratio {ratio:.3f}")
    record = {
        "network": what,
        "clock": "wall" if fast else "cpu",
        "steps": steps,
        "repeats": chosen.repeats,
        "steps_per_second": rates,
        "ratio": ratio,
        "bar": LEAST,
    }
    save(f"image_training_{device}", record, chosen.record)
    return judged([] if ratio >= LEAST else ["steps per second"], chosen.record)


if __name__ == "__main__":
    sys.exit(main())
