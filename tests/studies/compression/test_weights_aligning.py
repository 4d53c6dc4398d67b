"""Weights aligning, at the smallest size."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import InlineExecutor, find, run
from regimes.studies.compression.weights_aligning._arrows import Panel, picture, rescaled


@pytest.fixture(scope="module")
def study():
    return find("compression/weights-aligning")


@pytest.fixture(scope="module")
def summary(study, smoke_store):
    return run(study, store=smoke_store, executor=InlineExecutor())


def test_dead_neurons_rest_exactly(summary):
    data = summary.dataset
    assert int(data.dead.sum()) > 0
    assert int(data.dead_or_unmoved_only.sum()) == 0
    assert {c.id: c.verdict for c in summary.claims}["COMP-34"] == "reproduced"


def test_small_alpha_aligns_and_large_alpha_does_not(summary):
    end, start = summary.dataset.share_end, summary.dataset.share_start
    assert float(end.sel(alpha=1e-6).min()) > 0.9
    np.testing.assert_allclose(end.sel(alpha=1e4), start.sel(alpha=1e4), atol=0.01)


def test_stills_and_films_are_drawn(study, summary):
    figures = study.figures(summary.dataset)
    assert len(figures) == 4
    for title, figure in figures.items():
        assert bool(figure.frames) == ("moving" in title)
        if figure.frames:
            steps = figure.layout.sliders[0].steps
            assert [step.label for step in steps] == [frame.name for frame in figure.frames]
            assert len(figure.frames) == 12
            assert len(figure.layout.updatemenus[0].buttons) == 2


def test_lazy_films_stand_still(summary):
    film = summary.dataset.film.sel(alpha=1e4).values
    np.testing.assert_allclose(film[:, -1], film[:, 0], atol=0.02)
    moving = summary.dataset.film.sel(alpha=1e-6, model="stripe").values
    assert np.nanmax(np.abs(moving[-1] - moving[0])) > 10


def known(summary, **changed):
    """Numbers that follow the law, with what is changed; six seeds of two draws."""
    data = summary.dataset.drop_vars("amplification_start").isel(seed=[0, 1] * 3)
    data = data.assign_coords(seed=range(6))
    noise = np.linspace(-1, 1, 6)
    large = data.alpha >= 1.0
    share = xr.where(data.model == "stripe", 0.5, 2 / 3)
    end = xr.where(large, share, 0.99)
    scatter = changed.get("scatter", 0.01)
    draws = np.stack([noise, noise[::-1] ** 3], -1)
    values = {
        "share_start": share + changed.get("start", 0.0) + scatter * data.seed.copy(data=noise),
        "share_end": end + changed.get("end", 0.0) - scatter * abs(data.seed.copy(data=noise)),
        "amplification_start": xr.DataArray(
            1 + changed.get("first", 0.0) + changed.get("wide", 0.01) * draws, dims=("seed", "draw")
        ),
    }
    shape = data.share_start
    for name in ("share_start", "share_end"):
        data[name] = (values[name] + 0 * shape).transpose(*shape.dims)
    like = data.dead + 0.0
    data["amplification_start"] = values["amplification_start"] + 0 * like
    data["dead"] = 0 * data.dead + 3
    data["unmoved"] = 0 * data.dead + 3 + changed.get("unmoved", 0)
    data["dead_or_unmoved_only"] = 0 * data.dead + changed.get("wrong", 0)
    return data


def test_data_that_follow_the_law_are_reproduced(study, summary, verdicts):
    assert set(verdicts(study, known(summary)).values()) == {"reproduced"}


@pytest.mark.parametrize(
    ("changed", "id", "verdict"),
    [
        ({"first": 0.08}, "COMP-16", "not reproduced"),
        ({"first": -0.08}, "COMP-16", "not reproduced"),
        ({"wide": 0.2}, "COMP-16", "not reproduced"),  # the mean is right by chance
        ({"first": 0.049}, "COMP-16", "inconclusive"),
        ({"end": -0.12}, "COMP-31", "not reproduced"),
        ({"start": 0.15}, "COMP-31", "not reproduced"),
        ({"start": 0.095, "scatter": 0.03}, "COMP-31", "inconclusive"),
        ({"unmoved": 1}, "COMP-34", "not reproduced"),
        ({"wrong": 1}, "COMP-34", "not reproduced"),
    ],
)
def test_a_distortion_fails_its_own_claim(study, summary, verdicts, changed, id, verdict):
    found = verdicts(study, known(summary, **changed))
    assert found.pop(id) == verdict
    assert set(found.values()) == {"reproduced"}


def test_lazy_training_must_not_align(study, summary, verdicts):
    data = known(summary)
    data["share_end"] = 0 * data.share_end + 0.99 + 0.001 * data.seed
    assert verdicts(study, data)["COMP-31"] == "not reproduced"


def test_untrained_networks_are_those_of_the_seeds(summary):
    start = summary.dataset.amplification_start.isel(alpha=0, model=0)
    assert start.dims == ("seed", "draw")
    assert len(np.unique(start)) == start.size


def test_alignment_is_judged_against_lazy_training(study, summary):
    for alpha in (1e-6, 1e4):
        claim = study.claims(summary.dataset.sel(alpha=[alpha]))[1]
        assert (claim.id, claim.verdict) == ("COMP-31", "inconclusive")
        assert claim.why == "the stripe has not run with alpha below 1 and above"


def test_without_dead_neurons_nothing_is_decided(study, summary):
    data = summary.dataset.copy(deep=True)
    data["dead"] *= 0
    verdicts = {claim.id: claim.verdict for claim in study.claims(data)}
    assert verdicts["COMP-34"] == "inconclusive"


def test_arrows_keep_their_directions():
    arrows = np.array([[[1.0, 1.0], [0.0, -2.0]], [[0.0, 0.0], [0.0, 0.0]]])
    made = rescaled(arrows, reach=4.0)
    np.testing.assert_allclose(made[0], 2.0 * arrows[0])
    np.testing.assert_array_equal(made[1], 0.0)


def test_frames_move_the_arrows_alone():
    arrows = np.array([[[1.0, 0.0]], [[0.0, 1.0]]])
    panel = Panel("one", ("a", "b"), np.zeros((2, 2)), np.array([1.0, -1.0]), arrows)
    figure = picture([panel, panel], columns=2, caption="c", moments=["0", "1"])
    np.testing.assert_array_equal(figure.data[2].marker.size, [0, 9, 0])
    assert [figure.data[i].name for i in figure.frames[1].traces] == ["neurons β w"] * 2
    np.testing.assert_array_equal(figure.frames[1].data[0].y[:2], [0.0, 3.0])
    assert not picture([panel], columns=1, caption="c").frames
