import pytest
from hypothesis import given
from hypothesis import strategies as st

from regimes.lab import Point, TrialConfig
from regimes.lab._config import canonical_json

values = st.one_of(
    st.integers(-(2**40), 2**40), st.floats(allow_nan=False, allow_infinity=False), st.text()
)
tables = st.dictionaries(st.text(min_size=1, max_size=5), values, max_size=4)


def config(params, point, **changes):
    facts = {"study": "a/b", "version": 1, "dtype": "float64", **changes}
    return TrialConfig(params=params, point=point, **facts)


@given(tables, tables)
def test_the_key_does_not_depend_on_the_order_of_names(params, point):
    turned = config(dict(reversed(params.items())), dict(reversed(point.items())))
    assert config(params, point).key == turned.key


@given(tables, tables)
def test_a_configuration_survives_json(params, point):
    made = config(params, {**point, "seed": (0, 1)})
    again = TrialConfig.from_dict(made.as_dict())
    assert again == made
    assert again.key == made.key


def test_everything_named_changes_the_key():
    keys = {
        config({"d": 1}, {"p": 1}).key,
        config({"d": 2}, {"p": 1}).key,
        config({"d": 1}, {"p": 2}).key,
        config({"d": 1}, {"p": 1}, study="a/c").key,
        config({"d": 1}, {"p": 1}, version=2).key,
        config({"d": 1}, {"p": 1}, dtype="float32").key,
        config({"d": 1, "p": 1}, {}).key,
    }
    assert len(keys) == 7


def test_the_key_is_the_same_for_ever():
    # A change here orphans every store in the world.
    assert config({"d": 10, "x": 0.1}, {"p": 5, "seed": (0, 1)}).key == "3a4286d60df4c5034e5b"


def test_nan_has_no_canonical_form():
    with pytest.raises(ValueError, match="Out of range"):
        canonical_json({"x": float("nan")})


def test_a_point_reads_like_a_mapping_and_like_an_object():
    point = Point({"p": 3, "seed": (0,)}, dtype="float32", device="cuda")
    assert point["p"] == point.p == 3
    assert dict(point) == {"p": 3, "seed": (0,)}
    assert (point.dtype, point.device) == ("float32", "cuda")
    with pytest.raises(AttributeError, match="no axis 'q'"):
        _ = point.q
