import pytest
import torch

from regimes.measure import flatten_kernel, reorder_kernel, spectrum, unflatten_kernel


def test_rows_are_ordered_as_documented(draw):
    n, c, m = 3, 2, 4
    K = draw(n, c, m, c)
    by_sample, by_class = flatten_kernel(K), flatten_kernel(K, "class")
    for i in range(n):
        for y in range(c):
            for j in range(m):
                for z in range(c):
                    assert by_sample[i * c + y, j * c + z] == K[i, y, j, z]
                    assert by_class[y * n + i, z * m + j] == K[i, y, j, z]


@pytest.mark.parametrize("order", ["sample", "class"])
def test_unflatten_inverts_flatten(draw, order):
    K = draw(3, 2, 5, 2)
    assert torch.equal(unflatten_kernel(flatten_kernel(K, order), 2, order), K)


def test_reorder_goes_both_ways_and_keeps_the_spectrum(draw):
    features = draw(4, 3, 20)
    K = torch.einsum("iyp,jzp->iyjz", features, features)
    by_sample, by_class = flatten_kernel(K), flatten_kernel(K, "class")
    assert torch.equal(reorder_kernel(by_sample, 3, to="class"), by_class)
    assert torch.equal(reorder_kernel(by_class, 3, to="sample"), by_sample)
    torch.testing.assert_close(spectrum(by_sample), spectrum(by_class))


def test_one_output_is_left_as_it_is(draw):
    K = draw(3, 4)
    assert flatten_kernel(K, "class") is K


def test_bad_shapes_and_orders_are_refused(draw):
    with pytest.raises(ValueError, match=r"shape \(n, m\) or \(n, c, m, c\), got \(2, 3, 4\)"):
        flatten_kernel(draw(2, 3, 4))
    with pytest.raises(ValueError, match="multiple of 3"):
        unflatten_kernel(draw(4, 6), 3)
    with pytest.raises(ValueError, match="unknown order 'classes'; use one of: class"):
        flatten_kernel(draw(2, 2), "classes")
