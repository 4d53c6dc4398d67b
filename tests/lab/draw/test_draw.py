"""The drawing vocabulary: what lands in the plotly figure."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import draw

WIDTHS = np.array([2, 4, 8])
CURVE = xr.DataArray(
    [[1.0, 2.0, np.nan], [3.0, 8.0, np.nan]],
    dims=("seed", "width"),
    coords={"width": WIDTHS},
)


@pytest.fixture
def figure():
    return draw.axes("width", "error", log="xy", ticks=WIDTHS, caption="What it shows.")


def test_axes_have_titles_ticks_and_a_caption(figure):
    layout = figure.layout
    assert (layout.xaxis.title.text, layout.yaxis.title.text) == ("width", "error")
    assert (layout.xaxis.type, layout.yaxis.type) == ("log", "log")
    assert layout.xaxis.ticktext == ("2", "4", "8")
    assert layout.meta["caption"] == "What it shows."


def test_panels_count_along_rows():
    made = draw.axes(["a", "b", "c"], "y", panels=("A", "B", "C"), columns=2, caption="c")
    draw.line(made, [0, 1], [0, 1], "l", panel=3)
    assert made.data[0].xaxis == "x3"
    assert [axis.title.text for axis in made.select_xaxes()][:3] == ["a", "b", "c"]
    titles = [axis.title.text for axis in made.select_yaxes()]
    assert titles[:3] == ["y", None, "y"]
    with pytest.raises(ValueError, match="one panel"):
        draw.place(draw.axes("x", "y", caption="c"), 2)


@pytest.mark.parametrize(
    ("center", "height", "bar"),
    [("mean", 2.0, 1.0), ("geometric", 3**0.5, 3**0.5 * np.log(3) / 2), ("median", 2.0, 0.5)],
)
def test_a_curve_is_averaged_over_seeds(figure, center, height, bar):
    heights = draw.curve(figure, CURVE, "width", "name", center=center)
    trace = figure.data[0]
    np.testing.assert_allclose(heights[0], height)
    np.testing.assert_allclose(trace.error_y.array[0], bar)
    assert trace.x.tolist() == [2, 4]  # the width without a value is left out


def test_an_unknown_centre_is_refused(figure):
    with pytest.raises(ValueError, match="mean, geometric or median"):
        draw.curve(figure, CURVE, "width", center="mode")


def test_a_name_stands_once_in_the_legend(figure):
    draw.curve(figure, CURVE, "width", "same")
    draw.curve(figure, CURVE.isel(seed=0), "width", "same")
    draw.points(figure, [2.0], [1.0], "same", error=[None])
    assert [trace.showlegend for trace in figure.data] == [True, False, False]
    assert figure.data[1].error_y.array is None


def test_an_error_may_have_two_lengths(figure):
    draw.points(figure, [2.0, 4.0], [1.0, 1.0], error=([0.1, None], [0.3, 0.4]))
    bar = figure.data[0].error_y
    assert (bar.arrayminus.tolist(), bar.array.tolist()) == ([0.1, 0.0], [0.3, 0.4])


def test_a_guide_goes_through_its_point(figure):
    draw.guide(figure, WIDTHS, -0.5, (4, 3.0))
    trace = figure.data[0]
    assert trace.name == "slope -0.5"
    np.testing.assert_allclose(trace.y, 3.0 * (trace.x / 4) ** -0.5)


def test_levels_bands_words_and_bars(figure):
    draw.level(figure, x=2.0, y=1.0, text="t*")
    draw.band(figure, 1.0, 2.0)
    draw.words(figure, "here", 0.3, 0.5)
    draw.bars(figure, [1, 2], [1.0, 2.0], "b", error=[0.1, np.nan])
    assert len(figure.layout.shapes) == 3
    assert figure.data[0].error_y.array.tolist() == [0.1, 0.0]


def test_a_heat_map_reaches_half_way_to_its_neighbours():
    made = draw.axes("width", "scale", log="x", caption="c")
    plane = xr.DataArray(
        [[1.0, np.nan], [2.0, 3.0]], dims=("width", "scale"), coords={"width": [1, 4]}
    ).assign_coords(scale=[0.0, 1.0])
    draw.heat_map(made, plane, "width", "scale", "z")
    grey, colours = made.data
    np.testing.assert_allclose(colours.x, [0.5, 2.0, 8.0])
    np.testing.assert_allclose(colours.y, [-0.5, 0.5, 1.5])
    assert np.isfinite(grey.z).sum() == 1


def test_each_gives_value_colour_and_part():
    found = list(draw.each(CURVE.to_dataset(name="y"), "width"))
    assert [value for value, _, _ in found] == [2, 4, 8]
    assert len({color for _, color, _ in found}) == 3


def test_a_figure_without_data_says_so():
    made = draw.blank("no trial has finished")
    assert "no trial has finished" in made.layout.meta["caption"]
    assert made.layout.annotations[0].text == "no trial has finished"


def test_colours_have_partners_in_the_dark():
    lights = [light for light, _ in draw.PARTNERS]
    assert len(set(lights)) == len(lights) == 10
    assert set(draw.COLORS) | {draw.INK, draw.SOFT} == set(lights)
