"""How good lists of retrieved items are: precision, recall, F1, average precision, gain."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from regimes._check import positive_int, shown


@dataclasses.dataclass(frozen=True)
class RetrievalScores:
    """Five scores of lists, each in [0, 1] for one query or as a mean over queries."""

    precision: float  # share of the list that is relevant
    recall: float  # share of what is relevant that is in the list
    f1: float  # harmonic mean of the two of one query
    average_precision: float  # mean precision at the places of relevant items; its mean is "mAP"
    gain: float  # normalised discounted cumulative gain, "NDCG"

    def __iter__(self) -> Iterator[float]:
        """The five numbers in the order of the fields."""
        return iter(dataclasses.astuple(self))


@dataclasses.dataclass(frozen=True)
class Retrieval:
    """Scores of the lists of many queries.

    Attributes:
        micro: mean over queries.
        macro: mean over classes of the mean over their queries.
        error: standard errors of `micro` over queries; NaN for a single query.
        each: the five scores of every query, (queries, 5), float64.
    """

    micro: RetrievalScores
    macro: RetrievalScores
    error: RetrievalScores
    each: Tensor

    @property
    def total(self) -> float:
        """Micro plus macro average precision, by which the challenge ranks."""
        return self.micro.average_precision + self.macro.average_precision


def retrieval(
    lists: Sequence[Sequence[int] | Tensor], labels: Tensor, queries: Tensor | None = None
) -> Retrieval:
    """Precision, recall, F1, average precision and normalised gain of retrieved lists.

    With `r_k = 1` where the k-th of N items has the query's label, 0 where not, and R items of
    that label in all: `P = sum_k r_k / N`, `R@N = sum_k r_k / R`, `F1 = 2 P R@N / (P + R@N)`, the
    average precision `sum_k r_k (sum_(j<=k) r_j / k) / R`, and the gain `sum_k r_k / log2(1 + k)`
    over that of a list which begins with all R. The scores of [Cohen 2018, table 2] and
    [Weiler 2018, table 4], with the choices of docs/themes/equivariance.md, "Retrieval". An empty
    list scores 0.

    Args:
        lists: for every query the items it retrieves, best first, as indices into `labels`, none
            twice. A query that is itself an item may be in its list, and then counts as a hit.
        labels: class of every item, (n,), integers.
        queries: class of every query; None: the queries are the items.

    Returns:
        Means over queries and over classes, their errors, and the scores of every query.

    Raises:
        ValueError: for lists that hold something else, and queries of which there are no items.

    Example:
        >>> found = retrieval([[0, 2, 1]], torch.tensor([0, 0, 1]), torch.tensor([0]))
        >>> [round(score, 4) for score in found.micro]
        [0.6667, 1.0, 0.8, 0.8333, 0.9197]
    """
    items = _labels("labels", labels)
    asked = items if queries is None else _labels("queries", queries)
    if not isinstance(lists, list | tuple) or len(lists) != len(asked):
        raise ValueError(
            f"lists must be a list with one entry for each of the {len(asked)} queries, got "
            f"{shown(lists)}"
        )
    rows = []
    for i, (found, label) in enumerate(zip(lists, asked.tolist(), strict=True)):
        relevant = int((items == label).sum())
        if relevant == 0:
            raise ValueError(f"query {i} has the label {label}, which no item has")
        rows.append(_scores(_chosen(i, found, items) == label, relevant))
    each = torch.tensor(rows, dtype=torch.float64)
    classes = torch.stack([each[asked == label].mean(0) for label in asked.unique()])
    n = len(each)
    error = each.std(0) / math.sqrt(n) if n > 1 else torch.full((5,), math.nan)
    return Retrieval(
        RetrievalScores(*each.mean(0).tolist()),
        RetrievalScores(*classes.mean(0).tolist()),
        RetrievalScores(*error.tolist()),
        each,
    )


def class_lists(scores: Tensor, longest: int = 1000) -> list[Tensor]:
    """What a classifier retrieves: all items of the query's predicted class, best score first.

    Every item is a query [Cohen 2018, section 5.3]; its list holds the items i whose largest score
    is that of the class c the query is put into, in decreasing order of `scores[i, c]`.

    Args:
        scores: (items, classes), such as logits.
        longest: lists are cut here, at 1000 in the challenge.

    Returns:
        Indices of items, a tensor for every query.

    Example:
        >>> class_lists(torch.tensor([[2.0, 0], [3.0, 0], [0, 1.0]]))
        [tensor([1, 0]), tensor([1, 0]), tensor([2])]
    """
    if not isinstance(scores, Tensor) or scores.ndim != 2 or 0 in scores.shape:
        raise ValueError(f"scores must be a tensor of shape (items, classes), got {shown(scores)}")
    if not scores.is_floating_point() or not bool(scores.isfinite().all()):
        raise ValueError("scores must be finite floating point numbers")
    positive_int("longest", longest)
    predicted = scores.argmax(1)
    lists: dict[int, Tensor] = {}
    for label in predicted.unique().tolist():
        members = (predicted == label).nonzero()[:, 0]
        order = scores[members, label].argsort(descending=True, stable=True)
        lists[label] = members[order][:longest]
    return [lists[label] for label in predicted.tolist()]


def _labels(name: str, labels: Tensor) -> Tensor:
    if (
        not isinstance(labels, Tensor)
        or labels.ndim != 1
        or not len(labels)
        or labels.is_floating_point()
        or labels.is_complex()
    ):
        raise ValueError(f"{name} must be a tensor of integers of shape (n,), got {shown(labels)}")
    return labels.to("cpu", torch.int64)


def _chosen(query: int, found: Sequence[int] | Tensor, items: Tensor) -> Tensor:
    """Labels of the items of one list."""
    try:
        index = torch.as_tensor(found).cpu()
    except (TypeError, ValueError, RuntimeError):
        index = torch.tensor(0.5)
    if index.numel() == 0:
        return items[:0]
    if index.ndim != 1 or index.is_floating_point() or index.is_complex():
        raise ValueError(
            f"the list of query {query} must hold indices of items, got {shown(found)}"
        )
    if int(index.min()) < 0 or int(index.max()) >= len(items):
        raise ValueError(
            f"the list of query {query} must hold indices below {len(items)}, the number of items, "
            f"got {shown(found)}"
        )
    if len(index.unique()) < len(index):
        raise ValueError(f"the list of query {query} holds an item twice; leave the second one out")
    return items[index.long()]


def _scores(hit: Tensor, relevant: int) -> list[float]:
    if not len(hit):
        return [0.0] * 5
    hits = hit.double()
    place = torch.arange(1, len(hit) + 1, dtype=torch.float64)
    found = float(hits.sum())
    precision, recall = found / len(hit), found / relevant
    f1 = 2 * precision * recall / (precision + recall) if found else 0.0
    average = float((hits * hits.cumsum(0) / place).sum()) / relevant
    ideal = torch.log2(1 + torch.arange(1, relevant + 1, dtype=torch.float64)).reciprocal().sum()
    gain = float((hits / torch.log2(1 + place)).sum() / ideal)
    return [precision, recall, f1, average, gain]
