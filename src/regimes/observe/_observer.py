"""An observer of the tangent kernel for any training loop."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

import torch
from torch import Tensor, nn

from regimes._check import instance, positive_int, shown
from regimes._copied import copied, inside
from regimes.observe._budget import Budget
from regimes.observe._expected import expected_seconds
from regimes.observe._log_steps import LogSteps
from regimes.observe._numbers import Wanted, kernel_numbers
from regimes.observe._path import Path
from regimes.observe._record import Record, stacked
from regimes.tangent import TangentKernel


class Sink(Protocol):
    """Where numbers go as soon as they are known; `TensorBoard` and `WandB` are such."""

    def write(self, step: int, numbers: Mapping[str, Tensor], layers: Sequence[str]) -> None:
        """The numbers of one step."""
        ...

    def close(self) -> None:
        """Nothing more will come."""
        ...


@final
@dataclass(frozen=True, eq=False)
class _Probe:
    x: Any
    labels: Tensor


class KernelObserver:
    """Watches the tangent kernel of a network while any loop trains it.

        watch = KernelObserver(network, {"train": (x_train[:100], y_train[:100])})
        for batch in loader:
            ...
            optimiser.step()
            watch.step()
        record = watch.finish()

    At log-spaced steps it puts the weights into a copy of the network, in evaluation mode, and
    measures there; the network, its batch-norm statistics and the random state stay as they are,
    bit for bit. Each probe takes one pass for the kernels of all layers.

    Args:
        network: what is trained; any `nn.Module` that `TangentKernel` takes.
        probes: name -> (points, labels), about 100 of each, drawn once; or one such pair, called
            "train". The path's complexity takes its trace from the first. Probes called "easy" and
            "difficult" give the ratio of their alignments, too [Baratin 2021, sec. 3.4].
        when: which steps are log points; anything with `due(step)`.
        wanted: which numbers of a kernel, see `Wanted`.
        path: length and complexity of the path of all steps (see `Path`). It costs a copy of the
            weights a step.
        refresh: take the path's trace anew every so many steps, not only at log points.
        also: name -> function of the copy that returns one number, such as the error on all test
            points.
        budget: largest share of the time since the start that observing may take, 0.05 for 5 %;
            log points that would take more are left out, and `told` says how many. The start is
            then observed as soon as there is room, with the weights it had; the path is followed
            at as many steps as half of the budget pays for, and is straight in between, which
            makes it shorter. Where not even one look fits, the last step is looked at all the
            same, and `told` says so. None observes every log point.
        sinks: where numbers also go, see `Sink`.
        output: as for `TangentKernel`.

    Raises:
        ValueError: probes that are no pairs of points and labels; a schedule, functions, sinks or
            numbers that are not such; what `also` returns is not one number.

    Example:
        >>> from regimes import data, nets
        >>> ds = data.digits(n_train=20, n_test=10)
        >>> net = nets.FullyConnected(64, 8, out_dim=10)
        >>> watch = KernelObserver(net, (ds.x_train, ds.y_train))
        >>> optimiser = torch.optim.SGD(net.parameters(), 0.1)
        >>> for _ in range(5):
        ...     optimiser.zero_grad()
        ...     torch.nn.functional.cross_entropy(net(ds.x_train), ds.y_train).backward()
        ...     optimiser.step()
        ...     watch.step()
        >>> record = watch.finish()
        >>> record.steps.tolist(), record.layers, record["train/layer_alignment"].shape
        ([0, 5], ('layers.0', 'layers.1'), torch.Size([2, 2]))
    """

    def __init__(
        self,
        network: nn.Module,
        probes: Mapping[str, tuple[Any, Any]] | tuple[Any, Any],
        *,
        when: LogSteps | None = None,
        wanted: Wanted | None = None,
        path: bool = True,
        refresh: int | None = None,
        also: Mapping[str, Callable[[nn.Module], Any]] | None = None,
        budget: float | None = None,
        sinks: Sequence[Sink] = (),
        output: Callable[[Any], Any] | None = None,
    ) -> None:
        instance("network", network, nn.Module, "a torch.nn.Module")
        _check_options(when, wanted, also, sinks)
        self._budget = Budget(budget)
        started = self._budget.clock()
        self._network, self._output = inside(network), output
        if not self._moving():
            raise ValueError(
                "no parameter of the network requires a gradient, so it has no tangent kernel; "
                "leave those that are trained unfrozen (requires_grad_(True))"
            )
        self._when, self._wanted = when or LogSteps(), wanted or Wanted()
        self._also, self._sinks = dict(also or {}), tuple(sinks)
        self._refresh = None if refresh is None else positive_int("refresh", refresh)
        with _untouched(self._device):
            self._copy = copied(self._network)[0].eval()
        self._probes = _checked_probes(probes, self._device)
        self._path = Path(self._moving()) if path or refresh else None
        self._steps, self._pending = 0, True
        self._rows: list[dict[str, Tensor]] = []
        self._observed: list[int] = []
        self._layers: tuple[str, ...] = ()
        self._copied_step = 0
        if budget is not None:
            self._budget.expect(self._expected())
        self._budget.spend(self._budget.clock() - started, look=False)
        if budget is None:
            self._look()

    def __repr__(self) -> str:
        probes = ", ".join(self._probes)
        return f"KernelObserver({type(self._network).__name__}, {probes}: {self.told})"

    @property
    def told(self) -> str:
        """What observing has cost, in words."""
        return self._budget.told()

    def step(self) -> None:
        """Call it after every step of the optimiser."""
        self._steps += 1
        self._follow()
        due = self._when.due(self._steps)
        refresh = self._refresh is not None and self._steps % self._refresh == 0
        if self._pending and self._budget.allows():
            self._look()
        if due and not self._pending and self._budget.allows():
            self._take_weights()
            self._look()
        elif due:
            self._budget.left_out += 1
        elif refresh and not self._pending and self._budget.allows():
            self._take_trace()

    def finish(self) -> Record:
        """Observe the last step too, if there is room, close the sinks and return the record."""
        if self._pending and (self._budget.allows() or not self._steps):
            self._look()
        if self._pending or self._observed[-1] != self._steps:
            if self._budget.allows() or not self._observed:
                self._take_weights()
                self._look()
            else:
                self._budget.left_out += 1
        for sink in self._sinks:
            sink.close()
        return self.record()

    def record(self) -> Record:
        """What was observed so far."""
        if not self._observed:
            raise ValueError("nothing was observed yet: call step() after the optimiser's steps")
        return stacked(self._observed, self._rows, self._layers, self.told)

    @property
    def _device(self) -> torch.device:
        return next(self._network.parameters()).device

    def _moving(self) -> list[Tensor]:
        return [p for p in self._network.parameters() if p.requires_grad]

    def _follow(self) -> None:
        """The path's next step, where the budget has room for it."""
        if self._path is None:
            return
        if not self._budget.allows_path():
            self._budget.path_left_out += 1
            return
        started = self._budget.clock()
        self._path.step(self._moving())
        self._budget.spend_on_path(self._budget.clock() - started)

    def _expected(self) -> float:
        """Seconds that the first look may take."""
        with _untouched(self._device):
            kernel = TangentKernel(self._copy, copy=False, output=self._output)
            return sum(
                expected_seconds(kernel, probe.x, self._wanted, self._device)
                for probe in self._probes.values()
            )

    def _take_weights(self) -> None:
        """The network's weights and statistics as they stand, into the copy."""
        with torch.no_grad():
            for into, source in (
                (self._copy.parameters(), self._network.parameters()),
                (self._copy.buffers(), self._network.buffers()),
            ):
                for mine, theirs in zip(into, source, strict=True):
                    mine.copy_(theirs)
        for mine, theirs in zip(self._copy.parameters(), self._network.parameters(), strict=True):
            mine.requires_grad_(theirs.requires_grad)
        self._copied_step = self._steps

    def _take_trace(self) -> None:
        """The path's trace at the network's weights, without a look at anything else."""
        assert self._path is not None
        self._take_weights()
        with self._measuring(look=False):
            probe = next(iter(self._probes.values()))
            kernel = TangentKernel(self._copy, copy=False, output=self._output)
            self._path.trace(kernel.trace(probe.x), samples=len(probe.labels))

    def _look(self) -> None:
        """Measure the copy, which holds the weights of the step it was made at."""
        step = self._copied_step
        with self._measuring(look=True):
            kernel = TangentKernel(self._copy, copy=False, output=self._output)
            row: dict[str, Tensor] = {}
            for name, probe in self._probes.items():
                grams = kernel.by_layer(probe.x)
                found = kernel_numbers(grams, probe.labels, self._wanted)
                row.update({f"{name}/{key}": value for key, value in found.items()})
                self._layers = tuple(grams)
            if {"easy/alignment", "difficult/alignment"} <= row.keys():
                row["easy_difficult_ratio"] = row["easy/alignment"] / row["difficult/alignment"]
            if self._path is not None:
                first, probe = next(iter(self._probes.items()))
                if step == self._steps:  # not a start that is looked at late
                    self._path.step(self._moving())  # nothing, unless the step was left out
                    self._path.mark(self._moving())
                    row.update(self._path.numbers())
                self._path.trace(float(row[f"{first}/trace"]), samples=len(probe.labels))
            for name, function in self._also.items():
                with torch.no_grad():
                    row[name] = _number(name, function(self._copy))
        self._pending = False
        self._observed.append(step)
        self._rows.append(row)
        for sink in self._sinks:
            sink.write(step, row, self._layers)

    @contextlib.contextmanager
    def _measuring(self, *, look: bool) -> Iterator[None]:
        device = self._device
        _wait(device)
        started = self._budget.clock()
        with (
            _untouched(device),
            torch.inference_mode(False),
            torch.enable_grad(),
            torch.autocast(device.type, enabled=False),
        ):
            yield
        _wait(device)
        self._budget.spend(self._budget.clock() - started, look=look)


def _check_options(when: Any, wanted: Any, also: Any, sinks: Any) -> None:
    """Refuse at the start what would fail in the middle of a training."""
    if when is not None and not callable(getattr(when, "due", None)):
        raise ValueError(
            f"when must have a method due(step), as LogSteps(5, 1.15) has, got {shown(when)}"
        )
    if wanted is not None:
        instance("wanted", wanted, Wanted, "a Wanted, such as Wanted(layers=False)")
    if not isinstance(also or {}, Mapping) or not all(map(callable, (also or {}).values())):
        raise ValueError(
            "also must be a dict from names to functions of the network that return one number, "
            f"got {shown(also)}"
        )
    if not isinstance(sinks, Sequence):
        raise ValueError(f"sinks must be a list of sinks, got {shown(sinks)}")
    for sink in sinks:
        if not callable(getattr(sink, "write", None)) or not callable(getattr(sink, "close", None)):
            raise ValueError(
                "a sink must have write(step, numbers, layers) and close(), as TensorBoard has, "
                f"got {shown(sink)}"
            )


def _checked_probes(probes: Any, device: torch.device) -> dict[str, _Probe]:
    if isinstance(probes, tuple):
        probes = {"train": probes}
    if not isinstance(probes, Mapping) or not probes:
        raise ValueError(
            "probes must be a pair (points, labels) or a dict from names to such pairs, got "
            f"{type(probes).__name__}"
        )
    made = {}
    for name, pair in probes.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ValueError(f"probes[{name!r}] must be a pair (points, labels), got {shown(pair)}")
        labels = torch.as_tensor(pair[1]).to(device)
        x = pair[0].to(device) if isinstance(pair[0], Tensor) else pair[0]
        made[str(name)] = _Probe(x, labels)
    return made


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


@contextlib.contextmanager
def _untouched(device: torch.device) -> Iterator[None]:
    """Random numbers that are drawn within are drawn again after it."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        yield


def _number(name: str, value: Any) -> Tensor:
    try:
        number = torch.as_tensor(value, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):
        number = torch.empty(0)
    if number.numel() != 1:
        raise ValueError(f"also[{name!r}] must return one number, but it returned {shown(value)}")
    return number.detach().cpu().reshape(())
