import pytest
import torch

from regimes.measure import FlowComplexity, FlowComplexityMeter, flow_complexity


def path(draw):
    return draw(6, 4).cumsum(0), draw(5, seed=1) ** 2


def test_complexity_is_the_weighted_length(draw):
    weights, traces = path(draw)
    found = flow_complexity(weights, traces)
    lengths = [float((weights[t + 1] - weights[t]).norm()) for t in range(5)]
    expected = sum(step * float(traces[t]) ** 0.5 for t, step in enumerate(lengths))
    assert found.value == pytest.approx(expected, rel=1e-12)
    assert found.path_length == pytest.approx(sum(lengths), rel=1e-12)
    assert found.steps == 5


@pytest.mark.parametrize("refresh", [1, 2])
def test_meter_agrees_with_the_sum_over_the_kept_path(draw, refresh):
    weights, traces = path(draw)
    held = {"t": 0}

    def trace():
        return torch.cat([traces, traces[:1]])[held["t"]]

    meter = FlowComplexityMeter(trace, refresh=refresh)
    for t in range(6):
        held["t"] = t
        meter.record(weights[t])
    used = torch.stack([traces[t - t % refresh] for t in range(5)])
    expected = flow_complexity(weights, used)
    found = meter.result()
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    assert found.path_length == pytest.approx(expected.path_length, rel=1e-12)
    assert found.steps == 5


def test_recorded_weights_may_be_changed_in_place():
    w = torch.zeros(2)
    meter = FlowComplexityMeter(lambda: 1.0)
    meter.record(w)
    w += torch.tensor([3.0, 4.0])
    meter.record(w)
    assert meter.result().value == 5.0


def test_an_unstarted_meter_reports_nothing():
    assert FlowComplexityMeter(lambda: 1.0).result() == FlowComplexity(0.0, 0.0, 0)


def test_bad_input_is_refused(draw):
    with pytest.raises(ValueError, match=r"\(T \+ 1, P\) and traces \(T,\)"):
        flow_complexity(draw(4, 2), draw(4) ** 2)
    with pytest.raises(ValueError, match="refresh must be an integer >= 1, got 0"):
        FlowComplexityMeter(lambda: 1.0, refresh=0)
