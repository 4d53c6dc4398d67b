"""The phase diagram, cut into trials and on planes that are known."""

import dataclasses

import numpy as np
import pytest
import xarray as xr

from regimes.lab import InlineExecutor, Store, find, override, run
from regimes.lab.judge import Missing
from regimes.studies.regimes import _lines as lines
from regimes.studies.regimes.phase_diagram import PAPER_SCALES, PAPER_WIDTHS


@pytest.fixture(scope="module")
def study():
    return find("regimes/phase-diagram")


def known(slope=0.0, jammed_below=6.0, moving=1.0, spread=0.05):
    """A plane with its crossover at 10 h^slope and jamming at a width."""
    width = np.array([3, 5, 8, 12, 24, 96, 192])
    scale = np.geomspace(1e-2, 1e4, 9)
    seed = np.exp(spread * np.linspace(-1, 1, 5))[:, None, None]
    h, a = width[None, :, None], scale[None, None, :]
    ones = np.ones((5, 7, 9))
    change = seed * (10 * (h / 24) ** slope / a) ** 1.2
    fits = (h > jammed_below) * ones
    late = np.where((h > jammed_below) & (h < moving * jammed_below), 700, 100) * ones
    dims = ("seed", "width", "scale")
    error = (0.1 + 0.2 / h + 0.01 * (a < 1)) * ones
    return xr.Dataset(
        {
            "fitted": (dims, fits),
            "kernel_change": (dims, change * ones),
            "steps": (dims, np.where(fits > 0, late, 1000)),
            "unfitted": (dims, np.where(fits > 0, 0.0, 40.0)),
            "error": (dims, error),
            "ensemble_error": (("width", "scale"), error[0] - 0.1 / width[:, None]),
            "budget": 1000,
            "n_train": 100,
        },
        {"width": width, "scale": scale, "seed": np.arange(5)},
    )


def verdicts(study, dataset):
    return {claim.id: claim.verdict.value for claim in study.claims(dataset)}


def test_the_pointer_shows_the_numbers_of_a_cell(study):
    told = study.figures(known())["Phase diagram of learning"].data[1].customdata[0][0]
    assert "h = 3, sqrt(h) alpha = 0.01" in told
    assert "0 % of runs fit, 40.0 points short" in told


def test_a_scan_cut_into_trials_is_one_plane(study, tmp_path):
    """The same numbers whether the scales are trained in one trial or in several."""
    whole, parts = (
        run(
            study,
            store=Store(tmp_path / str(together)),
            executor=InlineExecutor(),
            width=(6,),
            scale=(0.1, 1.0, 10.0, 100.0, 1000.0),
            scales_per_trial=together,
            max_steps=15,
        ).dataset
        for together in (0, 2)
    )
    assert list(parts.scale.values) == list(whole.scale.values)
    for name in ("error", "kernel_change", "ensemble_error"):
        np.testing.assert_allclose(parts[name], whole[name].transpose(*parts[name].dims), rtol=1e-6)
    change = whole.kernel_change.mean("seed").squeeze()
    assert float(change[0]) > 10 * float(change[4])


def test_trials_of_groups_of_scales_have_the_keys_they_had(study):
    first = {size: study.configs(params)[0] for size, params in study.sizes.items()}
    former = {size: study.formerly(study.sizes[size], each).key for size, each in first.items()}
    assert former == {
        "smoke": "68844fd789ca32579ad5",
        "cpu": "90d7b95a1097b169f467",
        "paper": "f7ed97f8b19b5248b6e9",
    }
    spread = tuple(scale for k in range(4) for scale in PAPER_SCALES[k::4])
    params = override(study.parameters("paper"), ["width=20", "scales_per_trial=6"])
    params = dataclasses.replace(params, scale=spread)
    quarters = [study.formerly(params, config) for config in study.configs(params)]
    assert [former.point["group"] for former in quarters] == [1, 2, 3, 4]
    assert all(former.params["at"] == PAPER_SCALES for former in quarters)


def test_a_known_plane_reproduces(study):
    found = verdicts(study, known())
    assert (found.pop("REG-39"), found.pop("REG-52")) == ("reported", "reported")  # never judged
    assert found.pop("REG-53") == "inconclusive"  # every scale jams at one width
    assert found.pop("REG-55") == "inconclusive"  # level: neither up nor down
    assert set(found.values()) == {"reproduced"}


def test_a_crossover_that_follows_the_width_does_not(study):
    found = verdicts(study, known(slope=0.5, spread=0.01))
    assert (found["REG-14"], found["REG-54"]) == ("not reproduced", "not reproduced")
    assert found["REG-55"] == "not reproduced"
    assert verdicts(study, known(slope=-0.5, spread=0.01))["REG-55"] == "reproduced"


@pytest.mark.parametrize(
    ("slope", "verdict"),
    [(0.0, "reproduced"), (0.06, "reproduced"), (0.1, "not reproduced"), (-0.1, "not reproduced"),
     (0.075, "inconclusive"), (-0.075, "inconclusive")],
)  # fmt: skip
def test_the_slope_of_the_crossover_is_judged(study, slope, verdict):
    """The ledger's -0.5 +- 0.08 for alpha*, with an error of 0.01 here."""
    assert verdicts(study, known(slope=slope))["REG-14"] == verdict


@pytest.mark.parametrize(("factor", "verdict"), [(1.1, "reproduced"), (1.5, "not reproduced")])
def test_one_width_off_the_crossover_is_seen(study, factor, verdict):
    """Within 20 % of the mean, at a width that hardly changes the slope."""
    plane = known(spread=0.01)
    off = xr.where(plane.width == 96, factor**1.2, 1.0)
    plane["kernel_change"] = plane.kernel_change * off
    assert verdicts(study, plane)["REG-14"] == verdict


@pytest.mark.parametrize("width", [24, 192])
def test_every_width_of_the_row_counts_and_no_other(study, width):
    plane = known(spread=0.01)
    off = xr.where(plane.width == width, 2.0, 1.0)
    spoilt = plane.assign(kernel_change=plane.kernel_change * off)
    assert verdicts(study, spoilt)["REG-14"] == "not reproduced"
    off = xr.where(plane.width == 12, 2.0, 1.0)
    outside = plane.assign(kernel_change=plane.kernel_change * off)
    assert verdicts(study, outside)["REG-14"] == "reproduced"


def test_a_row_is_judged_with_its_own_points_or_with_many(study):
    plane = known(slope=-0.02, spread=0.01)
    plane["n_train"] = 300
    found = {claim.id: claim for claim in study.claims(plane)}
    for id in ("REG-14", "REG-54", "REG-55"):
        assert found[id].verdict.value == "inconclusive"
        assert "300 training points: judged with 100" in found[id].why
    plane["n_train"] = 5000  # every width that meets the crossover
    off = xr.where(plane.width == 8, 3.0, 1.0)
    plane["kernel_change"] = plane.kernel_change * off
    assert verdicts(study, plane)["REG-14"] == "not reproduced"


@pytest.mark.parametrize(
    ("slope", "spread", "verdict"),
    [(-0.2, 0.01, "reproduced"), (-0.005, 0.2, "inconclusive"), (0.2, 0.01, "not reproduced")],
)
def test_the_bend_near_jamming_is_judged(study, slope, spread, verdict):
    assert verdicts(study, known(slope=slope, spread=spread))["REG-55"] == verdict


def test_parallel_lines_are_judged_with_their_errors(study):
    assert verdicts(study, known(slope=-0.2, spread=0.05))["REG-54"] == "inconclusive"
    assert verdicts(study, known(slope=-0.25, spread=0.01))["REG-54"] == "not reproduced"


def test_the_rank_correlation_is_judged_with_many_points_only(study):
    def bent(up):
        plane = known(jammed_below=60.0, slope=-0.5, spread=0.01)
        plane["n_train"] = 5000
        fits = plane.width > xr.where(plane.scale > 1, 10, 30)
        plane["fitted"] = (fits * xr.ones_like(plane.fitted)).transpose(*plane.fitted.dims)
        plane["unfitted"] = 40 * (1 - plane.fitted)
        error = 0.1 + 0.01 * up * np.log10(plane.scale) / 10
        plane["ensemble_error"] = plane.ensemble_error * 0 + error
        return plane

    assert verdicts(study, bent(-1.0))["REG-53"] == "reproduced"
    assert verdicts(study, bent(1.0))["REG-53"] == "not reproduced"
    few = bent(1.0)
    few["n_train"] = 300
    claim = next(each for each in study.claims(few) if each.id == "REG-53")
    assert (claim.verdict.value, claim.measured < 0) == ("reported", True)


def test_networks_that_never_jam_do_not(study):
    assert verdicts(study, known(jammed_below=4.0))["REG-51"] == "not reproduced"  # 5 must jam
    assert verdicts(study, known(jammed_below=0.0))["REG-51"] == "inconclusive"


def test_slow_runs_move_the_border(study):
    dataset = known(jammed_below=4.0, moving=3.0)
    widths = [lines.jamming(dataset, share).width[0] for share in (0.25, 0.5, 1.0)]
    assert widths == pytest.approx([96**0.5, 96**0.5, 15**0.5])
    claim = next(each for each in study.claims(dataset) if each.id == "REG-52")
    assert (claim.verdict.value, claim.measured) == ("reported", pytest.approx((96 / 15) ** 0.5))


def test_widths_that_have_not_run_are_left_out(study):
    dataset = known()
    dataset["fitted"][:, 4] = np.nan
    assert 24 not in lines.plane(dataset).width.values
    dataset["fitted"][0] = np.nan
    with pytest.raises(Missing, match="no width has run at every scale"):
        lines.plane(dataset)


def test_with_more_points_the_same_numbers_of_parameters_per_point_are_compared(study):
    scan = known(jammed_below=60.0, slope=-0.5, spread=0.01)
    assert verdicts(study, scan)["REG-51"] == "not reproduced"  # 24 must fit 100 points
    scan["n_train"] = 5000
    found = verdicts(study, scan)
    assert found["REG-51"] == "reproduced"  # 30 jams, 97 fits


def test_a_border_beyond_the_grid_says_nothing_of_slowing_down(study):
    scan = known()
    assert verdicts(study, scan)["REG-52"] == "reported"
    scan["steps"] = scan.steps.where(scan.fitted == 0, 600)  # nobody fits within T/2
    assert verdicts(study, scan)["REG-52"] == "inconclusive"


def test_the_papers_grid():
    assert (len(PAPER_SCALES), PAPER_SCALES[0], PAPER_SCALES[-1]) == (23, 3e-4, pytest.approx(3e7))
    assert (len(PAPER_WIDTHS), PAPER_WIDTHS[0], PAPER_WIDTHS[-1]) == (22, 20, 1248)
    paper = find("regimes/phase-diagram").parameters("paper")
    assert set(paper.width) <= set(PAPER_WIDTHS)
    assert set(paper.scale) <= set(PAPER_SCALES)
    assert min(len(paper.width), len(paper.scale)) >= 12
