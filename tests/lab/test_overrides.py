from dataclasses import dataclass

import pytest

from regimes.lab import override
from regimes.lab._parameters import shown


@dataclass(frozen=True)
class Params:
    width: int = 10
    seeds: tuple[int, ...] = (0, 1)
    bias: bool = False


def test_settings_are_applied_in_turn():
    assert override(Params(), ["width=3", "seeds=4", "width=5"]) == Params(5, (4,))


def test_an_unknown_key_lists_the_valid_ones_with_types_nearest_first():
    with pytest.raises(ValueError, match="unknown parameter 'widht'") as caught:
        override(Params(), ["widht=3"])
    lines = str(caught.value).splitlines()
    assert lines[1] == "  width: integer (now 10)"
    assert "  seeds: list of integer (now 0,1)" in lines
    assert "  bias: true or false (now false)" in lines


@pytest.mark.parametrize("setting", ["width", "width=abc", "seeds=1,x", "bias=2"])
def test_what_cannot_be_read_is_refused(setting):
    with pytest.raises(ValueError, match=setting.partition("=")[0]):
        override(Params(), [setting])


def test_shown_values_can_be_typed_again():
    params = Params(seeds=(7, 8), bias=True)
    settings = [f"{k}={shown(getattr(params, k))}" for k in ("width", "seeds", "bias")]
    assert override(Params(), settings) == params
