"""Memory budgets: what a user may say, and what is free."""

import pytest
import torch

from regimes import _memory


def test_free_memory_is_positive():
    assert _memory.free_bytes(torch.device("cpu")) > 0


@pytest.mark.parametrize(
    ("text", "count"), [("1KiB", 1024), ("2.5 MB", 2_500_000), ("3gib", 3 * 2**30), (17, 17)]
)
def test_sizes(text, count):
    assert _memory.parse_bytes(text, torch.device("cpu")) == count
