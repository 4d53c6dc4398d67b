"""Frames, a slider and buttons."""

import pytest

from regimes.lab import draw

FRAMES = {"start": [([0], [0]), ([5], [5])], "end": [([1], [2]), ([6], [7])]}


@pytest.fixture
def figure():
    made = draw.axes("x", "y", caption="", height=600, margin={"t": 90})
    for place in (0, 9, 5):
        draw.points(made, [place], [place])
    return made


def test_only_the_named_traces_move(figure):
    made = draw.film(figure, FRAMES, [0, 2])
    assert [frame.name for frame in made.frames] == ["start", "end"]
    assert [tuple(frame.traces) for frame in made.frames] == [(0, 2)] * 2
    assert [(each.x, each.y) for each in made.frames[1].data] == [((1,), (2,)), ((6,), (7,))]
    assert [tuple(trace.x) for trace in made.data] == [(0,), (9,), (5,)]


def test_the_slider_has_a_step_per_frame_and_lies_below_the_axes(figure):
    made = draw.film(figure, FRAMES, [0, 2], told="time ")
    (slider,), (menu,) = made.layout.sliders, made.layout.updatemenus
    assert [step.label for step in slider.steps] == ["start", "end"]
    assert [step.args[0] for step in slider.steps] == [("start",), ("end",)]
    assert slider.currentvalue.prefix == "time "
    assert [button.label for button in menu.buttons] == ["▶", "❚❚"]
    assert slider.y == menu.y == pytest.approx(-70 / (600 - 90 - 110))
    assert (made.layout.margin.t, made.layout.margin.b) == (90, 110)


def test_what_is_no_time_has_no_buttons(figure):
    made = draw.film(figure, FRAMES, [0, 2], play=False)
    assert len(made.layout.sliders) == 1
    assert not made.layout.updatemenus


def test_a_frame_must_have_every_moving_trace(figure):
    with pytest.raises(ValueError, match="frame 'start' has x and y of 2 traces, but 1 move"):
        draw.film(figure, FRAMES, [0])
