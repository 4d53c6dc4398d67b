"""Unions of grids, axes cut into batches, and trials that older forms of a study left."""

from dataclasses import dataclass

import numpy as np
import pytest
import xarray as xr

from regimes.lab import (
    Array,
    Axis,
    Store,
    TrialConfig,
    TrialResult,
    collect,
    collect_blocks,
    gather,
    override,
    ran,
    rows,
    run,
    study,
    unfinished,
)
from regimes.lab.judge import Missing


@dataclass(frozen=True)
class Cut:
    width: tuple[int, ...] = (4, 8)
    seed: tuple[int, ...] = (0, 1, 2, 3, 4)
    per_trial: int = 2
    shift: float = 0.5


@dataclass(frozen=True)
class Widths:
    width: tuple[int, ...] = (4, 8)
    seed: tuple[int, ...] = (0, 1)
    eps: float = 0.1


@dataclass(frozen=True)
class Scales:
    scale: tuple[float, ...] = (0.1, 10.0)
    kind: tuple[str, ...] = ("a",)
    seed: tuple[int, ...] = (1, 2)
    eps: float = 0.1


SEED = Axis("seed", stacked=True)


@pytest.fixture(autouse=True)
def registry(toys):
    """Forget what these tests declare."""


def cut_study(**details):
    class Body:
        @staticmethod
        def trial(params, point):
            members = 100 * point.width + np.array(point.seed) + params.shift
            return TrialResult(
                {"first": float(point.seed[0])},
                {"value": Array("seed", members), "own": Array(("seed", "r"), members[:, None])},
            )

    for name, value in details.pop("methods", {}).items():
        setattr(Body, name, staticmethod(value))
    axes = ["width", Axis("seed", stacked=True, batch="per_trial")]
    return study("toy/cut", version=1, sizes={"smoke": Cut()}, axes=axes, **details)(Body)


def union_study():
    class Body:
        @staticmethod
        def trial(params, point):
            size = point.width if point.block == "widths" else point.scale
            return TrialResult({"size": float(size)}, {"value": Array("seed", point.seed)})

    return study(
        "toy/union",
        version=1,
        sizes={"smoke": {"widths": Widths(), "scales": Scales()}},
        axes={"widths": ["width", SEED], "scales": ["scale", "kind", SEED]},
    )(Body)


def test_a_cut_axis_is_whole_again_in_the_dataset(tmp_path):
    made = cut_study()
    summary = run(made, store=Store(tmp_path))
    data = summary.dataset
    assert (summary.trials, summary.failed) == (6, 0)
    assert data.value.dims == ("width", "seed")
    np.testing.assert_array_equal(data.value.sel(width=8), 800.5 + np.arange(5))
    np.testing.assert_array_equal(data["first"].sel(width=4), [0, 0, 2, 2, 4])
    assert data.own.dims == ("width", "seed", "r")
    assert (data.trial_state == 2).all()


def test_how_an_axis_is_cut_is_in_no_key_and_more_seeds_keep_the_full_batches():
    made = cut_study()
    keys = {config.key for config in made.configs(Cut())}
    more = {config.key for config in made.configs(Cut(seed=tuple(range(8))))}
    assert len(keys & more) == 4  # the batches (0, 1) and (2, 3) of both widths
    assert all("per_trial" not in config.params for config in made.configs(Cut()))
    together = made.configs(Cut(per_trial=0))
    assert [config.point["seed"] for config in together] == [(0, 1, 2, 3, 4)] * 2


def test_a_cut_scan_that_is_half_done_has_gaps(tmp_path):
    store = Store(tmp_path)
    made = cut_study()
    run(made, store=store, seed=(0, 1))
    data = collect(gather(made, Cut(), store=store))
    np.testing.assert_array_equal(np.isnan(data.value).all("width"), [0, 0, 1, 1, 1])
    assert unfinished(data) == 6


def test_a_scan_of_one_stacked_trial_has_no_axis_of_trials(tmp_path):
    @dataclass(frozen=True)
    class One:
        seed: tuple[int, ...] = (0, 1)

    class Body:
        @staticmethod
        def trial(params, point):
            return TrialResult({"count": 2}, {"value": Array("seed", point.seed)})

    made = study("toy/one", version=1, sizes={"smoke": One()}, axes=[SEED])(Body)
    data = run(made, store=Store(tmp_path)).dataset
    assert (data["count"].dims, data.value.dims, int(data["count"])) == ((), ("seed",), 2)


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        ({"batch": "per_trial"}, "must be stacked"),
        ({"stacked": True, "batch": "nothing"}, "must be a field"),
    ],
)
def test_a_wrong_cut_is_refused(axis, message):
    with pytest.raises(ValueError, match=message):
        study("toy/wrong", version=1, sizes={"smoke": Cut()}, axes=[Axis("seed", **axis)])(
            type("Body", (), {"trial": staticmethod(lambda params, point: None)})
        )


def test_a_union_is_a_table_with_a_row_per_trial(tmp_path):
    data = run(union_study(), store=Store(tmp_path)).dataset
    assert dict(data.sizes) == {"trial": 4, "seed": 3}
    assert data.block.values.tolist() == ["widths", "widths", "scales", "scales"]
    np.testing.assert_array_equal(data.seed, [0, 1, 2])
    np.testing.assert_array_equal(data.value[0], [0, 1, np.nan])
    np.testing.assert_array_equal(data.value[3], [np.nan, 1, 2])
    assert float(rows(data, "scales", scale=10.0, kind="a")["size"].item()) == 10.0
    assert rows(data, "widths").sizes["trial"] == 2
    with pytest.raises(Missing, match="no trial of widths, width = 5 has finished"):
        rows(data, "widths", width=5)


def test_a_parameter_of_one_block_leaves_the_trials_of_the_others():
    made = union_study()
    params = made.parameters("smoke")
    base = {config.key for config in made.configs(params)}
    changed = {config.key for config in made.configs(override(params, ["widths.eps=0.2"]))}
    assert len(base & changed) == 2


def test_a_bare_name_sets_every_block_and_block_chooses():
    made = union_study()
    both = override(made.parameters("smoke"), ["seed=7,8", "scales.eps=0.3"])
    assert (both["widths"].seed, both["scales"].seed) == ((7, 8), (7, 8))
    assert (both["widths"].eps, both["scales"].eps) == (0.1, 0.3)
    one = override(made.parameters("smoke"), ["block=scales"])
    assert list(one) == ["scales"]
    assert len(made.configs(one)) == 2
    with pytest.raises(ValueError, match="unknown block 'depths'"):
        override(made.parameters("smoke"), ["block=depths"])
    with pytest.raises(ValueError, match="unknown parameter 'epss'"):
        override(made.parameters("smoke"), ["epss=1"])


def test_blocks_of_one_trial_need_no_axis(tmp_path):
    @dataclass(frozen=True)
    class Part:
        size: int = 2

    class Body:
        @staticmethod
        def trial(params, point):
            return TrialResult({point.block: params.size})

        summarise = staticmethod(collect_blocks)

    made = study(
        "toy/parts",
        version=1,
        sizes={"smoke": {"one": Part(), "two": Part(3)}},
        axes={"one": [], "two": []},
    )(Body)
    data = run(made, store=Store(tmp_path)).dataset
    assert (float(data.one), float(data.two), data.one.dims) == (2, 3, ())
    assert data.trial_state.dims == ("block",)
    assert ran(data, "two") is data
    one = run(made, store=Store(tmp_path), block=("two",)).dataset
    with pytest.raises(Missing, match="the block one has not run"):
        ran(one, "one")
    with pytest.raises(Missing, match="the block one has not run"):
        ran(xr.Dataset(), "one")


def formerly(params, config):
    """Batches of seeds had a number, and there was a parameter that said how many."""
    seeds, size = config.point["seed"], params.per_trial
    point = {"width": config.point["width"], "batch": seeds[0] // size}
    return TrialConfig(config.study, 1, {**config.params, "seeds": size}, point, config.dtype)


def test_trials_of_an_older_form_are_adopted(tmp_path):
    @dataclass(frozen=True)
    class Old:
        width: tuple[int, ...] = (4, 8)
        batch: tuple[int, ...] = (0, 1)
        seeds: int = 2
        shift: float = 0.5

    class Body:
        @staticmethod
        def trial(params, point):
            members = [-1.0 * (point.batch * params.seeds + i) for i in range(params.seeds)]
            return TrialResult({"first": members[0]}, {"value": Array("member", members)})

    old = study("toy/cut", version=1, sizes={"smoke": Old()}, axes=["width", "batch"])(Body)
    store = Store(tmp_path)
    run(old, store=store)
    made = cut_study(methods={"formerly": formerly}, renamed={"member": "seed"})
    seen = collect(gather(made, Cut(seed=(0, 1, 2, 3)), store=store))
    np.testing.assert_array_equal(seen.value.sel(width=4), [0, -1, -2, -3])  # read where they lie
    summary = run(made, store=store, seed=(0, 1, 2, 3, 4))
    np.testing.assert_array_equal(summary.dataset.value.sel(width=8), [0, -1, -2, -3, 804.5])
    record = store.read("toy/cut", made.configs(Cut())[0].key)
    former = old.configs(Old())[0]
    assert record.provenance["formerly"] == former.key
    assert made.knows(record.config)
    assert not made.knows(former)  # it has no seeds


def test_a_parameter_may_stand_in_keys_under_its_old_name(tmp_path):
    @dataclass(frozen=True)
    class Old:
        at: tuple[float, ...] = (0.1, 1.0)

    @dataclass(frozen=True)
    class New:
        scale: tuple[float, ...] = (0.1, 1.0)

    class Body:
        @staticmethod
        def trial(params, point):
            return TrialResult({"twice": 2 * point.scale})

    facts = {"version": 1, "axes": ["at"], "sizes": {"smoke": Old()}}
    old = study("toy/named", **facts)(Body)
    facts |= {"axes": ["scale"], "sizes": {"smoke": New()}, "stored": {"scale": "at"}}
    new = study("toy/named", **facts)(Body)
    assert [c.key for c in old.configs(Old())] == [c.key for c in new.configs(New())]
    data = run(new, store=Store(tmp_path)).dataset
    np.testing.assert_array_equal(data.twice.sel(scale=1.0), 2.0)
    older = data.rename(scale="at")
    assert new.upgraded(older).equals(data)
    assert new.upgraded(data).equals(data)
