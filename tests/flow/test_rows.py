"""What a run records costs what its numbers take."""

import tracemalloc

import pytest
import torch

from regimes import data, flow, nets
from regimes.flow._rows import Rows


def test_rows_come_back_member_by_member():
    rows = Rows()
    rows.add(torch.tensor([0, 1]), torch.tensor([0.0, 0.0]).double(), torch.tensor([[1.0], [2.0]]))
    for i in range(1, 100):
        rows.add(torch.tensor([1]), torch.tensor([float(i)]).double(), torch.tensor([[2.0 + i]]))
    rows.add(torch.tensor([0]), torch.tensor([5.0]).double(), torch.tensor([[9.0]]))
    members, times, values = rows.by_member()
    assert members.tolist() == [0, 0] + [1] * 100
    assert times.tolist() == [0.0, 5.0, *map(float, range(100))]
    assert values[:, 0].tolist() == [1.0, 9.0, *(2.0 + i for i in range(100))]
    again = Rows()
    again.restore(rows.kept())
    again.add(torch.tensor([1]), torch.tensor([100.0]).double(), torch.tensor([[0.0]]))
    assert len(again.filled[0]) == 103


def test_a_record_takes_its_numbers_and_sixteen_bytes():
    rows, looks, members = Rows(), 50, 400
    ids = torch.arange(members)
    tracemalloc.start()
    for i in range(looks):
        rows.add(ids, torch.full((members,), float(i)).double(), torch.ones(members, 6))
    python, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    stored = sum(block.untyped_storage().nbytes() for block in rows.filled)
    assert python + stored <= 2 * looks * members * (6 * 4 + 16)  # blocks double


def test_an_observer_that_changes_its_shape_is_named():
    widths = iter(range(1, 100))
    observer = flow.Observer(lambda s: torch.zeros(len(s.numbers), next(widths)), flow.EverySteps())
    ds = data.random_labels(6, 2, 3)
    with pytest.raises(ValueError, match=r"observer 'odd'.*shape \(1,\) before and has \(2,\)"):
        flow.gradient_flow(nets.FullyConnected(3, 4), ds, max_steps=3, observe={"odd": observer})
