"""Claims declared in several files become those of one study."""

import pytest
import xarray as xr

from regimes.lab.judge import Claims, above


def declared(*ids):
    claim = Claims()
    for id in ids:

        @claim(id, "positive")
        def judge(dataset):
            yield above("value", dataset.attrs["value"], 0.0)

    return claim


def test_joined_claims_keep_their_order_and_their_judges():
    whole = Claims(declared("X-2", "X-1"), declared("X-3"))
    assert whole.ids == ("X-2", "X-1", "X-3")
    found = whole.judged(xr.Dataset(attrs={"value": 1.0}))
    assert [claim.verdict.value for claim in found] == ["reproduced"] * 3


def test_a_claim_has_one_judge_in_all_files():
    with pytest.raises(ValueError, match="X-1 has two judges"):
        Claims(declared("X-1"), declared("X-1"))
