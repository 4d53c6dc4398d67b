import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regimes import data
from regimes.theory import fixed_points, neuron_field, stripe_constants, stripe_fixed_points

STRIPE = (-0.3, 1.18549)
# docs/themes/compression.md, "Fixed points": z* and tau/tau*
# (w1>0, beta<0), (w1>0, beta>0), (w1<0, beta>0)
TABLE = {
    2: [(-1.2262, 0.2376), (0.6466, 0.0786), (0.4500, 0.4221)],
    3: [(-1.3355, 0.2577), (0.6663, 0.0810), (0.5082, 0.4295)],
    5: [(-1.4805, 0.2810), (0.6848, 0.0833), (0.5705, 0.4373)],
    10: [(-1.6870, 0.3077), (0.7010, 0.0851), (0.6328, 0.4449)],
}
SIGNS = [(1, -1), (1, 1), (-1, 1)]


@pytest.mark.parametrize("d", TABLE)
def test_comp_05_the_table_of_attractors(d):
    attractors = [point for point in stripe_fixed_points(*STRIPE, d) if point.attractor]
    assert [(point.sign_w, point.sign_beta) for point in attractors] == SIGNS
    for point, (z, rate) in zip(attractors, TABLE[d], strict=True):
        assert point.z == pytest.approx(z, abs=1e-4)
        assert point.rate == pytest.approx(rate, abs=1e-4)


@pytest.mark.parametrize("d", TABLE)
def test_comp_06_all_three_are_stable_and_compress(d):
    points = stripe_fixed_points(*STRIPE, d)
    assert len(points) == 3
    assert all(point.stable and point.compresses and point.attractor for point in points)


def test_comp_08_perpendicular_rates():
    """COMP-08: the field at z*, lambda = 1e3, d=2; not the printed form with 1/(2 pi)."""
    expected = [-0.24897, -0.35591, -0.37833]
    for point, rate in zip(stripe_fixed_points(*STRIPE, 2), expected, strict=True):
        assert point.perpendicular_rate == pytest.approx(rate, abs=1e-5)
        w1 = float(point.sign_w)
        w = torch.tensor([[w1, 1e-3]], dtype=torch.float64)
        b = torch.tensor([-w1 * point.z / math.sqrt(2)], dtype=torch.float64)
        beta = point.sign_beta * ((w**2).sum(1) + b**2).sqrt()
        dw, _, _ = neuron_field(w, b, beta, interfaces=STRIPE)
        assert float(dw[0, 1]) / 1e-3 == pytest.approx(rate, abs=1e-3)
        assert float(dw[0, 0]) / w1 == pytest.approx(point.rate, abs=1e-3)
        printed = rate / math.sqrt(2 * math.pi)
        assert abs(float(dw[0, 1]) / 1e-3 - printed) > 0.1


def heights(z, side, edges, first_sign, d):
    found = stripe_constants(z, side, interfaces=edges, first_sign=first_sign)
    return d * found.cb + z * found.c1


EDGES = st.lists(st.integers(-30, 30), min_size=1, max_size=6, unique=True).map(
    lambda picked: sorted(edge / 10 for edge in picked)
)


@given(EDGES, st.sampled_from([1, -1]), st.integers(2, 12))
@settings(max_examples=60)
def test_every_root_is_found_and_every_find_is_a_root(edges, first_sign, d):
    points = fixed_points(edges, first_sign, d)
    assert points == sorted(points, key=lambda point: (-point.sign_w, point.z))
    fine = torch.linspace(-12, 12, 40_001, dtype=torch.float64)
    for side in (1, -1):
        found = [point for point in points if point.sign_w == side]
        for point in found:
            height = heights(torch.tensor(point.z, dtype=torch.float64), side, edges, first_sign, d)
            assert abs(float(height)) < 1e-12 * (1 + abs(point.z)) * d
        values = heights(fine, side, edges, first_sign, d)
        crossing = np.flatnonzero((values[:-1] * values[1:] < -1e-28).numpy())
        places = np.array([point.z for point in found])
        for k in crossing:
            assert ((places > float(fine[k]) - 1e-9) & (places < float(fine[k + 1]) + 1e-9)).any()


@given(EDGES, st.sampled_from([1, -1]), st.integers(2, 12))
def test_stability_is_the_sign_of_the_flow(edges, first_sign, d):
    for point in fixed_points(edges, first_sign, d):
        if min(abs(point.z - edge) for edge in edges) < 1e-3 or abs(point.z) > 8:
            continue  # the flow has a kink there, or is all rounding
        shift = 1e-5
        ends = torch.tensor([point.z - shift, point.z + shift], dtype=torch.float64)
        # tau z' = -(beta/w_1) B
        speed = -point.sign_beta * point.sign_w * heights(ends, point.sign_w, edges, first_sign, d)
        if float(speed.abs().min()) > 1e-9:
            assert point.stable == (float(speed[0]) > 0 > float(speed[1]))


def test_flipping_labels_or_axis_moves_the_points_along():
    edges = [-1.1, 0.2, 0.9]
    here = fixed_points(edges, 1, 5)
    flipped = fixed_points(edges, -1, 5)
    assert [(p.z, p.sign_w, -p.sign_beta) for p in flipped] == [
        (p.z, p.sign_w, p.sign_beta) for p in here
    ]
    mirrored = fixed_points([-0.9, -0.2, 1.1], -1, 5)
    places = sorted((-p.z, -p.sign_w, p.sign_beta, p.attractor) for p in mirrored)
    expected = sorted((p.z, p.sign_w, p.sign_beta, p.attractor) for p in here)
    for (z, *rest), (other, *flags) in zip(places, expected, strict=True):
        assert z == pytest.approx(other, abs=1e-10)
        assert rest == flags


def test_unbalanced_data_have_a_root_far_out():
    """With nearly symmetric stripes d<y> + z<xy> vanishes at a large z."""
    points = fixed_points([-1.0, 1.001], 1, 3)
    (far,) = [point for point in points if abs(point.z) > 38]
    assert far.d_perp == 1.0
    assert far.perpendicular_rate == 0.0
    mean = 1 - 2 * (0.5 * (math.erf(1.001 / 2**0.5) + math.erf(1 / 2**0.5)))
    assert far.z == pytest.approx(-3 * mean / far.c1, rel=1e-9)


def test_symmetric_balanced_stripe_has_no_spurious_roots():
    edge = 0.6744897501960817  # Phi = 3/4
    points = fixed_points([-edge, edge], 1, 2)
    assert all(abs(point.z) < 3 for point in points)
    assert sorted(round(p.z, 9) for p in points) == sorted(round(-p.z, 9) for p in points)


def test_default_stripe_of_the_data_room_agrees():
    points = stripe_fixed_points(-0.3, data.balanced_x_max(-0.3), 2)
    assert [round(point.z, 4) for point in points] == [-1.2262, 0.6466, 0.45]


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"x_min < x_max, got 1.0 and -1.0"):
        stripe_fixed_points(1.0, -1.0, 2)
    with pytest.raises(ValueError, match="d must be an integer >= 2, got 1"):
        stripe_fixed_points(-1.0, 1.0, 1)
    with pytest.raises(ValueError, match="increasing"):
        fixed_points([0.0, 0.0], 1, 2)
