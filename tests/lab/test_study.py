from dataclasses import dataclass, replace

import pytest

from regimes.lab import Axis, Point, TrialResult, study


@dataclass(frozen=True)
class Params:
    p: tuple[int, ...] = (1, 2, 3)
    seed: tuple[int, ...] = (0, 1)
    d: int = 5


class Body:
    """About it."""

    @staticmethod
    def trial(params, point):
        return TrialResult({"x": 1.0})


def declare(name="toy/declared", body=Body, **changes):
    facts = {
        "version": 1,
        "sizes": {"smoke": Params()},
        "axes": ["p", Axis("seed", stacked=True)],
        **changes,
    }
    return study(name, **facts)(body)


@pytest.fixture(autouse=True)
def registry(toys):
    """Forget what these tests declare."""


def test_separate_axes_make_trials_and_stacked_ones_batches():
    made = declare()
    points = [config.point for config in made.configs(Params())]
    assert points == [{"p": p, "seed": (0, 1)} for p in (1, 2, 3)]


def test_a_longer_scan_keeps_the_trials_done():
    made = declare()
    short = {config.key for config in made.configs(Params(p=(1, 2)))}
    assert short < {config.key for config in made.configs(Params(p=(1, 2, 3, 4)))}
    # the batch is part of a trial: another batch is another trial
    assert short.isdisjoint(config.key for config in made.configs(Params(p=(1,), seed=(0,))))


def test_parameters_version_and_precision_change_every_trial():
    made = declare()
    keys = [
        {config.key for config in scan}
        for scan in (
            made.configs(Params()),
            made.configs(Params(d=6)),
            made.configs(Params(), dtype="float32"),
            declare(version=2).configs(Params()),
        )
    ]
    assert len(set.union(*keys)) == 4 * 3


def test_a_trial_sees_only_its_own_point():
    made = declare()
    config = made.configs(Params())[1]
    params, point = made.rebuild(config, device="cuda")
    assert params == Params(p=(2,))
    assert (point.p, point.seed, point.device) == (2, (0, 1), "cuda")


def test_points_not_wanted_are_left_out():
    class Picky(Body):
        @staticmethod
        def wanted(params, point):
            return point.p != 2

    assert [c.point["p"] for c in declare(body=Picky).configs(Params())] == [1, 3]


def test_cost_is_asked_at_the_point():
    class Costly(Body):
        @staticmethod
        def cost(params, point):
            return point.p * params.d - 5

    made = declare(body=Costly)
    configs = made.configs(Params())
    assert made.cost_of(configs[2]) == 10.0
    with pytest.raises(ValueError, match="cost must be positive"):
        made.cost_of(configs[0])


def test_a_configuration_of_another_version_is_refused():
    config = declare().configs(Params())[0]
    with pytest.raises(ValueError, match="version 1"):
        declare(version=2).rebuild(config)


@pytest.mark.parametrize("values", [(), (1, 1)])
def test_an_axis_needs_values_each_once(values):
    with pytest.raises(ValueError, match="axis p"):
        declare().configs(replace(Params(), p=values))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "NoTheme"}, "theme/what"),
        ({"version": 0}, "version"),
        ({"sizes": {"cpu": Params()}}, "smoke"),
        ({"sizes": {"smoke": Params(), "huge": Params()}}, "smoke"),
        ({"axes": ["q"]}, "axis 'q'"),
        ({"axes": ["d"]}, "axis 'd'"),
        ({"watch": {"x": "least"}}, "direction"),
        ({"dtype": "float16"}, "dtype"),
        ({"judges": ["COMP-999"]}, "no claim 'COMP-999'"),
        ({"body": type("Empty", (), {})}, "static method trial"),
    ],
)
def test_a_wrong_declaration_says_what_is_wrong(changes, message):
    with pytest.raises(ValueError, match=message):
        declare(**changes)


def test_an_unknown_size_lists_the_known():
    with pytest.raises(ValueError, match="size of toy/declared 'cpuu'; use one of"):
        declare().parameters("cpuu")


def test_what_the_study_says_of_itself():
    made = declare()
    assert (made.theme, made.description) == ("toy", "About it.")
    assert made.figures(None) == {}
    assert made.claims(None) == []
    assert isinstance(Point({}), Point)
