"""Every layer on fields commutes with rotations (EQU-27, -30, -31, -33, -43)."""

import copy

import pytest
import torch
from torch import nn

from regimes._rotations import haar_rotations
from regimes.nets import voxels

KIND = (3, 2, 1)


def draws(seed=0):
    return torch.Generator().manual_seed(seed)


def field_of(kind, side=7, n=2, dtype=torch.float64):
    kind = voxels.FieldType.of(kind)
    return torch.randn(n, kind.dim, *[side] * 3, generator=draws(), dtype=torch.float64).to(dtype)


def conv_of(*args, dtype=torch.float64, **options):
    made = voxels.SteerableConv3d(*args, **options).to(dtype)
    made.draw_parameters(draws(1))
    return made


def turned(kind, field, R):
    """A rotation of the components alone: random ones, which no grid has."""
    matrix = voxels.FieldType.of(kind).matrix(R).to(field)
    return torch.einsum("ij,nj...->ni...", matrix, field)


def commutes(layer, kind_in, kind_out, field, R):
    with torch.no_grad():
        one, two = layer(turned(kind_in, field, R)), turned(kind_out, layer(field), R)
    return float((one - two).norm() / two.norm())


@pytest.mark.parametrize("family", ["shells", "smooth"])
@pytest.mark.parametrize("cutoff", ["default", "none"])
def test_convolutions_commute_with_all_24_rotations(dtype, family, cutoff):
    conv = conv_of((2, 1), (2, 1, 1), padding=1, family=family, cutoff=cutoff, dtype=dtype)
    field = field_of((2, 1), dtype=dtype)
    for R in voxels.cube_symmetries():
        one = conv(conv.type_in.transform(field, R))
        two = conv.type_out.transform(conv(field), R)
        assert (one - two).norm() / two.norm() < (1e-5 if dtype == torch.float32 else 1e-12)


def test_parities_add_the_mirrors():
    conv = conv_of("2x0e + 1x1o", "1x0e + 1x0o + 1x1e + 1x2e", padding=2)
    field = field_of("2x0e + 1x1o")
    for R in voxels.cube_symmetries(mirrors=True):
        one = conv(conv.type_in.transform(field, R))
        two = conv.type_out.transform(conv(field), R)
        assert torch.allclose(one, two, atol=1e-12)


def test_without_the_constraint_a_convolution_does_not_commute():
    conv = conv_of((0, 1), (0, 1), padding=2)
    with torch.no_grad():
        conv.basis_0_0[0, 0, 1] += 0.1
    field, R = field_of((0, 1)), voxels.cube_symmetries()[5]
    one = conv(conv.type_in.transform(field, R))
    two = conv.type_out.transform(conv(field), R)
    assert (one - two).norm() / two.norm() > 1e-2


def test_a_convolution_is_a_plain_one_and_says_so():
    conv = conv_of(KIND, (2, 2), stride=2, padding=1)
    plain = conv.to_conv3d()
    assert type(plain) is nn.Conv3d
    field = field_of(KIND)
    assert torch.equal(plain(field), conv(field))
    with pytest.raises(ValueError, match="has shape"):
        conv(field[:, :2])
    with pytest.raises(ValueError, match="parity"):
        voxels.SteerableConv3d("1e", (1, 1))


def test_the_scale_keeps_fields_of_size_one():
    kind = (8, 8, 8)
    found = conv_of(kind, kind)(field_of(kind, side=9))
    for part in found.split([8, 24, 40], 1):
        assert 0.6 < part.square().mean().sqrt() < 1.5


def test_gradients_reach_the_weights():
    conv = conv_of((1, 1), (1, 1))
    field = field_of((1, 1), side=5, n=1)
    assert torch.autograd.gradcheck(
        lambda w: torch.func.functional_call(conv, {"weight": w}, (field,)),
        conv.weight.detach().requires_grad_(),
    )


def test_in_eval_mode_the_kernel_is_kept_until_weights_change():
    conv = conv_of((1, 1), (1, 1)).eval()
    with torch.no_grad():
        first = conv.kernel()
        assert conv.kernel() is first
        conv.weight.mul_(2)
        assert torch.equal(conv.kernel(), 2 * first)
    assert conv.kernel().requires_grad  # with gradients nothing is kept
    conv.train()
    assert conv.kernel() is not conv.kernel()


@pytest.mark.parametrize("layer", [voxels.Gated, voxels.NormRelu])
@pytest.mark.parametrize("kind", [KIND, "2x0e + 1x1o + 1x2e"])
def test_nonlinearities_commute(layer, kind):
    made = layer(kind)
    with torch.no_grad():
        made.bias.copy_(torch.linspace(0.1, 0.9, len(made.bias)))
    made = made.double()
    field = field_of(made.gates)
    for R in haar_rotations(3, draws(2)):
        assert commutes(made, made.gates, kind, field, R) < 1e-12


def test_a_pointwise_relu_does_not_commute():
    assert (
        commutes(torch.relu, (0, 1), (0, 1), field_of((0, 1)), haar_rotations(1, draws())[0]) > 0.1
    )


def test_a_relu_on_odd_scalars_is_refused():
    with pytest.raises(ValueError, match="change sign"):
        voxels.Gated("1x0o")


def test_products_of_fields_commute():
    layer = voxels.ProductOfFields(KIND, max_order=3).double()
    one, two = field_of(KIND), field_of(KIND).flip(0)
    for R in haar_rotations(3, draws(2)):
        there = layer(turned(KIND, one, R), turned(KIND, two, R))
        assert torch.allclose(there, turned(layer.type_out, layer(one, two), R), atol=1e-11)


def test_norms_at_zero_have_finite_gradients():
    layer = voxels.NormRelu((0, 1))
    field = torch.zeros(1, 3, 1, 1, 1, requires_grad=True)
    layer(field).sum().backward()
    assert field.grad.isfinite().all()


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_commutes_and_normalises(training):
    layer = voxels.EquivariantBatchNorm(KIND).double().train(training)
    field = 3 * field_of(KIND) + 1
    for R in haar_rotations(3, draws(2)):
        fresh = copy.deepcopy(layer)
        assert commutes(fresh, KIND, KIND, field, R) < 1e-12
    if training:
        out = layer(field)
        for entry, part in zip(layer.fields.entries, layer.fields.split(out), strict=True):
            squares = part.square().sum(2).mean((0, 2, 3, 4))
            assert torch.allclose(squares, torch.ones_like(squares), atol=1e-4)
            if entry.order == 0:
                assert (
                    part.mean((0, 2, 3, 4, 5) if part.ndim > 5 else (0, 2, 3, 4)).abs().max()
                    < 1e-12
                )


def test_scalars_are_normalised_as_torch_does():
    ours = voxels.EquivariantBatchNorm((3,)).double()
    theirs = nn.BatchNorm3d(3, affine=False, momentum=None).double()  # means of all batches
    for scale in (1.0, 2.0, 3.0):
        field = scale * field_of((3,))
        assert torch.allclose(ours(field), theirs(field))
        assert torch.allclose(ours.running_mean, theirs.running_mean)


def test_running_statistics_of_sparse_fields_are_right_from_the_first_batch_on():
    norm = voxels.EquivariantBatchNorm(KIND).double()
    field = 1e-2 * field_of(KIND)
    trained = norm(field)
    assert torch.allclose(norm.eval()(field), trained)
    norm.train()
    for _ in range(50):
        norm(field)
    before = norm.running_square.clone()
    norm(2 * field)  # from now on a batch has the weight that was asked for
    assert torch.allclose(norm.running_square / before, torch.full_like(before, 1.3))


@pytest.mark.parametrize("plain", [False, True])
def test_batch_norm_folds_into_the_convolution(plain):
    norm = voxels.EquivariantBatchNorm(KIND).double()
    for seed in range(3):
        norm(field_of(KIND) * (1 + seed) + 0.5)
    norm.eval()
    field = field_of(KIND, side=9)
    for padding in (0, 2):
        conv = conv_of(KIND, (2, 1), padding=padding)
        if plain:
            conv = conv.to_conv3d()
        both, folded = conv(norm(field)), voxels.fold_batch_norm(norm, conv)(field)
        inside = (..., *[slice(padding, both.shape[-1] - padding)] * 3)
        assert torch.allclose(both[inside], folded[inside], atol=1e-12)
        if padding:  # the border sees zeros where the norm would have put its shift
            assert (both - folded).abs().max() > 1e-3
    with pytest.raises(ValueError, match="channels"):
        voxels.fold_batch_norm(voxels.EquivariantBatchNorm((1,)), conv)


def test_dropout_takes_whole_fields():
    layer = voxels.CapsuleDropout(KIND, 0.5, seed=3)
    field = torch.ones(40, 14, 2, 2, 2)
    out = layer(field)
    kinds = voxels.FieldType.of(KIND)
    share = []
    for part in kinds.split(out):
        flat = part.flatten(2)
        assert ((flat == 0).all(2) | (flat == 2).all(2)).all()
        share.append((flat[..., 0] == 0).float().flatten())
    assert 0.35 < torch.cat(share).mean() < 0.65
    assert torch.equal(layer.eval()(field), field)
    with pytest.raises(ValueError, match="probability"):
        voxels.CapsuleDropout(KIND, 1.0)


def test_low_pass_keeps_constants_inside_and_commutes_with_the_cube():
    field = torch.ones(1, 1, 11, 11, 11).double()
    smooth = voxels.low_pass(field, 2.0)
    assert torch.allclose(smooth[..., 3:-3, 3:-3, 3:-3], torch.ones(5, 5, 5).double())
    kind = voxels.FieldType.of((1, 1))
    field = field_of(kind, side=9)
    for R in voxels.cube_symmetries()[:6]:
        one = voxels.low_pass(kind.transform(field, R), 2.0, 2)
        assert torch.allclose(one, kind.transform(voxels.low_pass(field, 2.0, 2), R))
    with pytest.raises(ValueError, match="at least 1"):
        voxels.low_pass(field, 0.5)


def test_low_pass_is_the_published_filter():
    field = field_of((1,), side=9, n=1)
    axis = torch.arange(5).double() - 2
    r2 = sum(each.square() for each in torch.meshgrid(axis, axis, axis, indexing="ij"))
    kernel = torch.exp(-r2 / (2 * 0.75))  # sigma = sqrt(3) / 2
    kernel = (kernel / kernel.sum())[None, None]
    expected = nn.functional.conv3d(field, kernel, padding=2, stride=2)
    assert torch.allclose(voxels.low_pass(field, 2.0, 2), expected)
