"""Memory kept as promised, and none kept for good: every number from a process of its own.

Run `python benchmarks/memory.py`, with `--record` to keep the table. Peaks are of resident memory
above the start, where the start is after one call on four samples of a network of the same kind:
what torch loads once is nobody's promise. A promise is kept when the peak is at most ten per cent
above the `memory` asked for, or when the call is refused with the least that would do. Slopes are
resident memory per further new network.
"""

from __future__ import annotations

import dataclasses
import gc
import multiprocessing
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from _machine import options, save
from torch import Tensor, nn

import regimes as rg
from regimes import flow
from regimes._memory import give_back, parse_bytes, readable
from regimes.tangent import TangentKernel, linearize, stacked_gram

MIB = 2**20
ALLOWED = 1.1
SLOPE = 0.4 * MIB  # bytes per network that a process may grow by

Work = Callable[[], Any]


class LSTM(nn.Module):
    """A recurrent network, of which the engine knows no structure."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.recurrent = nn.LSTM(16, hidden, batch_first=True)
        self.readout = nn.Linear(hidden, 1)

    def forward(self, x: Tensor) -> Tensor:
        """(n, T, 16) to (n, 1)."""
        return self.readout(self.recurrent(x)[0][:, -1])


class Attention(nn.Module):
    """A block of a transformer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.block = nn.TransformerEncoderLayer(width, 4, 4 * width, 0.0, batch_first=True)
        self.readout = nn.Linear(width, 1)

    def forward(self, x: Tensor) -> Tensor:
        """(n, T, width) to (n, 1)."""
        return self.readout(self.block(x).mean(1))


def mlp(width: int, outputs: int) -> nn.Module:
    """Two hidden layers on images of digits."""
    return rg.nets.MLP(784, width, 3, outputs)


IMAGE = (3, 32, 32)

# name -> (network, one to warm up with, shape of a sample, samples)
KINDS: dict[str, tuple[Callable[[], nn.Module], Callable[[], nn.Module], tuple[int, ...], int]] = {
    "MLP 100": (lambda: mlp(100, 1), lambda: mlp(10, 1), (784,), 2500),
    "MLP 1024, 10 outputs": (lambda: mlp(1024, 10), lambda: mlp(10, 10), (784,), 256),
    "LeNet5": (lambda: rg.nets.LeNet5(IMAGE, 1), lambda: rg.nets.LeNet5(IMAGE, 1), IMAGE, 2000),
    "ResNet18": (lambda: resnet(), lambda: resnet(), IMAGE, 200),
    "LSTM": (lambda: LSTM(64), lambda: LSTM(4), (20, 16), 1000),
    "attention": (lambda: Attention(64).eval(), lambda: Attention(64).eval(), (20, 64), 400),
}


def resnet() -> nn.Module:
    """Eighteen layers of 16 to 128 channels."""
    return rg.nets.ResNet18(IMAGE, 1, base=16, batch_norm=False)


def _inputs(kind: str, samples: int) -> Tensor:
    shape = KINDS[kind][2]
    return torch.randn(samples, *shape, generator=torch.Generator().manual_seed(0))


def kernel_call(kind: str, call: Callable[[TangentKernel, Tensor], Any], samples: int = 0) -> Any:
    """Warming up, and a call of the kernel of a network of this kind within a budget."""

    def made(memory: str) -> tuple[Work, Work]:
        make, small, _, usual = KINDS[kind]
        few = _inputs(kind, 4)
        network, x = make(), _inputs(kind, samples or usual)
        kernel = TangentKernel(network, memory=memory, copy=False)
        return lambda: call(TangentKernel(small()), few), lambda: call(kernel, x)

    return made


def flow_call(
    make: Callable[[int], nn.Module],
    members: int,
    *,
    data: Callable[[], rg.data.Dataset],
    front: Callable[..., Any] = flow.gradient_flow,
    **options: Any,
) -> Any:
    """The same for a flow of an ensemble."""

    def made(memory: str) -> tuple[Work, Work]:
        ds, ensemble = data(), rg.nets.stack(make, range(members))
        start = rg.nets.stack(make, range(2))
        return (
            lambda: front(start, ds, **options | {"max_steps": 3}),
            lambda: front(ensemble, ds, memory=memory, **options),
        )

    return made


def _shallow(seed: int) -> nn.Module:
    return rg.nets.FullyConnected(10, 100, parametrization="mean_field", bias=True, seed=seed)


def _deep(seed: int) -> nn.Module:
    return rg.nets.FullyConnected(10, 30, 3, activation="softplus_5", seed=seed)


def _lenet(seed: int) -> nn.Module:
    return rg.nets.LeNet5((1, 16, 16), 1, seed=seed)


def _stripe() -> rg.data.Dataset:
    return rg.data.stripe(n_train=500, n_test=500, d=10, seed=0)


def _images() -> rg.data.Dataset:
    ds = rg.data.random_labels(200, 200, 256, seed=0)
    train, test = ds.x_train.view(-1, 1, 16, 16), ds.x_test.view(-1, 1, 16, 16)
    return dataclasses.replace(ds, x_train=train, x_test=test)


MEMBERS = 200


def _stacked(memory: str) -> tuple[Work, Work]:
    members = rg.nets.stack(_deep, range(MEMBERS))
    few, x = rg.nets.stack(_deep, range(2)), _stripe().x_train[:400]
    return lambda: stacked_gram(few, x[:4]), lambda: stacked_gram(members, x, memory=memory)


@dataclass(frozen=True)
class Promise:
    """A call, the budgets it is tried with, and bytes of a result that are promised apart."""

    made: Callable[[str], tuple[Work, Work]]
    budgets: tuple[str, ...] = ("50MiB", "200MiB")
    beside: int = 0


def ones(x: Tensor) -> Tensor:
    """A vector to multiply with."""
    return torch.ones(len(x))


PROMISES = {
    "Gram, LeNet5": Promise(kernel_call("LeNet5", lambda k, x: k(x))),
    "Gram, MLP 1024, 10 outputs": Promise(
        kernel_call("MLP 1024, 10 outputs", lambda k, x: k(x))
    ),
    "Gram, ResNet18": Promise(kernel_call("ResNet18", lambda k, x: k(x))),
    "Gram, LSTM": Promise(kernel_call("LSTM", lambda k, x: k(x))),
    "Gram, attention": Promise(kernel_call("attention", lambda k, x: k(x)), ("50MiB",)),
    "by layer, LeNet5": Promise(
        kernel_call("LeNet5", lambda k, x: k.by_layer(x), 1000), ("50MiB",)
    ),
    "diagonal, ResNet18": Promise(kernel_call("ResNet18", lambda k, x: k.diagonal(x))),
    "product, LeNet5": Promise(
        kernel_call("LeNet5", lambda k, x: k.matvec(x, ones(x))), ("50MiB",)
    ),
    "product, LSTM": Promise(kernel_call("LSTM", lambda k, x: k.matvec(x, ones(x))), ("50MiB",)),
    "eigenpairs, dense": Promise(
        kernel_call("MLP 100", lambda k, x: k.top_eigenpairs(x, 3, method="dense"))
    ),
    "eigenpairs, auto": Promise(
        kernel_call("MLP 100", lambda k, x: k.top_eigenpairs(x, 3)), ("50MiB",)
    ),
    "features, MLP 100": Promise(kernel_call("MLP 100", lambda k, x: k.features(x), 500)),
    "features, LSTM": Promise(kernel_call("LSTM", lambda k, x: k.features(x))),
    "stacked_gram": Promise(_stacked, ("20MiB", "100MiB"), beside=4 * MEMBERS * 400**2),
    "flow, 2,000 of one layer": Promise(
        flow_call(_shallow, 2000, data=_stripe, alpha=0.1, divide_by="alpha", max_steps=25),
        ("20MiB", "135MiB", "200MiB"),
    ),
    "flow, 500 of three layers": Promise(
        flow_call(_deep, 500, data=_stripe, loss="softhinge_20", max_steps=25),
        ("20MiB", "60MiB", "200MiB"),
    ),
    "flow, 50 LeNet5": Promise(
        flow_call(_lenet, 50, data=_images, loss="softhinge_20", max_steps=3), ("150MiB", "200MiB")
    ),
    "descent, 500 of three layers": Promise(
        flow_call(
            _deep, 500, data=_stripe, front=flow.descend, rate=0.1, loss="hinge", batch_size=50,
            max_steps=25, check_every=5,
        ),
        ("60MiB",),
    ),
}  # fmt: skip


def wide() -> nn.Module:
    """16 MiB of weights."""
    return nn.Sequential(nn.Linear(10, 2900), nn.ReLU(), nn.Linear(2900, 1445), nn.ReLU(),
                         nn.Linear(1445, 1))  # fmt: skip


# name -> what is done with a new network; four samples or so
SLOPES: dict[str, Callable[[], Any]] = {
    "kernel of an MLP": lambda: TangentKernel(wide())(_stripe().x_train[:4]),
    "kernel of a ResNet18": lambda: TangentKernel(resnet())(_inputs("ResNet18", 4)),
    "kernel of an LSTM": lambda: TangentKernel(LSTM(512))(_inputs("LSTM", 4)),
    "linearised MLP": lambda: linearize(wide())(_stripe().x_train[:4]).sum().backward(),
    "flow of an MLP": lambda: flow.gradient_flow(wide(), _stripe(), max_steps=1),
    "flow of a LeNet5": lambda: flow.gradient_flow(_lenet(0), _images(), max_steps=1),
    "descent of an MLP": lambda: flow.descend(
        wide(), _stripe(), loss="hinge", rate=1e-4, max_steps=1
    ),
}


def status(key: str) -> int:
    """A line of what the system says of this process, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(key + ":"))


def measure_promise(name: str, memory: str) -> dict[str, Any]:
    """Peak of one call above the start, in this process."""
    warm, work = PROMISES[name].made(memory)
    warm()
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget earlier peaks
    before = status("VmRSS")
    try:
        kept = work()
    except ValueError as refusal:
        found = re.search(r"at least ([0-9.]+ \w+) is|give ([0-9.]+ \w+) or more", str(refusal))
        if found is None:
            raise
        return {"refused, would take": found[1] or found[2]}
    peak = status("VmHWM") - before - PROMISES[name].beside
    del kept
    return {"peak": peak}


def measure_slope(name: str, networks: int = 5) -> dict[str, float]:
    """Resident bytes per new network, after two."""
    call = SLOPES[name]
    sizes = []
    for _ in range(networks + 2):
        call()
        gc.collect()
        give_back()
        sizes.append(status("VmRSS"))
    return {"slope": (sizes[-1] - sizes[1]) / networks}


def fresh(measure: Callable[..., dict[str, Any]], *arguments: str) -> dict[str, Any]:
    """What a measurement gives in a process that has imported everything and done nothing yet."""
    with multiprocessing.get_context("fork").Pool(1) as one:
        return one.apply(measure, arguments)


def promises(only: str) -> list[dict[str, Any]]:
    """Every promise, printed as it is measured."""
    rows = []
    for name, promise in PROMISES.items():
        for memory in promise.budgets if re.search(only, name) else ():
            row = {"call": name, "promised": memory} | fresh(measure_promise, name, memory)
            text = f"refused, would take {row.get('refused, would take')}"
            if "peak" in row:
                row["ratio"] = round(row["peak"] / parse_bytes(memory, torch.device("cpu")), 2)
                text = f"{readable(row['peak']):>10}  {row['ratio']:5.2f}"
            row["kept"] = row.get("ratio", 0.0) <= ALLOWED
            print(f"{name:30} {memory:>7}  {text}{'' if row['kept'] else '  BROKEN'}", flush=True)
            rows.append(row)
    return rows


def slopes(only: str) -> list[dict[str, Any]]:
    """Every slope, printed as it is measured."""
    rows = []
    for name in SLOPES:
        if re.search(only, name):
            row = {"call": name} | fresh(measure_slope, name)
            row["kept"] = row["slope"] <= SLOPE
            text = f"{row['slope'] / MIB:7.2f} MiB a network{'' if row['kept'] else '  LEAKS'}"
            print(f"{name:30} {text}", flush=True)
            rows.append(row)
    return rows


def main() -> int:
    """Print both tables, write the record; the exit status counts what was not kept."""
    parser = options(__doc__)
    parser.add_argument("--only", default="", help="a regular expression of names")
    chosen = parser.parse_args()
    grown, peaks = slopes(chosen.only), promises(chosen.only)
    save("memory", {"slopes": grown, "promises": peaks}, chosen.record)
    return sum(not row["kept"] for row in [*grown, *peaks])


if __name__ == "__main__":
    sys.exit(main())
