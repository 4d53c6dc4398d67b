"""One network at its start: its eigenfunctions, and both models on the signs of some of them."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np

from regimes.lab import Array, Point, TrialResult
from regimes.studies._types import Module, Tensor
from regimes.studies.linearization import _tasks, _training

LABELS = -1  # the index that stands for the labels of the images themselves
FIRST = 10  # eigenfunctions on which alignment strays
DENSE = 20_000  # points whose Gram is diagonalised whole
ADAM_WAY = "features"
RESNETS = 2  # seeds of the residual network


def chosen(params: Any, point: Point) -> tuple[int, ...]:
    """The indices this optimiser is tried on."""
    wanted = params.adam_index if point.optimiser == "adam" else params.index
    return tuple(j for j in point.index if j in wanted)


def epochs(params: Any, point: Point) -> int:
    """How long this network trains."""
    resnet = params.epochs_resnet if point.network == "resnet" else None
    return int(resnet or params.epochs)


def trial(params: Any, point: Point) -> TrialResult:
    """Both models of one network on the signs of some eigenfunctions, and all of these measured.

    Args:
        params: those of a study, with `index`, `adam_index`, `n_train`, `n_test`, `epochs`,
            `epochs_resnet`, `modes`, `base` and `precision`.
        point: its images, network, optimiser, seed and indices.
    """
    import torch

    import regimes as rg

    data = _tasks.task(point.images, params.n_train, params.n_test, point.seed, point.dtype)
    data = data.to(device=point.device)
    net = _tasks.network(
        point.network, data.in_shape, point.seed, base=params.base, dtype=point.dtype,
        device=point.device,
    )  # fmt: skip
    x, n = torch.cat([data.x_train, data.x_test]), data.n_train
    clock = _Clock(point.device)
    kernel = _tasks.kernel(net, params.precision, len(x))
    gram = kernel(x)
    seconds = {"seconds_gram": clock.lap()}
    top = min(len(x), max(params.modes, *point.index) + 1)
    whole = top if len(x) > DENSE else len(x)
    pairs = rg.measure.gram_eigs(gram, whole, method="block" if len(x) > DENSE else "dense")
    seconds["seconds_eigenpairs"] = clock.lap()
    gram, labels = gram.to(x.dtype), torch.cat([data.y_train, data.y_test])
    indices = chosen(params, point)
    targets = torch.stack(
        [labels if j == LABELS else _tasks.signs(pairs.vectors[j]) for j in indices]
    )
    targets = targets.to(x.dtype)
    protocol = _training.Protocol(epochs(params, point), optimiser=point.optimiser, seed=point.seed)
    sets = [dataclasses.replace(data, y_train=y[:n], y_test=y[n:]) for y in targets]
    network, _ = _training.train_networks(net, sets, protocol, checkpoint=point.checkpoint())
    seconds["seconds_network"] = clock.lap()
    start = torch.cat([p.detach().flatten() for p in net.parameters()])
    if point.optimiser == "adam":
        linear = _by_features(net, data.x_train, data.x_test, targets, protocol)
    else:
        at_start = kernel.pushed(x, start).to(x.dtype)
        square = float(start.double().square().sum())
        linear = _training.train_linear(
            gram, targets, n, protocol, at_start=at_start, square=square
        )
    seconds["seconds_linear"] = clock.lap()
    arrays = {"balance": _over(point, indices, targets.mean(1))}
    for name, found in (("network", network), ("linear", linear)):
        for what in ("accuracy", "loss", "until_low", "distance", "cosine"):
            arrays[f"{what}_{name}"] = _over(point, indices, getattr(found, what))
    return TrialResult(seconds, arrays | _modes(params, gram, pairs))


def _modes(params: Any, gram: Tensor, pairs: Any) -> dict[str, Array]:
    """Eigenvalues, and norms and alignments of the signs of eigenfunctions, from j = 1 on.

    Taking the sign leaves part of an eigenfunction on others: of its alignment, what lies along
    itself, and what lies along the first few, where eigenvalues are largest.
    """
    import regimes as rg

    lam, phi = pairs.values.double(), pairs.vectors.double()
    positive = int((lam > 1e-12 * lam[0]).sum())
    f = _tasks.signs(phi[1 : params.modes + 1])
    norms = rg.measure.rkhs_norm2(f, lam[:positive], phi[:positive], convention="unit")
    wide = gram.double() if len(gram) <= DENSE else gram
    alignments = rg.measure.target_alignment(wide, f.to(wide)).double()
    bounds = rg.measure.rkhs_lower_bound(f, alignments)
    found = {"norm": norms, "alignment": alignments, "lower_bound": bounds}
    parts = lam[: len(f) + 1] * (f @ phi[: len(f) + 1].T).square() / len(gram) ** 2
    found["alignment_own"] = parts[:, 1:].diagonal()
    found["alignment_first"] = parts[:, :FIRST].sum(1)
    found["eigenvalue"] = lam[1 : params.modes + 1] / len(gram)
    coordinate = {"mode": Array("mode", np.arange(1, params.modes + 1))}
    return coordinate | {name: Array("mode", each.float().cpu()) for name, each in found.items()}


def _by_features(
    net: Module, x: Tensor, x_test: Tensor, targets: Tensor, protocol: _training.Protocol
) -> _training.Trained:
    """The linearisation under Adam, which knows the parameters one by one."""
    import torch

    from regimes import flow

    n = len(x)
    run = flow.descend_linear(
        net, x, targets[:, :n], x_test, loss=flow.binary_cross_entropy(), way=ADAM_WAY,
        **protocol.options(n),
    )  # fmt: skip
    assert run.outputs_test is not None
    assert run.change is not None
    start = torch.cat([p.detach().flatten() for p in net.parameters()])
    return _training.found(
        run.losses,
        run.steps_until(_training.LOW),
        run.outputs_test,
        targets[:, n:],
        run.displacement.double().cpu(),
        run.change.double().cpu(),
        float(start.double().square().sum()),
    )


def _over(point: Point, indices: tuple[int, ...], values: Tensor) -> Array:
    """One value an index, none for those that were not tried."""
    found = np.full(len(point.index), np.nan)
    found[[point.index.index(j) for j in indices]] = values.double().cpu().numpy()
    return Array("index", np.ma.masked_invalid(found))


class _Clock:
    """Wall time between laps, of work that is done."""

    def __init__(self, device: str) -> None:
        self._cuda, self._last = device.startswith("cuda"), time.perf_counter()

    def lap(self) -> float:
        """Seconds since the last one."""
        if self._cuda:
            import torch

            torch.cuda.synchronize()
        now = time.perf_counter()
        self._last, gone = now, now - self._last
        return gone
