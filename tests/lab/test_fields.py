from dataclasses import dataclass

import numpy as np
import pytest

from regimes.lab._fields import FieldType, coerced, field_types


@dataclass(frozen=True)
class Params:
    d: int = 3
    alpha: tuple[float, ...] = (1.0,)
    name: str | None = None
    bias: bool = True


def test_types_are_read_from_the_hints():
    kinds = field_types(Params)
    assert kinds["alpha"] == FieldType(float, many=True)
    assert kinds["name"] == FieldType(str, optional=True)
    assert [str(kind) for kind in kinds.values()] == [
        "integer",
        "list of number",
        "text or none",
        "true or false",
    ]


def test_one_value_has_one_spelling():
    made = coerced(Params(d=np.int64(3), alpha=[1, np.float32(0.5)]))
    assert made == Params(3, (1.0, 0.5))
    assert type(made.d) is int
    assert [type(value) for value in made.alpha] == [float, float]


@pytest.mark.parametrize(
    "changes",
    [
        {"d": 1.5},
        {"d": True},
        {"d": "1"},
        {"alpha": 1.0},
        {"alpha": "0.5"},
        {"alpha": (float("nan"),)},
        {"bias": 1},
        {"bias": None},
    ],
)
def test_other_values_are_refused_by_name(changes):
    with pytest.raises(ValueError, match=next(iter(changes))):
        coerced(Params(**changes))


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (FieldType(int), "7", 7),
        (FieldType(float), "1e-3", 1e-3),
        (FieldType(float), "2", 2.0),
        (FieldType(bool), "no", False),
        (FieldType(bool), "True", True),
        (FieldType(str), "a b", "a b"),
        (FieldType(str, many=True), "a, b", ("a", "b")),
        (FieldType(int, optional=True), "none", None),
    ],
)
def test_text_is_read(kind, text, value):
    assert kind.parse("x", text) == value


@pytest.mark.parametrize(
    ("kind", "text"),
    [(FieldType(int), "1.5"), (FieldType(bool), "maybe"), (FieldType(float, many=True), "1,b")],
)
def test_text_of_the_wrong_kind_is_refused(kind, text):
    with pytest.raises(ValueError, match="x must be a"):
        kind.parse("x", text)


def test_types_that_cannot_be_stored_are_refused():
    @dataclass(frozen=True)
    class Bad:
        table: dict[str, int]

    with pytest.raises(ValueError, match=r"Bad\.table"):
        field_types(Bad)


def test_parameters_must_be_frozen():
    @dataclass
    class Loose:
        d: int = 1

    with pytest.raises(ValueError, match="frozen"):
        field_types(Loose)
