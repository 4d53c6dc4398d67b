"""`diagnose`: measure a network on probes and say in which regime it was trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from regimes._adapter import check_pick
from regimes._check import instance, positive_int
from regimes.data import Dataset
from regimes.diagnosis import _words
from regimes.diagnosis._measure import Measurement
from regimes.diagnosis._networks import Fit, the_two
from regimes.diagnosis._probes import drawn, understood
from regimes.diagnosis._result import Diagnosis
from regimes.diagnosis._verdict import verdict
from regimes.diagnosis._watch import Watch, seconds_of

PROBES = 500  # of each part


def diagnose(
    model: nn.Module,
    train: Any,
    test: Any = None,
    *,
    before: nn.Module | None = None,
    fit: Fit | None = None,
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
    `fit` trains. Errors are those over batches of probes.

    Args:
        model: the trained network; with `fit`, the network to be trained.
        train: a `Dataset`, a pair (x, y) or an iterable of batches, such as a DataLoader; batches
            are pairs (x, y) or mappings with labels.
        test: the same for points that were not trained on; None takes the test points of a
            `Dataset`, and without these accuracies are those of the training points.
        before: the network before training. Without it and without `fit`, only what the trained
            network tells of itself is measured, and the regime is "unclear".
        fit: trains a network in place, `fit(network, train)`; `model` itself stays as it is.
        output: from what the network returns to its outputs, as `lambda o: o.logits`.
        probes: points looked at, of each part.
        budget: about how long, "2min", "30s" or seconds; fewer probes are looked at when time
            is short, and a warning says so.
        memory: bound on what a kernel may take, as in `TangentKernel`.
        seed: of the choice of probes.
        progress: called with a sentence now and then.

    Returns:
        A `Diagnosis`; print it, or `.to_html("page.html")`.

    Raises:
        ValueError: networks that are not of one architecture, data that do not fit.

    Example:
        >>> import torch
        >>> import regimes as rg
        >>> x = torch.randn(60, 5, generator=torch.Generator().manual_seed(0))
        >>> y = (x[:, 0] > 0).long()
        >>> start = rg.nets.FullyConnected(5, 50, out_dim=2, seed=0)
        >>> def fit(network, train):
        ...     descent = torch.optim.SGD(network.parameters(), lr=1e-6)
        ...     for _ in range(3):
        ...         descent.zero_grad()
        ...         torch.nn.functional.cross_entropy(network(x), y).backward()
        ...         descent.step()
        >>> rg.diagnose(start, (x, y), fit=fit)  # three tiny steps
        Diagnosis(lazy, confidence 0.99, 15 numbers, 2 layers)
    """
    instance("model", model, nn.Module, "a torch.nn.Module")
    pick, count = check_pick(output), positive_int("probes", probes, least=2)
    watch = Watch(seconds_of(budget), progress)
    first, last, warnings = the_two(model, train, before, fit, watch)
    known = drawn(train, "train", count, seed, last)
    if test is None and isinstance(train, Dataset) and train.n_test:
        test = train
    held = None if test is None else drawn(test, "test", count, seed, last)
    measured = Measurement(first, last, pick, memory, watch)
    known = understood(known, measured.outputs(known), "train")
    held = None if held is None else understood(held, measured.outputs(known), "test")
    measured.measure(known, held)
    numbers = {n: measured.numbers[n] for n in _words.MEANINGS if n in measured.numbers}
    found = measured.judged
    decided = verdict(found.change, found.error, found.linear_error, found.probes, found.distance)
    return Diagnosis(
        regime=decided.regime,
        confidence=decided.confidence,
        numbers=numbers,
        reasons=(*decided.reasons, *_words.reasons(numbers)),
        advice=_words.advice(decided.regime, numbers),
        warnings=(*warnings, *measured.warnings),
        by_layer=measured.by_layer,
        probes=(len(known), 0 if held is None else len(held)),
        seconds=watch.seconds,
    )
