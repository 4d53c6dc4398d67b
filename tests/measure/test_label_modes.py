import numpy as np
import pytest
import torch

from regimes.measure import kernel_pca, label_modes, mutual_information, neighbour_error


@pytest.fixture
def labelled(draw):
    x = draw(120, 12)
    return x * torch.linspace(3.0, 0.5, 12), torch.where(x[:, 0] > 0, 1.0, -1.0).double()


def test_every_number_follows_its_definition(labelled, dtype, tolerance):
    x, y = labelled
    K = x @ x.T + 4.0
    seen = label_modes(K.to(dtype), y.to(dtype), 4, ridges=(0.01, 0.1))
    p, (lam, v) = len(y), torch.linalg.eigh(K)
    top = v.flip(1)[:, :4].T
    close = {"rtol": 100 * tolerance, "atol": 100 * tolerance}
    torch.testing.assert_close(seen.projection, (top @ y) ** 2 / p, **close)
    across = torch.eye(p).double() - 1 / p
    middle = torch.linalg.eigh(across @ K @ across).eigenvectors.flip(1)[:, :4].T
    torch.testing.assert_close(seen.projection_centered, (middle @ y) ** 2 / p, **close)
    assert seen.share == pytest.approx(float(lam[-1] / lam.sum()), rel=10 * tolerance)
    operator, eye = K / K.trace(), torch.eye(p).double()
    norms = [float(y @ torch.linalg.solve(operator + ridge * eye, y)) / p for ridge in (0.01, 0.1)]
    assert seen.norm.tolist() == pytest.approx(norms, rel=100 * tolerance)
    told = [mutual_information(p**0.5 * row, y).value for row in top]
    assert seen.information.tolist() == pytest.approx(told, abs=1e-3)
    torch.testing.assert_close(seen.plane.square().mean(1), torch.ones(2).double(), **close)
    assert seen.plane_error == pytest.approx(neighbour_error(top[:2].T, y), abs=0.02)


def test_the_centred_kernel_knows_no_constant(labelled):
    x, y = labelled
    K = x @ x.T
    one, shifted = label_modes(K, y, 4), label_modes(K + 50.0, y, 4)
    torch.testing.assert_close(one.information_centered, shifted.information_centered)
    torch.testing.assert_close(one.projection_centered, shifted.projection_centered)
    assert shifted.share > one.share


def test_a_kernel_with_the_informative_direction_tells_the_label(labelled):
    x, y = labelled
    stretched = x * torch.tensor([10.0] + [1.0] * 11)
    knowing, blind = label_modes(stretched @ stretched.T, y), label_modes(x[:, 1:] @ x[:, 1:].T, y)
    assert knowing.information[0] > 0.4 > 0.2 > blind.information[0]
    assert knowing.projection[0] > 0.5 > blind.projection.max()
    assert knowing.plane_error < 0.1
    assert blind.plane_error > 0.3


def test_the_numbers_are_those_of_kernel_pca(labelled):
    x, y = labelled
    seen, pca = label_modes(x @ x.T, y, 3), kernel_pca(x @ x.T)
    torch.testing.assert_close(seen.projection, pca.projections(y)[:3])
    torch.testing.assert_close(seen.plane, pca.functions[:2])


def test_points_without_the_label_are_guessing(draw):
    y = torch.tensor([1.0, -1.0]).repeat(200)
    assert 0.4 < neighbour_error(draw(400, 2), y) < 0.6


def test_the_vote_is_that_of_the_nearest(draw):
    """A slow count: folds of equal shares of both labels, in the order of the points."""
    points, y = draw(40, 2), torch.tensor([1.0, -1.0]).repeat(20)
    points[:, 0] += 0.7 * y
    fold = np.repeat(np.arange(4), 10)  # labels alternate, so every fold has five of each
    wrong = 0
    for i in range(40):
        others = np.flatnonzero(fold != fold[i])
        near = others[torch.cdist(points[i : i + 1], points[others])[0].argsort()[:3]]
        wrong += int(y[near].sum() * y[i] < 0)
    assert neighbour_error(points, y, 3, folds=4) == pytest.approx(wrong / 40)


def test_bad_input_is_told(labelled):
    x, y = labelled
    K = x @ x.T
    with pytest.raises(ValueError, match="r must be an integer >= 2, got 1"):
        label_modes(K, y, 1)
    with pytest.raises(ValueError, match="got r=121 for 120 points"):
        label_modes(K, y, 121)
    with pytest.raises(ValueError, match=r"y be \+-1"):
        label_modes(K, 2 * y)
    with pytest.raises(ValueError, match=r"got \(120, 12\) and \(119,\)"):
        neighbour_error(x, y[1:])
    with pytest.raises(ValueError, match="the rarer label has 0 of 120 points"):
        neighbour_error(x, torch.ones(120))
    with pytest.raises(ValueError, match="k must be an integer"):
        neighbour_error(x, y, 0)
