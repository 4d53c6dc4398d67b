"""Weights aligning, at the smallest size."""

import numpy as np
import pytest

from regimes.lab import LocalExecutor, Store, find, run
from regimes.studies.compression.weights_aligning._arrows import Panel, picture, rescaled


@pytest.fixture(scope="module")
def study():
    return find("compression/weights-aligning")


@pytest.fixture(scope="module")
def summary(study, tmp_path_factory):
    place = Store(tmp_path_factory.mktemp("weights"))
    return run(study, store=place, executor=LocalExecutor(1, threads=1))


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


def test_wrong_numbers_are_not_reproduced(study, summary):
    data = summary.dataset.copy(deep=True)
    data["amplification_start"] += 0.2
    data["share_end"] *= 0.8
    data["dead_or_unmoved_only"] += 1
    assert {claim.verdict for claim in study.claims(data)} == {"not reproduced"}


def test_a_wide_scatter_of_the_start_is_not_reproduced(study, summary):
    data = summary.dataset.copy(deep=True)
    data["amplification_start"] = 1 + 10 * (data["amplification_start"] - 1)
    verdicts = {claim.id: claim.verdict for claim in study.claims(data)}
    assert verdicts["COMP-16"] != "reproduced"


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
