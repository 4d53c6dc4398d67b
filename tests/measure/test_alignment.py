import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes.measure import (
    center,
    cka,
    easy_difficult_alignment,
    label_alignment,
    layer_alignment,
)

MODES = ["class", "global", None]


def gram(features):
    return torch.einsum("iyp,jzp->iyjz", features, features)


def random_gram(seed, n=5, c=2, p=8):
    numbers = torch.Generator().manual_seed(seed)
    return gram(torch.randn(n, c, p, generator=numbers, dtype=torch.float64))


@pytest.mark.parametrize("mode", MODES)
def test_cka_is_the_trace_formula(mode, dtype, tolerance):
    G, H = random_gram(0), random_gram(1)
    g, h = (center(K, mode).reshape(10, 10) for K in (G, H))
    expected = torch.trace(g @ h) / (torch.linalg.norm(g) * torch.linalg.norm(h))
    found = cka(G.to(dtype), H.to(dtype), centering=mode)
    assert found.dtype == dtype
    assert found.shape == ()
    torch.testing.assert_close(found.double(), expected, rtol=10 * tolerance, atol=0)


@given(st.integers(0, 10**6), st.sampled_from(MODES))
def test_ali_38_cka_lies_in_the_unit_interval_and_ignores_scale(seed, mode):
    G, H = random_gram(seed), random_gram(seed + 1)
    value = float(cka(G, H, mode))
    assert 0 <= value <= 1
    assert float(cka(3 * G, H, mode)) == pytest.approx(value, rel=1e-12)


@given(st.integers(0, 10**6), st.sampled_from(MODES))
def test_ali_38_features_parallel_to_the_labels_align_perfectly(seed, mode):
    numbers = torch.Generator().manual_seed(seed)
    labels = torch.cat([torch.arange(3), torch.randint(3, (5,), generator=numbers)])
    Y = torch.nn.functional.one_hot(labels, 3).double()
    Y_c = {"class": Y - Y.mean(0), "global": Y - Y.mean(), None: Y}[mode]
    K = 2.5 * torch.einsum("iy,jz->iyjz", Y_c, Y_c)
    assert float(label_alignment(K, labels, mode)) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_label_alignment_is_cka_with_the_label_kernel(mode, dtype, tolerance):
    G, labels = random_gram(3, n=9, c=3), torch.arange(9) % 3
    Y = torch.nn.functional.one_hot(labels, 3).double()
    expected = cka(G, torch.einsum("iy,jz->iyjz", Y, Y), mode)
    found = label_alignment(G.to(dtype), labels, mode)
    torch.testing.assert_close(found.double(), expected, rtol=10 * tolerance, atol=0)
    torch.testing.assert_close(label_alignment(G, Y, mode), expected)


def test_uncentred_alignment_of_one_output_is_the_quadratic_form():
    G, y = random_gram(4, n=6, c=1).reshape(6, 6), torch.tensor([1, -1, 1, 1, -1, 1])
    z = y.double()
    expected = float(z @ G @ z / (torch.linalg.norm(G) * (z @ z)))
    assert float(label_alignment(G, y, None)) == pytest.approx(expected, rel=1e-12)
    assert float(label_alignment(G[:, None, :, None], z, None)) == pytest.approx(expected)


def test_layers_and_pairs_come_from_the_same_number():
    G, H, labels = random_gram(5, n=8), random_gram(6, n=8), torch.arange(8) % 2
    by_layer = layer_alignment({"first": G, "second": H}, labels)
    assert by_layer == {
        "first": float(label_alignment(G, labels)),
        "second": float(label_alignment(H, labels)),
    }
    pair = easy_difficult_alignment(G, labels, H, labels)
    assert (pair.easy, pair.difficult) == tuple(by_layer.values())
    assert pair.ratio == pair.easy / pair.difficult


def test_a_layer_without_alignment_leaves_the_others_theirs():
    """The bias of a linear readout has a constant kernel: nothing is left of it after centring."""
    y = torch.tensor([1.0, 1.0, -1.0, -1.0])
    found = layer_alignment({"weights": torch.outer(y, y), "bias": torch.ones(4, 4)}, y)
    assert found["weights"] == pytest.approx(1.0)
    assert math.isnan(found["bias"])
    with pytest.raises(ValueError, match="labels are constant"):
        layer_alignment({"weights": torch.outer(y, y)}, torch.ones(4))


def test_undefined_alignments_are_refused():
    ones = torch.ones(3, 3)
    with pytest.raises(ValueError, match="zero after centring"):
        cka(ones, torch.eye(3))
    with pytest.raises(ValueError, match="labels are constant"):
        label_alignment(torch.eye(3), torch.ones(3))
    with pytest.raises(ValueError, match=r"one shape, got \(3, 3\) and \(2, 2\)"):
        cka(torch.eye(3), torch.eye(2))


def test_labels_that_do_not_fit_the_kernel_are_refused():
    one, three = torch.eye(4), torch.eye(12).reshape(4, 3, 4, 3)
    with pytest.raises(ValueError, match="tensor of 4 entries"):
        label_alignment(one, torch.ones(3))
    with pytest.raises(ValueError, match=r"labels \+-1 or real targets"):
        label_alignment(one, torch.tensor([0, 1, 2, 0]))
    with pytest.raises(ValueError, match="integer class labels"):
        label_alignment(three, torch.tensor([0.0, 1.0, 2.0, 0.0]))
    with pytest.raises(ValueError, match=r"lie in 0..2, got 0..3"):
        label_alignment(three, torch.tensor([0, 1, 2, 3]))
    with pytest.raises(ValueError, match="must have shape"):
        label_alignment(one, torch.ones(4, 2))
