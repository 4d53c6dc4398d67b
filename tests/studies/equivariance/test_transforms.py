"""Exact symmetry at its smallest size, and what its verdicts rest on; claims EQU-01 and EQU-03."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import find
from regimes.studies.equivariance.transforms import _lattice

STUDY = "equivariance/transforms"
EXACT = {
    "EQU-01", "EQU-03", "EQU-04", "EQU-05", "EQU-06", "EQU-11", "EQU-19", "EQU-23"
}  # fmt: skip
SPOILT = [  # variable, what is added to it, the claim that is then not reproduced
    ("shift_error", 1e-5, "EQU-01"),
    ("stride_even", 1e-5, "EQU-01"),
    ("dihedral_float32", 1e-4, "EQU-03"),
    ("dihedral_float64", 1e-11, "EQU-03"),
    ("kernels_lifting", 1.0, "EQU-03"),
    ("kernels_regular", -1.0, "EQU-03"),
    ("s2_round_trip", 1e-11, "EQU-04"),
    ("so3_round_trip", 1e-11, "EQU-04"),
    ("quadrature", 1e-11, "EQU-04"),
    ("theorem_s2", 1e-9, "EQU-05"),
    ("theorem_so3", 1e-9, "EQU-05"),
    ("column_middle", 1e-11, "EQU-06"),
    ("column_others", 1e-11, "EQU-06"),
    ("zonal_gap", 1e-11, "EQU-11"),
    ("correlation_gap", -10.0, "EQU-11"),
    ("retrieval_gap", 1e-11, "EQU-19"),
    ("molecule_shift", 1e-5, "EQU-23"),
    ("molecule_turn", 1e-5, "EQU-23"),
]


def test_identities_hold_at_any_size(smoke, verdicts):
    found = verdicts(find(STUDY), smoke(STUDY).dataset)
    assert {id for id, verdict in found.items() if verdict == "reproduced"} >= EXACT


@pytest.mark.parametrize(("variable", "added", "id"), SPOILT)
def test_a_spoilt_number_fails_its_own_claim(smoke, verdicts, variable, added, id):
    data = smoke(STUDY).dataset
    found = verdicts(find(STUDY), data.assign({variable: data[variable] + added}))
    assert {id for id, verdict in found.items() if verdict == "not reproduced"} & EXACT == {id}


def law(worth=1.0, growth=2.0):
    """Curves and times that follow the law: m copies are worth m points, ratios grow with b."""
    n, seeds = np.array([50.0, 100, 200, 400, 800]), np.arange(4)
    noise = 1 + 0.02 * np.random.default_rng(0).standard_normal((4, 3, 2, 5))
    m = np.array([2.0, 4, 8])
    copies = np.stack([np.ones(3), worth * m], 1)[None, :, :, None]
    b = np.array([3, 4, 5])
    direct = 200.0 * growth ** (b - 4) * (1 + 0.01 * np.arange(4))[:, None]
    return xr.Dataset(
        {
            "mse": (("seed", "group", "kernel", "n_train"), noise * (copies * n) ** -1.2),
            "direct_seconds": (("seed", "cost_b"), direct),
            "spectral_seconds": (("seed", "cost_b"), np.ones((4, 3))),
            "cost_gap": (("seed", "cost_b"), np.full((4, 3), 1e-15)),
        },
        {"seed": seeds, "group": m, "n_train": n, "cost_b": b},
    )


@pytest.mark.parametrize(
    ("made", "samples", "cost"),
    [
        (law(), "reproduced", "reproduced"),
        (law(worth=0.4), "not reproduced", "reproduced"),
        (law(worth=1.6), "not reproduced", "reproduced"),
        (law(growth=0.7), "reproduced", "not reproduced"),
        (law().assign(direct_seconds=law().direct_seconds / 3), "reproduced", "not reproduced"),
        (law().isel(cost_b=[0, 2]), "reproduced", "inconclusive"),
    ],
)
def test_data_that_follow_the_law_are_reproduced(verdicts, made, samples, cost):
    found = verdicts(find(STUDY), made)
    assert (found["EQU-02"], found["EQU-12"]) == (samples, cost)


def test_turns_and_mirrors_of_the_square_form_a_group():
    table = np.array(_lattice._table())
    assert table[0].tolist() == list(range(8))
    for rows in (table, table.T):
        assert all(sorted(row) == list(range(8)) for row in rows.tolist())
    assert (table[table[:, 3], 5] == [table[i, table[3, 5]] for i in range(8)]).all()
    assert (table != table.T).any()
