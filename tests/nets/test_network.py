"""What holds for every network of the registry."""

import pytest
import torch

from regimes import nets
from regimes.nets._network import image_shape, shape_of


def test_outputs_are_n_by_c(small):
    for out_dim in (1, 3):
        assert small(out_dim=out_dim)(small.inputs(4)).shape == (4, out_dim)


def test_same_seed_same_bits_and_other_seed_other_bits(small):
    first, again, other = small(seed=1), small(seed=1), small(seed=2)
    state = first.state_dict()
    assert all(torch.equal(state[name], t) for name, t in again.state_dict().items())
    x = small.inputs()
    assert torch.equal(first(x), again(x))
    assert not torch.allclose(first(x), other(x))
    for name, p in other.named_parameters():
        drawn = name.endswith("weight") and p.ndim > 1
        assert torch.equal(p, state[name]) is not drawn


def test_precisions_agree(small):
    double, single = small(dtype=torch.float64), small(dtype=torch.float32)
    for p, q in zip(double.parameters(), single.parameters(), strict=True):
        assert q.dtype == torch.float32
        assert torch.equal(p.float(), q)
    x = small.inputs()
    torch.testing.assert_close(single(x.float()).double(), double(x), rtol=1e-4, atol=1e-5)


def test_no_parameter_or_buffer_is_left_unfilled(small, monkeypatch):
    """Memory that is only reserved is made NaN: whatever is not filled afterwards shows."""

    def reserve(tensor, **options):
        made = torch.full(tensor.shape, -1, dtype=tensor.dtype, device=options.get("device"))
        return made.fill_(torch.nan) if made.is_floating_point() else made

    monkeypatch.setattr(torch, "empty_like", reserve)
    state = small().state_dict()
    assert state
    assert all(t.isfinite().all() for t in state.values() if t.is_floating_point())
    assert all((t >= 0).all() for t in state.values() if not t.is_floating_point())


def test_the_size_of_outputs_at_initialisation(small):
    """Every parametrisation keeps signals alive: no output explodes or vanishes."""
    out = torch.stack([small(seed=s)(small.inputs(8)) for s in range(6)])
    # with statistics that have seen nothing, the gates of an EfficientNet halve signal after signal
    least = 1e-5 if small.name.startswith("efficientnet") else 1e-3
    assert least < out.square().mean().sqrt() < 30


def test_a_batch_is_its_samples(small):
    """In evaluation mode samples do not interact."""
    net, x = small(), small.inputs(4)
    rows = torch.cat([net(x[i : i + 1]) for i in range(4)])
    torch.testing.assert_close(net(x), rows, rtol=1e-10, atol=1e-12)


def test_n_params(small):
    net = small()
    assert net.n_params == sum(p.numel() for p in net.parameters()) > 0
    assert net.in_shape == small.shape
    assert net.out_dim == 2


def test_all_parameters_act(small):
    """Every parameter has a gradient somewhere: no layer is built and then forgotten."""
    net = small()
    net(small.inputs(16)).square().sum().backward()
    unused = [name for name, p in net.named_parameters() if p.grad is None]
    assert unused == []


def test_images_may_come_flat_or_without_channel(small):
    x, net = small.inputs(), small()
    assert torch.equal(net(x), net(x.flatten(1)))
    if small.shape[0] == 1:
        assert torch.equal(net(x), net(x[:, 0]))


def test_bad_inputs(small):
    net = small(dtype=torch.float32)
    entries = torch.Size(small.shape).numel()
    for shape in ((3, entries + 1), (3, *small.shape, 2), small.shape[-1:]):
        with pytest.raises(ValueError, match="takes inputs of shape"):
            net(torch.zeros(shape))
    with pytest.raises(ValueError, match=r"inputs are torch\.float64"):
        net(small.inputs(dtype=torch.float64))
    with pytest.raises(ValueError, match=r"takes a tensor, got ndarray .* by torch.as_tensor"):
        net(small.inputs().numpy())


def test_a_whole_network_is_saved_and_read(small, tmp_path):
    net = small()
    torch.save(net, tmp_path / "net.pt")
    again = torch.load(tmp_path / "net.pt", weights_only=False)
    x = small.inputs()
    assert torch.equal(again(x), net(x))
    assert torch.equal(again.reseeded(3)(x), net.reseeded(3)(x))


def test_devices_that_are_not_there_are_told(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match=r"'cuda:1' was asked for, but torch .* sees no GPU"):
        nets.LeNet5((1, 8, 8), 2, device="cuda:1")
    with pytest.raises(ValueError, match="a torch device, such as 'cpu' or 'cuda', got 'gpu'"):
        nets.LeNet5((1, 8, 8), 2, device="gpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(ValueError, match="the last GPU that torch sees is 'cuda:0'"):
        nets.LeNet5((1, 8, 8), 2, device="cuda:1")


def test_channels_last_is_not_mistaken_for_channels_first():
    net = nets.LeNet5((3, 8, 8))
    with pytest.raises(ValueError, match=r"\(n, 3, 8, 8\) or \(n, 192\), got \(2, 8, 8, 3\)"):
        net(torch.zeros(2, 8, 8, 3))


def test_shapes():
    assert shape_of(10) == (10,)
    assert shape_of([3, 4]) == (3, 4)
    assert image_shape((28, 28)) == (1, 28, 28)
    for bad in (0, (), (3, 0), "28", 2.5, (2.5, 2.5), None):
        with pytest.raises(ValueError, match="in_shape"):
            shape_of(bad)
    for bad in (5, (1, 2, 3, 4)):
        with pytest.raises(ValueError, match=r"\(channels, height, width\)"):
            image_shape(bad)


@pytest.mark.parametrize(
    "network",
    [nets.LeNet5, nets.VGG, nets.ResNet18, nets.WideResNet, nets.ConvNet4, nets.MnasNetLike],
)
def test_bad_sizes_of_image_networks(network):
    with pytest.raises(ValueError, match="out_dim must be an integer >= 1, got 0"):
        network((1, 32, 32), 0)
    with pytest.raises(ValueError, match="every size in in_shape must be"):
        network((1, 32, -32))
    with pytest.raises(ValueError, match="unknown activation"):
        network((1, 32, 32), activation="rely")
