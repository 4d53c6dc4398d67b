import math

import pytest
import torch

from regimes import data

LN10 = math.log(10)


def draws(n, T, c, batch, rule="half", seed=0, dtype=torch.float64):
    source = torch.Generator().manual_seed(seed)
    return data.sample_field(n, T, c, batch, rule, source, dtype)


def slow_field(field, u, v):
    """The sum over modes as it is written, at one point, for every field of the batch."""
    C, D = field.coefficients[:, 0], field.coefficients[:, 1]
    total = torch.zeros(len(field), 2, dtype=torch.float64)
    for i in range(1, C.shape[1] + 1):
        for j in range(1, C.shape[2] + 1):
            wave = math.sin(i * math.pi * u) * math.sin(j * math.pi * v)
            total[:, 0] += C[:, i - 1, j - 1].double() * wave
            total[:, 1] += D[:, i - 1, j - 1].double() * wave
    return total


def test_fields_are_the_sum_over_modes(dtype, tolerance):
    field = draws(9, 0.1, 4, 3, dtype=dtype)
    dx, dy = field.dx, field.dy
    for row, column in [(0, 3), (4, 4), (2, 7)]:
        expected = 9 * slow_field(field, column / 8, row / 8)
        assert torch.allclose(dx[:, row, column].double(), expected[:, 0], atol=9 * tolerance)
        assert torch.allclose(dy[:, row, column].double(), expected[:, 1], atol=9 * tolerance)


def test_derivatives_are_those_of_the_field():
    field, step = draws(9, 0.1, 5, 4), 1e-5
    exact = field.grad(points=5)[:, :, :, 1, 2]  # v = 1/4, u = 2/4
    u, v = 0.5, 0.25
    along_u = (slow_field(field, u + step, v) - slow_field(field, u - step, v)) / (2 * step)
    along_v = (slow_field(field, u, v + step) - slow_field(field, u, v - step)) / (2 * step)
    assert torch.allclose(exact, torch.stack([along_u, along_v], -1), atol=1e-7)


def test_def_04_the_frame_is_fixed_and_components_are_alike():
    field = draws(28, 0.3, 10, 400)
    moved = field.pixels()
    for side in (moved[..., 0, :], moved[..., -1, :], moved[..., 0], moved[..., -1]):
        assert side.abs().max() == 0
    dx, dy = field.dx.flatten(), field.dy.flatten()
    assert abs(float(torch.corrcoef(torch.stack([dx, dy]))[0, 1])) < 0.05
    assert float(dx.var() / dy.var()) == pytest.approx(1, abs=0.1)


def test_def_01_norm_without_cut_off():
    field = draws(32, 1e-3, None, 300, "square")
    assert data.mean_norm2(1e-3, None, 32, "square") == pytest.approx(5.053, abs=1e-3)
    assert float(field.norm2().mean()) == pytest.approx(5.053, rel=0.03)
    by_grid = field.grad(points=65)[..., :-1, :-1].square().sum((1, 2)).mean((1, 2))
    # a grid of twice the modes integrates squares of sines and cosines exactly
    assert torch.allclose(by_grid, field.norm2(), rtol=0.1)
    assert float(by_grid.mean()) == pytest.approx(5.053, rel=0.03)


@pytest.mark.parametrize(
    ("rule", "ratios"), [("half", (0.85, 0.98, 0.994)), ("sharp", (0.56, 0.88, 0.955))]
)
def test_def_02_norm_with_cut_off(rule, ratios):
    for c, ratio in zip((3, 10, 30), ratios, strict=True):
        exact = data.mean_norm2(1e-3, c, mode_rule=rule)
        assert exact / (math.pi**3 / 8 * c**2 * 1e-3) == pytest.approx(ratio, abs=0.006)
        sampled = draws(8, 1e-3, c, 1000, rule).norm2().mean()
        assert float(sampled) == pytest.approx(exact, rel=0.05 if c == 3 else 0.03)


def test_def_03_every_mode_has_the_same_energy():
    T, count = 0.2, 10_000
    field = draws(8, T, 4, count)
    number = torch.arange(1, field.coefficients.shape[-1] + 1) ** 2
    energy = field.coefficients.square().mean(0) * (number[:, None] + number) / T
    kept = energy[0] > 0
    assert int(kept.sum()) == 13
    assert (energy[:, kept] - 1).abs().max() < 5 * math.sqrt(2 / count)


@pytest.mark.parametrize(("rule", "allowed"), [("half", 0.06), ("sharp", 0.04)])
def test_def_05_displacements(rule, allowed):
    n, T = 33, 1e-3
    for c in (3, 15):
        field = draws(n, T, c, 600, rule)
        average = data.displacement2(T, c, n, "average", rule)
        centre = data.displacement2(T, c, n, "centre", rule)
        middle = field.pixels()[..., n // 2, n // 2].square().sum(1).mean()
        sampled = field.pixels()[..., :-1, :-1].square().sum(1).mean()
        assert float(sampled) == pytest.approx(average, rel=0.1 if c == 3 else 0.05)
        assert float(middle) == pytest.approx(centre, rel=0.15)
    for c in (15, 30, 300):
        law = math.pi / 4 * math.log(c)
        assert data.displacement2(1, c, 1, "asymptotic") == pytest.approx(law, rel=1e-12)
        low = data.displacement2(1, c, 1, "average", rule) - law
        high = data.displacement2(1, c, 1, "centre", rule) - law
        assert low == pytest.approx(-0.49934, abs=allowed)
        assert high == pytest.approx(0.32312, abs=allowed)


@pytest.mark.parametrize(
    ("c", "average", "centre"),
    [(2, (0.25, 0.45), (1.0, 1.0)), (5, (0.866, 0.939), (1.5111, 1.665)),
     (30, (2.1874, 2.2027), (2.9995, 3.0082))],
)  # fmt: skip
def test_exact_sums_over_modes(c, average, centre):
    for k, rule in enumerate(("sharp", "half")):
        assert data.displacement2(1, c, 1, "average", rule) == pytest.approx(average[k], abs=6e-5)
        assert data.displacement2(1, c, 1, "centre", rule) == pytest.approx(centre[k], abs=6e-5)


def test_def_06_the_lower_border_moves_half_a_pixel():
    for c, n in [(3, 28), (10, 32)]:
        T = data.visible_temperature(c, n)
        assert pytest.approx(1 / (math.pi * n**2 * math.log(c)), rel=1e-12) == T
        assert data.displacement2(T, c, n) == pytest.approx(0.25, rel=1e-12)


@pytest.mark.parametrize("definition", ["asymptotic", "average", "centre"])
def test_temperature_and_displacement_are_inverse(definition):
    T = data.temperature(1.7, 5, 28, definition)
    assert data.displacement2(T, 5, 28, definition) == pytest.approx(1.7**2, rel=1e-12)


def test_def_07_law_of_the_largest_turn():
    expected = {3: 0.96, 5: 0.94, 10: 0.87, 15: 0.84}
    for c, ratio in expected.items():
        top = draws(2, 1.0, c, 300, dtype=torch.float32).xi(8 * c).amax((1, 2)).median()
        law = c / 2 * math.sqrt(math.pi**3 * math.log(c))
        assert float(top) / law == pytest.approx(ratio, abs=0.04)


@pytest.mark.parametrize("rule", ["half", "sharp"])
@pytest.mark.parametrize("c", [5, 10])
def test_def_08_the_upper_border(rule, c):
    T = data.bijective_temperature(c)
    found = data.phase_diagram(32, [c], [T / 4, T, 4 * T], samples=300, mode_rule=rule).bijective[0]
    assert found[0] > 0.99
    assert 0.4 < found[1] < 0.95
    assert found[2] < 0.1


def test_xi_is_the_largest_eigenvalue_of_the_symmetric_part():
    field = draws(8, 0.05, 4, 3)
    grad = field.grad(points=6).movedim((1, 2), (-2, -1))
    top = torch.linalg.eigvalsh((grad + grad.mT) / 2)[..., -1]
    assert torch.allclose(field.xi(6), top, atol=1e-12)
    root = 2 * field.xi(6) - grad.diagonal(dim1=-2, dim2=-1).sum(-1)
    under = grad.square().sum((-2, -1)) - 2 * torch.linalg.det(grad)
    assert torch.allclose(root.square(), under, atol=1e-12)


def test_criteria_of_bijectivity_agree_where_they_must():
    field = draws(16, torch.tensor([1e-4, 3e-3, 0.3] * 20, dtype=torch.float64), 5, 60)
    angle, determinant, norm = (
        field.is_diffeomorphism(kind) for kind in ("angle", "determinant", "norm")
    )
    assert angle[::3].all()
    assert not angle[2::3].any()
    assert not (angle & ~determinant).any()  # the angle is sufficient
    assert norm[::3].all()
    with pytest.raises(ValueError, match="criterion must be"):
        field.is_diffeomorphism("area")


def test_one_seed_gives_the_same_field_everywhere():
    coarse, fine = draws(9, 1e-2, 3, 4), draws(17, 1e-2, 3, 4)
    assert torch.equal(coarse.coefficients, fine.coefficients)
    assert torch.allclose(coarse.dx / 9, fine.dx[:, ::2, ::2] / 17, atol=1e-15)
    assert torch.allclose(coarse.at(17).dy, fine.dy)
    single = draws(9, 1e-2, 3, 4, dtype=torch.float32)
    assert torch.equal(single.coefficients, coarse.coefficients.float())


def test_a_temperature_for_each_field():
    heat = torch.tensor([0.0, 1.0, 4.0], dtype=torch.float64)
    field, plain = draws(8, heat, 3, 3), draws(8, 1.0, 3, 3)
    assert torch.allclose(field.dx[2], 2 * plain.dx[2])
    assert field.dx[0].abs().max() == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 1}, "n must be an integer >= 2"),
        ({"T": -1.0}, "T must not be negative"),
        ({"T": torch.ones(3)}, "tensor of 2 temperatures"),
        ({"c": 0.9}, "leaves no mode"),
        ({"c": 1, "mode_rule": "sharp"}, "leaves no mode"),
        ({"c": None}, "needs a cut-off c"),
        ({"c": 3, "mode_rule": "square"}, "takes all modes"),
        ({"mode_rule": "round"}, "unknown mode rule"),
        ({"batch": 0}, "batch must be"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        data.sample_field(**{"n": 8, "T": 1e-3, "c": 3, "batch": 2} | options)


def test_a_cut_off_of_one_has_no_asymptotic_displacement():
    assert data.sample_field(8, 1e-2, 1).coefficients.shape[-1] == 1  # "half" keeps its one mode
    with pytest.raises(ValueError, match="needs c > 1"):
        data.temperature(1.0, 1, 28)
    with pytest.raises(ValueError, match="c > 1"):
        data.bijective_temperature(1)
