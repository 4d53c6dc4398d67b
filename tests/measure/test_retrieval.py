"""Scores of retrieved lists; claim EQU-19."""

import math

import pytest
import torch

from regimes.measure import class_lists, retrieval

LABELS = torch.tensor([0, 0, 0, 1, 1, 2])  # six items: three, two and one of a kind
LISTS = [[0, 3, 1], [1, 0, 2], [], [4, 3], [5, 2, 0, 4], [0, 5]]
LOG3 = math.log2(3)
IDEAL = {1: 1.0, 2: 1 + 1 / LOG3, 3: 1 + 1 / LOG3 + 1 / 2}
BY_HAND = [
    [2 / 3, 2 / 3, 2 / 3, (1 + 2 / 3) / 3, (1 + 1 / 2) / IDEAL[3]],  # hits at 1 and 3 of three
    [1.0, 1.0, 1.0, 1.0, 1.0],
    [0.0, 0.0, 0.0, 0.0, 0.0],
    [1.0, 1.0, 1.0, 1.0, 1.0],
    [1 / 4, 1 / 2, 1 / 3, (1 / 4) / 2, (1 / math.log2(5)) / IDEAL[2]],  # a hit at 4
    [1 / 2, 1.0, 2 / 3, 1 / 2, 1 / LOG3],  # a hit at 2
]


def test_six_items_score_as_worked_by_hand():
    """Claim EQU-19."""
    found = retrieval(LISTS, LABELS)
    each = torch.tensor(BY_HAND, dtype=torch.float64)
    assert torch.allclose(found.each, each, rtol=0, atol=1e-12)
    classes = (each[:3].mean(0) + each[3:5].mean(0) + each[5]) / 3
    assert torch.allclose(torch.tensor([*found.micro]).double(), each.mean(0), atol=1e-7)
    assert found.micro.average_precision == pytest.approx(float(each[:, 3].mean()), abs=1e-12)
    assert [*found.macro] == pytest.approx(classes.tolist(), abs=1e-12)
    assert found.total == pytest.approx(float(each[:, 3].mean() + classes[3]), abs=1e-12)
    assert [*found.error] == pytest.approx((each.std(0) / math.sqrt(6)).tolist(), abs=1e-12)


def test_scores_agree_with_those_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    draws = torch.Generator().manual_seed(0)
    labels = torch.randint(0, 3, (30,), generator=draws)
    order = torch.stack([torch.randperm(30, generator=draws) for _ in range(30)])
    found = retrieval(list(order), labels)
    for i in range(30):
        relevant, score = (labels == labels[i]).double(), torch.zeros(30)
        score[order[i]] = torch.arange(30, 0, -1).float()
        expected = metrics.average_precision_score(relevant, score)
        assert float(found.each[i, 3]) == pytest.approx(expected)
        assert float(found.each[i, 4]) == pytest.approx(
            metrics.ndcg_score(relevant[None], score[None])
        )


def test_a_perfect_classifier_retrieves_its_classes():
    labels = torch.arange(12) % 3
    scores = torch.nn.functional.one_hot(labels).double()
    found = retrieval(class_lists(scores), labels)
    assert [*found.micro] == [1.0] * 5
    assert found.total == 2
    short = retrieval(class_lists(scores, longest=2), labels)
    assert short.micro.precision == 1
    assert short.micro.recall == 0.5


def test_lists_hold_the_predicted_class_best_score_first():
    scores = torch.tensor([[0.1, 0.9], [0.2, 0.8], [0.7, 0.3], [0.0, 1.0]])
    assert [each.tolist() for each in class_lists(scores)] == [[3, 0, 1], [3, 0, 1], [2], [3, 0, 1]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: retrieval([[0]], LABELS), "one entry for each of the 6 queries"),
        (lambda: retrieval([[6]], LABELS, torch.tensor([0])), "indices below 6"),
        (lambda: retrieval([[1, 1]], LABELS, torch.tensor([0])), "an item twice"),
        (lambda: retrieval([[0.5]], LABELS, torch.tensor([0])), "must hold indices"),
        (lambda: retrieval([[0]], LABELS, torch.tensor([7])), "label 7, which no item has"),
        (lambda: retrieval([[0]], LABELS.float()), "labels must be a tensor of integers"),
        (lambda: class_lists(torch.zeros(3)), r"shape \(items, classes\)"),
        (lambda: class_lists(torch.full((2, 2), math.nan)), "finite"),
    ],
)
def test_what_is_no_list_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
