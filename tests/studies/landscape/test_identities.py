"""The identities of the theme at their smallest size, and what verdicts rest on."""

import pytest

from regimes.lab import find

NAME = "landscape/identities"
EXACT = {"LAND-33", "LAND-34", "LAND-37"}  # at any size; LAND-32 needs more points
SPOILT = [  # variable, what is added to it, claims that are then not reproduced
    ("apart", 1.0, {"LAND-33"}),
    ("moved", 1e-9, {"LAND-34"}),
    ("loss", -1.0, {"LAND-34"}),
    ("odd", 0.5, {"LAND-37"}),
    ("flipped", 1e-9, {"LAND-37"}),
]


@pytest.fixture(scope="module")
def data(smoke):
    return smoke(NAME).dataset


def test_identities_hold_at_any_size(data, verdicts):
    found = verdicts(find(NAME), data)
    assert {id for id in EXACT if found[id] != "reproduced"} == set()


@pytest.mark.parametrize(("variable", "added", "ids"), SPOILT)
def test_a_spoilt_number_fails_its_own_claim(data, verdicts, variable, added, ids):
    found = verdicts(find(NAME), data.assign({variable: data[variable] + added}))
    assert {id for id in EXACT if found[id] == "not reproduced"} == ids


@pytest.mark.parametrize(
    ("lost", "constant", "expected"),
    [
        (0, 0, "reproduced"),  # as many as the paper says
        (2, 1, "not reproduced"),  # explained, but in every network
        (1, 0, "not reproduced"),
    ],
)
def test_a_deficit_needs_a_neuron_that_never_changes(data, verdicts, lost, constant, expected):
    count = data.total - data.hidden - lost + 0 * data["count"]
    on = data.always_on * 0 + constant
    known = data.assign({"count": count, "always_on": on, "always_off": 0 * on})
    assert verdicts(find(NAME), known)["LAND-32"] == expected
