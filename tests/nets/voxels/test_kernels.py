"""Steerable kernels: counts, completeness, and those of vectors (EQU-25, -26, -29)."""

import numpy as np
import pytest
import torch

from regimes.nets import voxels

# rows are orders that come out, columns those that go in [docs/themes/equivariance.md]
PUBLISHED = {
    3: [[2, 1, 1, 1], [1, 4, 3, 2], [1, 3, 5, 3], [1, 2, 3, 5]],
    5: [[3, 2, 2, 2], [2, 7, 6, 5], [2, 6, 10, 8], [2, 5, 8, 11]],
    7: [[4, 3, 3, 3], [3, 10, 9, 8], [3, 9, 15, 13], [3, 8, 13, 18]],
}


@pytest.mark.parametrize("size", [3, 5, 7])
def test_counts_under_the_default_cutoff(size):
    found = [[len(voxels.kernel_basis(j, l, size)) for l in range(4)] for j in range(4)]
    assert found == PUBLISHED[size]
    for j in range(4):
        for l in range(4):
            every = len(voxels.kernel_basis(j, l, size, "none"))
            assert found[j][l] <= every == (size // 2 + 1) * (2 * min(j, l) + 1)


def test_kernels_have_norm_one_and_are_independent():
    basis = voxels.kernel_basis(2, 1, 5).flatten(1)
    assert torch.allclose(basis.norm(dim=1), torch.ones(len(basis)).double())
    assert torch.linalg.matrix_rank(basis) == len(basis)


@pytest.mark.parametrize("family", ["shells", "smooth"])
@pytest.mark.parametrize(("j", "l"), [(0, 0), (1, 1), (2, 1), (1, 3)])
def test_kernels_are_steerable_under_the_cube(j, l, family):
    basis = voxels.kernel_basis(j, l, 5, family=family)
    for R in voxels.cube_symmetries():
        moved = voxels.move_grid(basis, R)  # k(R^-1 x)
        there = torch.einsum(
            "ia,baexyz,le->bilxyz", voxels.wigner(j, R), moved, voxels.wigner(l, R)
        )
        assert torch.allclose(there, basis, atol=1e-12)


@pytest.mark.parametrize(("j", "l"), [(0, 0), (0, 2), (1, 1), (2, 2), (3, 1)])
def test_they_are_all_there_are(j, l):
    """On one voxel off the axes: the null space of the stabiliser of its direction (EQU-25)."""
    direction = torch.tensor([1.0, 2.0, 2.0]).double()
    cross = torch.linalg.cross(torch.eye(3).double(), (direction / 3).expand(3, 3))
    space = []
    for angle in (0.7, 2.0):
        R = torch.linalg.matrix_exp(angle * cross)
        D, E = voxels.wigner(j, R).numpy(), voxels.wigner(l, R).numpy()
        space.append(np.kron(D, np.eye(2 * l + 1)) - np.kron(np.eye(2 * j + 1), E.T))
    singular, vectors = np.linalg.svd(np.concatenate(space))[1:]
    null = vectors[singular < 1e-9]
    assert len(null) == 2 * min(j, l) + 1
    Y = [voxels.spherical_harmonics(J, direction) for J in range(abs(j - l), j + l + 1)]
    ours = np.stack(
        [(voxels.three_j(j, l, abs(j - l) + k) @ y).numpy().ravel() for k, y in enumerate(Y)]
    )
    ours, _ = np.linalg.qr(ours.T)
    cosines = np.linalg.svd(null @ ours)[1]
    assert cosines.min() > 1 - 1e-12


def test_kernels_of_vectors_are_identity_curl_and_grad_div():
    x = torch.randn(50, 3, generator=torch.Generator().manual_seed(0)).double()
    x = x / x.norm(dim=1, keepdim=True)
    eye = torch.eye(3).double()
    epsilon = torch.linalg.cross(eye[:, None].expand(3, 3, 3), eye[None].expand(3, 3, 3))
    wanted = [
        eye.expand(50, 3, 3),
        torch.einsum("ijk,nk->nij", epsilon, x),
        torch.einsum("ni,nj->nij", x, x) - eye / 3,
    ]
    for J, expected in enumerate(wanted):
        found = torch.einsum(
            "ijm,nm->nij", voxels.three_j(1, 1, J), voxels.spherical_harmonics(J, x)
        )
        cosine = (found * expected).sum() / found.norm() / expected.norm()
        assert abs(cosine) > 1 - 1e-12


def test_cutoffs_and_their_refusals():
    assert voxels.cutoff_orders("conservative", 9) == [0, 2, 4, 6, 8]
    assert voxels.cutoff_orders("sfcnn", 9) == [0, 4, 6, 8, 10]
    with pytest.raises(ValueError, match="unknown cutoff"):
        voxels.cutoff_orders("sharp", 5)
    with pytest.raises(ValueError, match="odd"):
        voxels.kernel_basis(0, 0, 4)
    with pytest.raises(ValueError, match="family"):
        voxels.kernel_basis(0, 0, 5, family="bessel")


def test_parity_keeps_half_of_the_frequencies():
    every = voxels.kernel_basis(1, 1, 5)
    even, odd = (voxels.kernel_basis(1, 1, 5, parity=p) for p in (1, -1))
    assert len(even) + len(odd) == len(every)
    mirrored = even.flip((-3, -2, -1))  # the inversion of space
    assert torch.allclose(mirrored, even)
    assert torch.allclose(odd.flip((-3, -2, -1)), -odd)


@pytest.mark.cross_library
def test_kernels_of_e3nn_lie_in_the_smooth_family():
    pytest.importorskip("e3nn.o3", reason="needs the extra 'equivariant'")
    from e3nn import o3
    from e3nn.nn.models.v2103.voxel_convolution import Convolution

    with torch.random.fork_rng():
        torch.manual_seed(0)
        theirs = Convolution("1e", "1e", o3.Irreps("0e+1e+2e"), 5)
    weight = (theirs.emb @ theirs.weight).double()
    kernel = theirs.tp.double().right(theirs.sh.double(), weight)
    kernel = kernel.permute(4, 3, 0, 1, 2).reshape(-1).detach()
    basis = voxels.kernel_basis(1, 1, 5, family="smooth").flatten(1)
    fitted = torch.linalg.lstsq(basis.T, kernel[:, None]).solution
    assert (basis.T @ fitted - kernel[:, None]).norm() < 1e-6 * kernel.norm()
