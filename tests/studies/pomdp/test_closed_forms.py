"""Identities, columns, walks and necklaces at their smallest size, and what verdicts rest on."""

import pytest

from regimes.lab import find

STUDIES = ("identities", "columns", "walks", "necklaces")
WITHOUT = {"POM-22"}  # its numbers belong to other exits than those of the protocol
SPOILT = [  # study, variable, what is added to it, claims that are then not reproduced
    ("identities", "value_reset", 1e-3, {"POM-01"}),
    ("identities", "power_gap", 1e-6, {"POM-02"}),
    ("identities", "squarings", 20, {"POM-02"}),
    ("identities", "blind_reward", 1e-9, {"POM-03"}),
    ("identities", "blind_q", 1e-9, {"POM-03"}),
    ("identities", "random_q", 1e-9, {"POM-04"}),
    ("identities", "embedded_reward", 1e-6, {"POM-35"}),
    ("columns", "linear_q", 1e-3, {"POM-05"}),
    ("columns", "linear_ratio", 1e-3, {"POM-06"}),
    ("columns", "random_ratio", 1.0, {"POM-06"}),  # above the bound
    ("columns", "random_ratio", -1.0, {"POM-06"}),  # none above what is printed
    ("columns", "column_q", 1e-3, {"POM-07", "POM-08b"}),
    ("columns", "double_formula", 1e-3, {"POM-08"}),
    ("columns", "double_q", 1e-3, {"POM-08b"}),
    ("columns", "exit_law", 0.1, {"POM-10"}),
    ("columns", "exit_rate", 0.01, {"POM-09", "POM-10", "POM-12"}),
    ("columns", "exit_limit", -0.1, {"POM-11"}),
    ("columns", "top_time", 1e6, {"POM-12b"}),
    ("columns", "spot_q", 1e-3, {"POM-13"}),
    ("columns", "left_bound", -0.01, {"POM-13"}),
    ("columns", "left_bound", 0.01, {"POM-13"}),
    ("columns", "arms_q", 1e-3, {"POM-15"}),
    ("walks", "traverse_solved", 1e-6, {"POM-16"}),
    ("walks", "end_solved", 1e-3, {"POM-17"}),
    ("necklaces", "counted", 1, {"POM-18"}),
    ("necklaces", "chain_length", 1, {"POM-19"}),
    ("necklaces", "wrong_steps", 1, {"POM-19"}),
    ("necklaces", "limit_q", 1e-3, {"POM-20"}),
    ("necklaces", "limit_q", -1e-3, {"POM-20"}),
    ("necklaces", "pair_q", -1e-1, {"POM-21"}),
    ("necklaces", "order_q", 1e-3, {"POM-22b"}),
    ("necklaces", "equal_inner", 0.05, {"POM-22b"}),
    ("necklaces", "log_star", -100.0, {"POM-23"}),
    ("necklaces", "table_exponent", 0.1, {"POM-24"}),
    ("necklaces", "plays_q", -0.28, {"POM-25"}),
    ("necklaces", "arms_q", 1e-2, {"POM-26"}),
]


@pytest.mark.parametrize("name", STUDIES)
def test_formulas_hold_at_any_size(smoke, verdicts, name):
    found = verdicts(find(f"pomdp/{name}"), smoke(f"pomdp/{name}").dataset)
    assert {id for id, verdict in found.items() if verdict != "reproduced"} <= WITHOUT


@pytest.mark.parametrize(("name", "variable", "added", "ids"), SPOILT)
def test_a_spoilt_number_fails_its_own_claims(smoke, verdicts, name, variable, added, ids):
    data = smoke(f"pomdp/{name}").dataset
    found = verdicts(find(f"pomdp/{name}"), data.assign({variable: data[variable] + added}))
    assert {id for id, verdict in found.items() if verdict == "not reproduced"} - WITHOUT == ids


def test_the_stated_errors_are_those_of_other_exits(smoke, verdicts):
    data = smoke("pomdp/necklaces").dataset
    found = verdicts(find("pomdp/necklaces"), data.assign(order_q=data.other_q))
    assert set(found.values()) == {"reproduced"}


def test_all_claims_can_fail():
    told = set.union(*(ids for *_, ids in SPOILT))
    assert told | WITHOUT == {id for name in STUDIES for id in find(f"pomdp/{name}").judges}


def test_the_column_is_drawn_from_its_policy(smoke):
    """Steps between neighbours alone: up after +, down after -, across at the bottom."""
    play = smoke("pomdp/columns").dataset.scheme_policy.values
    states = play.shape[1] // 2
    moves = play.reshape(states, 2, 2, states, 2)
    assert moves[3, 0, 0, 4, 0] == moves[3, 1, 1, 2, 1] == moves[0, 0, 1, 0, 1] == 1.0
    assert moves[states - 1, 0, 1, states - 2, 0] == pytest.approx(0.1)


def test_the_necklaces_that_are_drawn_have_two_exits_each(smoke):
    data = smoke("pomdp/necklaces").dataset
    flip, chain = data.diagram_flip.values, data.diagram_chain.values.astype(int)
    exits = [(flip[[w for w in row if w >= 0]] > 0).sum() for row in chain]
    assert exits == [1, 2, 2, 2, 1]
