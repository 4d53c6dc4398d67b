import pytest
import torch

from regimes.measure import center, center_cross, center_targets


def gram(features):
    return torch.einsum("iyp,jzp->iyjz", features, features)


def test_class_mode_is_the_double_product_of_the_definition(draw, dtype, tolerance):
    features = draw(5, 3, 9)
    K, C = gram(features), torch.eye(5).double() - 1 / 5
    expected = torch.einsum("ik,kylz,lj->iyjz", C, K, C)
    found = center(K.to(dtype), "class")
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), expected, rtol=tolerance, atol=10 * tolerance)


def test_class_mode_takes_the_mean_feature_away(draw):
    features = draw(5, 3, 9)
    torch.testing.assert_close(center(gram(features)), gram(features - features.mean(0)))
    rank = torch.linalg.matrix_rank(center(gram(draw(4, 2, 50))).reshape(8, 8))
    assert rank == (4 - 1) * 2


def test_global_mode_centres_the_flattened_matrix(draw):
    K = gram(draw(4, 3, 20))
    C = torch.eye(12).double() - 1 / 12
    expected = C @ K.reshape(12, 12) @ C
    torch.testing.assert_close(center(K, "global").reshape(12, 12), expected)


def test_modes_agree_for_one_output_and_none_changes_nothing(draw):
    K = gram(draw(6, 1, 4))
    flat = K.reshape(6, 6)
    torch.testing.assert_close(center(K, "class"), center(K, "global"))
    torch.testing.assert_close(center(flat, "class"), center(K, "class").reshape(6, 6))
    assert center(K, None) is K


@pytest.mark.parametrize("mode", ["class", "global"])
@pytest.mark.parametrize("outputs", [1, 3])
def test_cross_gram_uses_the_training_mean(draw, mode, outputs):
    train, new = draw(6, outputs, 11), draw(4, outputs, 11, seed=1)
    K, cross = gram(train), torch.einsum("iyp,jzp->iyjz", new, train)
    mean = train.mean(0) if mode == "class" else train.mean((0, 1))
    expected = torch.einsum("iyp,jzp->iyjz", new - mean, train - mean)
    torch.testing.assert_close(center_cross(cross, K, mode), expected)
    torch.testing.assert_close(center_cross(K, K, mode), center(K, mode))


def test_targets_are_centred_like_the_kernel(draw):
    y = draw(7, 3)
    torch.testing.assert_close(center_targets(y, "class"), y - y.mean(0))
    torch.testing.assert_close(center_targets(y, "global"), y - y.mean())
    torch.testing.assert_close(center_targets(y[:, 0]), y[:, 0] - y[:, 0].mean())
    assert center_targets(y, None) is y


def test_bad_input_is_refused(draw):
    with pytest.raises(ValueError, match="unknown centring 'classes'; use one of: class, global"):
        center(draw(3, 3), "classes")
    with pytest.raises(ValueError, match=r"\(n, n\) or \(n, c, n, c\), got \(3, 4\)"):
        center(draw(3, 4))
    with pytest.raises(ValueError, match="NaN"):
        center(torch.full((2, 2), torch.nan))
    with pytest.raises(ValueError, match=r"real floating-point dtype, got torch\.int64"):
        center(torch.ones(2, 2, dtype=torch.int64))
    with pytest.raises(ValueError, match="is empty"):
        center(torch.ones(0, 0))
    with pytest.raises(ValueError, match="same shape but for the first axis"):
        center_cross(draw(3, 4), draw(5, 5))
