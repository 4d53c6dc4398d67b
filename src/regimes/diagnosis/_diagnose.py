"""`diagnose`: measure a network on probes and say in which regime it was trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from regimes._adapter import check_pick
from regimes._check import instance, positive_int, real
from regimes.curvature._losses import LossLike
from regimes.data import Dataset
from regimes.diagnosis import _words
from regimes.diagnosis._case import Case, Found, called, check_alone, outputs_of
from regimes.diagnosis._networks import Fit, calibrated, in_its_mode, the_two, trained
from regimes.diagnosis._number import Number
from regimes.diagnosis._points import read_once, shuffles
from regimes.diagnosis._probes import Probes, drawn, understood
from regimes.diagnosis._recipe import Make, recipe
from regimes.diagnosis._result import Diagnosis
from regimes.diagnosis._steps import measure
from regimes.diagnosis._verdict import verdict
from regimes.diagnosis._watch import Watch, seconds_of
from regimes.diagnosis._watching import PROBES as _WATCHED
from regimes.diagnosis._watching import Watching
from regimes.flow._losses import resolve_loss

PROBES = 500  # of each part


def diagnose(
    model: nn.Module,
    train: Any,
    test: Any = None,
    *,
    before: nn.Module | None = None,
    fit: Fit | None = None,
    loss: LossLike | None = None,
    optimizer: Make | None = None,
    epochs: int = 10,
    step_size: float | None = None,
    output: Callable[[Any], Any] | None = None,
    probes: int = PROBES,
    budget: str | float | None = None,
    memory: str | int | None = None,
    seed: int = 0,
    progress: Callable[[str], object] | None = None,
) -> Diagnosis:
    """Say whether a network was trained lazily or learned features, with numbers and reasons.

    Two networks are compared on some of the points they were trained with: as it was before, and as
    it is after. Networks are copied and looked at in evaluation mode; nothing is trained but what
    `fit` or `optimizer` trains. Errors are those over batches of probes.

    Args:
        model: the trained network; with `fit` or `optimizer`, the network to be trained.
        train: a `Dataset`, a pair (x, y) or an iterable of batches, such as a DataLoader; batches
            are pairs (x, y) or mappings with labels.
        test: the same for points that were not trained on; None takes the test points of a
            `Dataset`, and without these accuracies are those of the training points.
        before: the network before training. Without it and without a way to train, only what the
            trained network tells of itself is measured, and the regime is "unclear".
        fit: trains a network in place, `fit(network, train)`; `model` itself stays as it is. The
            steps of torch optimisers inside are watched.
        loss: what was or is to be trained on, a name as in `curvature.Curvature` or a function of
            outputs and labels; None takes the usual one for the labels: cross-entropy for classes,
            squares for numbers, the logistic loss for signs.
        optimizer: instead of `fit`: from parameters to an optimiser, as
            `lambda p: torch.optim.SGD(p, lr=0.1)`; it takes steps on batches of `train`.
        epochs: passes over `train` with `optimizer`.
        step_size: of the gradient descent that trained the network, against which the curvature of
            the loss is held; where training is watched it is seen.
        output: from what the network returns to its outputs, as `lambda o: o.logits`.
        probes: points looked at, of each part.
        budget: about how long, "2min", "30s" or seconds, training left out; fewer probes are looked
            at, and some numbers left out, when time is short, and warnings say so.
        memory: bound on what a kernel may take, as in `TangentKernel`.
        seed: of the choice of probes.
        progress: called with a sentence now and then.

    Returns:
        A `Diagnosis`; print it, or `.to_html("page.html")`.

    Raises:
        ValueError: networks that are not of one architecture, or let samples interact; data that
            do not fit; an unknown loss.

    Example:
        >>> import torch
        >>> import regimes as rg
        >>> x = torch.randn(60, 5, generator=torch.Generator().manual_seed(0))
        >>> y = (x[:, 0] > 0).long()
        >>> start = rg.nets.FullyConnected(5, 50, out_dim=2, seed=0)
        >>> found = rg.diagnose(
        ...     start, (x, y), optimizer=lambda p: torch.optim.SGD(p, lr=1e-3), epochs=1
        ... )  # two small steps
        >>> found.regime, found.course[-1].step
        ('lazy', 2)
    """
    instance("model", model, nn.Module, "a torch.nn.Module")
    pick, count = check_pick(output), positive_int("probes", probes, least=2)
    step = None if step_size is None else real("step_size", step_size, above=0.0)
    if isinstance(loss, str | type):  # else a function, which is tried on outputs and labels
        resolve_loss(loss, 2)
    fit = _way_to_train(before, fit, optimizer, loss, epochs, pick, seed)
    if fit is not None and read_once(train):
        raise ValueError(
            "train is an iterator that can be read once, and both the training and the probes read "
            "it; pass the loader itself, or a list of batches"
        )
    watch = Watch(seconds_of(budget), progress)
    first, last, warnings = the_two(model, before, fit is not None)
    parts = (("training", train), ("test", test))
    warnings += [_SHUFFLED.format(part) for part, data in parts if shuffles(data)]
    known, held, c = _probes(train, test, count, seed, last, pick)
    if first is not None:
        warnings += calibrated(first, lambda net: _pass(net, known))
    found = Found(warnings=warnings)
    if fit is not None:
        own = in_its_mode(model)
        few = known.first(_WATCHED).x
        with Watching(own, few, c, memory=memory, output=pick) as watching:
            last, told = trained(own, train, fit, watch)
        found.course, step = tuple(watching.moments), step or watching.step_size
        found.warnings += told
        watch.start()
    check_alone(last, known, pick)
    measure(Case(first, last, known, held, c, pick, loss, step, memory, watch), found)
    return _diagnosis(found, known, held, watch)


_SHUFFLED = (
    "The loader of {} points shuffles, so the probes are others every time; give it a generator "
    "with a seed, or shuffle=False, to repeat this diagnosis."
)


def _way_to_train(
    before: nn.Module | None,
    fit: Fit | None,
    optimizer: Make | None,
    loss: LossLike | None,
    epochs: int,
    pick: Callable[[Any], Any] | None,
    seed: int,
) -> Fit | None:
    given = [
        name
        for name, value in (("before", before), ("fit", fit), ("optimizer", optimizer))
        if value is not None
    ]
    if len(given) > 1:
        raise ValueError(
            "give before=, the network before it was trained, or one way to train it, fit= or "
            f"optimizer=; not both {' and '.join(given)}"
        )
    return fit if optimizer is None else recipe(optimizer, loss, epochs, pick, seed)


def _probes(
    train: Any,
    test: Any,
    count: int,
    seed: int,
    network: nn.Module,
    pick: Callable[[Any], Any] | None,
) -> tuple[Probes, Probes | None, int]:
    """Training and test probes, and how many outputs the network has."""
    known = drawn(train, "train", count, seed, network)
    if test is None and isinstance(train, Dataset) and train.n_test:
        test = train
    held = None if test is None else drawn(test, "test", count, seed, network)
    c = outputs_of(network, known.first(2), pick, "after").shape[1]
    known = understood(known, c, "train")
    return known, None if held is None else understood(held, c, "test"), c


def _pass(network: nn.Module, probes: Probes) -> None:
    with torch.no_grad():
        for rows in torch.arange(len(probes)).tensor_split(max(1, len(probes) // 250)):
            called(network, probes.part(rows).x)


def _diagnosis(found: Found, known: Probes, held: Probes | None, watch: Watch) -> Diagnosis:
    numbers = {n: found.numbers[n] for n in _words.MEANINGS if n in found.numbers}
    change = numbers.get("kernel_change", Number(float("nan"), None, ""))
    distance = numbers.get("weight_change", Number(float("inf"), None, ""))
    decided = verdict(change.value, change.error, found.linear_error, found.seen, distance.value)
    return Diagnosis(
        regime=decided.regime,
        confidence=decided.confidence,
        numbers=numbers,
        reasons=[*decided.reasons, *_words.reasons(numbers, found.by_layer, found.course)],
        advice=_words.advice(decided.regime, numbers),
        warnings=_warnings(found, decided.regime),
        by_layer=found.by_layer,
        spectra=found.spectra,
        course=found.course,
        probes=(len(known), 0 if held is None else len(held)),
        seconds=watch.seconds,
    )


def _warnings(found: Found, regime: str) -> list[str]:
    also = _words.nothing_gained(found.numbers) if regime == "lazy" else []
    return [*found.warnings, *also]
