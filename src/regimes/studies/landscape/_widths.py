"""Networks of several widths trained side by side, as one ensemble.

A narrow network is a wide one whose other neurons have no weights, in or out. A neuron at zero is
told nothing by its gradient (`dW_out = p v^T` with v = 0, `dW_in` by `W_out^T p = 0`), so it stays
at zero, and all others move as they would in the narrow network. One ensemble of the widest network
then holds a whole scan of widths, whose steps are as many launches on a GPU as those of one width.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.lab import Array, Data, collect
from regimes.studies._types import Checkpoint, Dataset, Ensemble, Run, Tensor
from regimes.studies.landscape import _networks, _runs, _tasks, _training

if TYPE_CHECKING:
    from regimes.lab import Results

WIDTH = "width"


def train(
    inputs: Sequence[int],
    widths: Sequence[int],
    depth: int,
    n_train: int,
    seeds: Sequence[int],
    *,
    steps: int,
    labels: str = "random",
    images: str = "mnist",
    n_test: int = 0,
    trainer: Callable[..., Run] = _training.adam_fast,
    margin: float = _training.MARGIN,
    dtype: str = "float64",
    device: str = "cpu",
    checkpoint: Checkpoint | None = None,
    **options: Any,
) -> list[_runs.Trained]:
    """What `_runs.train` gives for each width with one P, of networks that trained together.

    Args:
        inputs: d of every width.
        widths: h.
        depth: L.
        n_train: P.
        seeds: of network and points.
        steps: at most so many.
        labels: "random" or "parity".
        images: which, with "parity".
        n_test: test points, with "parity".
        trainer: a function of `_training`.
        margin: epsilon.
        dtype: precision of the training.
        device: where it runs.
        checkpoint: where to leave the state.
        options: of the trainer, such as `rate`.

    >>> narrow, wide = train([5, 5], [3, 6], 2, 20, [0, 1], steps=100)
    >>> narrow.weights, wide.weights, wide.run.steps.shape
    (27, 72, torch.Size([2]))
    """
    import torch

    place = {"dtype": dtype, "device": device}
    most = max(inputs)
    sets = [
        _tasks.tasks(labels, tuple(seeds), n_train, d=d, images=images, n_test=n_test, **place)
        for d in inputs
    ]
    starts = [
        _networks.networks(d, width, depth, seeds, **place)
        for d, width in zip(inputs, widths, strict=True)
    ]
    frame = _networks.networks(most, max(widths), depth, [0], **place)
    shapes = {name: value.shape[1:] for name, value in frame.parameters.items()}
    parts = [
        {name: _padded(value, shapes[name]) for name, value in start.parameters.items()}
        for start in starts
    ]
    whole = frame.moved_to({name: torch.cat([part[name] for part in parts]) for name in shapes})
    run = trainer(
        whole,
        [_with_inputs(one, most) for own in sets for one in own],
        steps=steps,
        margin=margin,
        checkpoint=checkpoint,
        **options,
    )
    size = len(seeds)
    return [
        _runs.Trained(
            start,
            _part(run, range(k * size, (k + 1) * size), start),
            tuple(own),
            (n_train,),
            tuple(seeds),
            margin,
        ).settled()
        for k, (start, own) in enumerate(zip(starts, sets, strict=True))
    ]


def by_width(results: Results) -> Data:
    """The table of the trials with a row for every width of a trial, as if it had run alone.

    A trial without widths, or one that has not run, keeps one row.
    """
    table = collect(results)
    if "weights" not in table or WIDTH not in table.weights.dims:
        return table
    known = table.weights.notnull().transpose("trial", WIDTH).values.copy()
    known[~known.any(1), 0] = True
    spread = table.stack(row=("trial", WIDTH), create_index=False)
    return spread.isel(row=np.flatnonzero(known)).rename(row="trial")


def arrays(
    found: Mapping[int, Mapping[str, tuple[tuple[str, ...], Any]]], widths: Sequence[int]
) -> dict[str, Array]:
    """Values of some of the widths as arrays over all, without values for the others.

    >>> made = arrays({4: {"steps": (("seed",), [7.0, 8.0])}}, (3, 4))["steps"]
    >>> made.dims, made.values.shape, bool(np.isnan(made.values[0]).all())
    (('width', 'seed'), (2, 2), True)
    """
    made = {}
    for name, (dims, first) in next(iter(found.values())).items():
        rows = np.ma.masked_all((len(widths), *np.shape(first)))
        for i, width in enumerate(widths):
            if width in found:
                rows[i] = np.asarray(found[width][name][1], dtype=float)
        made[name] = Array((WIDTH, *dims), rows)
    return made


def _padded(value: Tensor, shape: Sequence[int]) -> Tensor:
    """Weights or biases (R, ...) with zeros up to this shape of a member."""
    made = value.new_zeros(len(value), *shape)
    made[(slice(None), *(slice(n) for n in value.shape[1:]))] = value
    return made


def _with_inputs(data: Dataset, d: int) -> Dataset:
    """Points with zeros as further components."""
    import torch

    more = d - data.x_train.shape[1]
    if not more:
        return data
    grown: dict[str, Any] = {}
    for name in ("x_train", "x_test"):
        x = getattr(data, name)
        if x is not None:
            grown[name] = torch.cat([x, x.new_zeros(len(x), more)], 1)
    return dataclasses.replace(data, **grown)


def _part(run: Run, members: range, narrow: Ensemble) -> Run:
    """Some members of a run, as networks of their own width."""
    at = list(members)

    def own(value: Any) -> Any:
        return None if value is None else value[at]

    cut = {}
    for name, value in run.parameters.items():
        shape = narrow.parameters[name].shape[1:]
        cut[name] = value[at][(slice(None), *(slice(n) for n in shape))].contiguous()
    each = ("outputs_train", "outputs_test", "steps", "refused", "forced", "unresolved")
    maps = ("history", "event_times", "worst")
    labels = run.y_test if run.y_test is None or len(run.y_test) == 1 else run.y_test[at]
    owned: dict[str, Any] = {name: own(getattr(run, name)) for name in each}
    owned |= {name: {k: own(v) for k, v in getattr(run, name).items()} for name in maps}
    return dataclasses.replace(
        run,
        **owned,
        y_test=labels,
        parameters=cut,
        status=tuple(run.status[i] for i in at),
        networks=narrow.moved_to(cut),
        recordings={},
        grid={},
    )
