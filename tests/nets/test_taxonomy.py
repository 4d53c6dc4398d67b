"""Every row of the table of equivariant networks, built and tried (EQU-56)."""

import importlib.util

import pytest
import torch

from regimes import measure, nets

ROWS = nets.taxonomy()
CASES = [(number, case) for number, row in enumerate(ROWS) for case in row.cases]


def test_the_table_is_whole():
    assert len(ROWS) == 16
    assert [row.group for row in ROWS if not row.constructors] == ["R^2 x (R+, *)"]
    assert all(row.cases for row in ROWS if row.constructors)
    assert sum(len(row.references) for row in ROWS) == 26
    for row in ROWS:
        for name in row.constructors:
            if name != "torch's nn.Conv2d":
                folder, short = name.split(".")
                assert callable(getattr(getattr(nets, folder), short))


@pytest.mark.parametrize(("row", "case"), CASES)
def test_every_constructor_is_equivariant(row, case, dtype):
    if case in ("points", "attention") and importlib.util.find_spec("e3nn") is None:
        pytest.skip("needs an extra: see CONTRIBUTING.md")
    given = ROWS[row].example(case, seed=3, dtype=dtype)
    assert given.samples.dtype == dtype
    measure.assert_equivariant(
        given.network, given.samples, given.elements, given.act_in, given.act_out
    )
    with torch.no_grad():
        out = given.network(given.samples)
        other = given.network(given.samples.flip(0))
    assert (out - other).abs().max() > 1e-3  # and does not answer the same to everything


@pytest.mark.parametrize("seed", range(30))
def test_no_example_is_dead(seed):
    """ReLU once left some samples of some seeds with zeros alone, which have no relative error."""
    for row, case in [(4, "D4h"), (4, "O"), (4, "Oh"), (6, "C8"), (15, "cube")]:
        given = ROWS[row].example(case, seed=seed)
        with torch.no_grad():
            assert given.network(given.samples).flatten(1).std(1).min() > 1e-3


def test_seeds_change_the_networks():
    one, two = (ROWS[1].example("p4", seed=seed) for seed in (0, 1))
    assert not torch.equal(one.samples, two.samples)
    assert not torch.equal(one.network(one.samples), two.network(one.samples))


def test_what_is_not_there_is_said():
    with pytest.raises(ValueError, match="it has: p4, p4m"):
        ROWS[1].example("p5")
    with pytest.raises(ValueError, match="it has: none"):
        ROWS[10].example("scale")
    with pytest.raises(ValueError, match="float32 or"):
        ROWS[1].example("p4", dtype=torch.float16)
