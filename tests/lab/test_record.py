import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regimes.lab import Array, CorruptRecordError, Record, Series, TrialConfig, TrialResult
from regimes.lab._record import check_arrays, decode, decode_json, encode

CONFIG = TrialConfig("a/b", 1, {"d": 3, "seed": 7}, {"p": 1, "alpha": (0.5, 1.0)}, "float64")


def record(**result):
    made = TrialResult(**result)
    return Record(CONFIG, "finished", made, seconds=0.5, provenance={"device": "cpu"})


def again(made):
    encoded = encode(made)
    body = decode_json(encoded.trial_json, made.key)
    check_arrays(body, encoded.arrays)
    return decode(body, encoded.arrays)


scalars = st.dictionaries(
    st.text(min_size=1, max_size=6), st.one_of(st.floats(), st.integers(), st.booleans(), st.text())
)


@given(scalars)
def test_scalars_survive_bit_for_bit(values):
    result = again(record(scalars=values)).result.scalars
    assert {k: repr(v) for k, v in result.items()} == {k: repr(v) for k, v in values.items()}


@pytest.mark.parametrize("kind", ["float32", "float64", "int64", "uint8", "bool"])
def test_arrays_and_series_survive_bit_for_bit(kind):
    values = np.arange(6).reshape(2, 3).astype(kind)
    made = record(
        arrays={"x": Array(("i", "j"), values)},
        series={"y": Series([0.1, 0.2], [1.0, np.nan])},
    )
    result = again(made).result
    assert result.arrays["x"].dims == ("i", "j")
    assert result.arrays["x"].values.dtype == kind
    np.testing.assert_array_equal(result.arrays["x"].values, values)
    np.testing.assert_array_equal(result.series["y"].times, [0.1, 0.2])
    np.testing.assert_array_equal(result.series["y"].values, [1.0, np.nan])


def test_the_text_is_json_and_tells_the_whole_story():
    body = json.loads(encode(record(scalars={"x": float("nan"), "y": 1})).trial_json)
    assert body["config"] == {**CONFIG.as_dict(), "point": {"p": 1, "alpha": [0.5, 1.0]}}
    assert (body["status"], body["seed"], body["seconds"]) == ("finished", 7, 0.5)
    assert body["nonfinite"] == ["x"]
    assert body["provenance"] == {"device": "cpu"}


def test_equal_results_have_equal_bytes():
    made = [encode(record(arrays={"x": Array("i", [1.0, 2.0])})) for _ in range(2)]
    assert made[0] == made[1]


@given(st.data())
def test_any_changed_or_missing_byte_is_noticed(data):
    encoded = encode(record(scalars={"x": 1.5}, arrays={"y": Array("i", [1.0, 2.0])}))
    body = decode_json(encoded.trial_json, CONFIG.key)
    for content, check in (
        (encoded.trial_json, lambda text: decode_json(text, CONFIG.key)),
        (encoded.arrays, lambda text: check_arrays(body, text)),
    ):
        place = data.draw(st.integers(0, len(content) - 1))
        changed = bytearray(content)
        changed[place] ^= data.draw(st.integers(1, 255))
        for damaged in (bytes(changed), content[:place]):
            with pytest.raises(CorruptRecordError):
                check(damaged)


def test_a_record_in_the_wrong_folder_is_noticed():
    with pytest.raises(CorruptRecordError, match="belongs to trial"):
        decode_json(encode(record()).trial_json, "0" * 20)


def test_missing_arrays_are_noticed():
    body = decode_json(encode(record(arrays={"y": Array("i", [1.0])})).trial_json, CONFIG.key)
    with pytest.raises(CorruptRecordError, match="missing"):
        check_arrays(body, None)
