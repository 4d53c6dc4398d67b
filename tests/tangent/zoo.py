"""One list of networks for all tests of the tangent kernel, and the slow reference for them."""

import itertools
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regimes import nets
from regimes._random import generator
from tests.tangent import zoo_strange as strange


class Residual(nn.Module):
    """Strided, dilated and grouped convolutions, group norm, frozen batch norm, in-place relu."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(2, 4, 3, padding=1, stride=2)
        self.group_norm = nn.GroupNorm(2, 4)
        self.second = nn.Conv2d(4, 4, 3, padding=2, dilation=2, groups=2)
        self.batch_norm = nn.BatchNorm2d(4)
        self.relu = nn.ReLU(inplace=True)
        self.readout = nn.Linear(4, 3)

    def forward(self, x):
        h = self.relu(self.group_norm(self.first(x)))
        h = h + self.relu(self.batch_norm(self.second(h)))
        return self.readout(h.mean((2, 3)))


class Attention(nn.Module):
    """Tokens, bare position and class parameters, attention, layer norm, a learned scale."""

    def __init__(self, outputs, batch_first):
        super().__init__()
        self.batch_first = batch_first
        self.tokens = nn.Embedding(7, 8)
        self.position = nn.Parameter(torch.empty(1, 5, 8))
        self.start = nn.Parameter(torch.empty(1, 1, 8))
        self.attention = nn.MultiheadAttention(8, 2, batch_first=batch_first)
        self.norm = nn.LayerNorm(8)
        self.mlp = nn.Linear(8, 8)
        self.scale = nn.Parameter(torch.empty(8))
        self.readout = nn.Linear(8, outputs)

    def forward(self, index):
        h = self.tokens(index) + self.position
        h = torch.cat([self.start.expand(h.shape[0], -1, -1), h], 1)
        h = h if self.batch_first else h.transpose(0, 1)
        h = h + self.attention(h, h, h, need_weights=False)[0]
        h = self.norm(h) + self.scale * F.gelu(self.mlp(h))
        h = h if self.batch_first else h.transpose(0, 1)
        return self.readout(h[:, 0])


class WrittenOutAttention(nn.Module):
    """Attention from its formula, with one projection for queries, keys and values."""

    def __init__(self):
        super().__init__()
        self.project = nn.Linear(4, 12)
        self.readout = nn.Linear(4, 2)

    def forward(self, x):
        q, k, v = self.project(x).chunk(3, dim=-1)
        h = F.scaled_dot_product_attention(q, k, v)
        return self.readout(h).sum(1)


class Tied(nn.Module):
    """One layer used twice, and an embedding that is also the readout; a padding token."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(7, 6, padding_idx=0)
        self.shared = nn.Linear(6, 6)
        self.shift = nn.Parameter(torch.empty(6))

    def forward(self, index):
        h = torch.tanh(self.shared(self.tokens(index).mean(1) + self.shift))
        return F.linear(self.shared(h), self.tokens.weight)[:, :3]


class TiedConvolution(nn.Module):
    """One convolution used three times."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 3, padding=1)
        self.readout = nn.Linear(8, 1)

    def forward(self, x):
        h = x
        for _ in range(3):
            h = torch.tanh(self.conv(h))
        return self.readout(F.avg_pool2d(h, 2).flatten(1))


class Unknown(nn.Module):
    """Recurrence, weight norm, einsum and a determinant: little here has known structure."""

    def __init__(self):
        super().__init__()
        self.recurrent = nn.LSTM(4, 5, batch_first=True)
        self.normed = nn.utils.parametrizations.weight_norm(nn.Linear(5, 5))
        self.mix = nn.Parameter(torch.empty(5, 2))
        self.square = nn.Parameter(torch.empty(3, 3))

    def forward(self, x):
        h = self.normed(self.recurrent(x)[0][:, -1])
        volume = torch.logdet(self.square @ self.square.T + 3 * torch.eye(3).to(x))
        return torch.einsum("ni,io->no", h, self.mix) * volume


class Quadratic(nn.Module):
    """A custom layer the engine has never seen, between two that it knows."""

    def __init__(self):
        super().__init__()
        self.before = nn.Linear(4, 3)
        self.form = nn.Parameter(torch.empty(3, 3))
        self.after = nn.Linear(1, 2)

    def forward(self, x):
        h = self.before(x)
        form = torch.linalg.matrix_exp(self.form)
        return self.after((h.unsqueeze(1) @ form @ h.unsqueeze(2)).flatten(1))


class BareParameters(nn.Module):
    """Matrix products, shifts and factors with bare parameters, transposed, reshaped, scaled."""

    def __init__(self):
        super().__init__()
        self.into = nn.Parameter(torch.empty(4, 6))
        self.shift = nn.Parameter(torch.empty(6))
        self.factor = nn.Parameter(torch.empty(1, 6))
        self.out = nn.Parameter(torch.empty(2, 6))
        self.unused = nn.Parameter(torch.empty(3))

    def forward(self, x):
        h = torch.tanh((x @ self.into / 2.0 - 0.5 * self.shift) * self.factor)
        return h @ self.out.T * 0.3 + self.shift.view(3, 2).sum(0)


class TwoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(3, 4)
        self.right = nn.Linear(2, 4, bias=False)
        self.readout = nn.Linear(4, 2)

    def forward(self, a, b):
        return self.readout(torch.tanh(self.left(a) * self.right(b)))


class ByName(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = TwoInputs()

    def forward(self, *, pair, extra):
        return self.inner(pair["a"], pair["b"]) + extra


class PartlyFrozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 5), nn.Tanh())
        self.readout = nn.Linear(5, 2)
        self.net[0].weight.requires_grad_(False)
        self.net[2].bias.requires_grad_(False)

    def forward(self, x):
        return self.readout(self.net(x))


class ValueDependent(nn.Module):
    """Code that looks at values: cannot be vectorised over samples, and changes its graph."""

    def __init__(self):
        super().__init__()
        self.form = nn.Parameter(torch.empty(4, 4))

    def forward(self, x):
        return torch.stack([row @ self.form.matrix_power(2) @ row for row in x])[:, None]


class Sequence(nn.Module):
    """Linear layers on sequences, RMS norm, PReLU."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(4, 6), nn.Tanh(), nn.RMSNorm(6), nn.Linear(6, 5), nn.PReLU(), nn.Flatten()
        )
        self.readout = nn.Linear(15, 2)

    def forward(self, x):
        return self.readout(self.net(x))


def mlp(*sizes, bias=True):
    layers = []
    for a, b in itertools.pairwise(sizes):
        layers += [nn.Linear(a, b, bias=bias), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def circular():
    return nn.Sequential(
        nn.Conv1d(2, 3, 3, padding="same", padding_mode="circular"),
        nn.GELU(),
        nn.Flatten(),
        nn.Linear(15, 2),
    )


def volume():
    return nn.Sequential(
        nn.Conv3d(1, 2, 2), nn.ReLU(inplace=True), nn.ConvTranspose3d(2, 1, 2), nn.Flatten(),
        nn.Linear(27, 1),
    )  # fmt: skip


def frames():
    """Images of a video through one convolution: the batch axis counts samples and frames."""

    class Frames(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 3, 3)
            self.readout = nn.Linear(3, 2)

        def forward(self, x):
            n, t = x.shape[:2]
            h = torch.relu(self.conv(x.flatten(0, 1))).mean((2, 3)).view(n, t, 3)
            return self.readout(h.mean(1))

    return Frames()


@dataclass(frozen=True)
class Case:
    """A network, inputs for it, and which parameters the structured engine must leave alone."""

    make: Any
    shape: Any  # shape of one input; "tokens" for indices; a dict or tuple of those
    general: tuple[str, ...] = ()
    samples: int = 5


CASES = {
    "linear": Case(lambda: nn.Linear(6, 1), (6,)),
    "mlp one output": Case(lambda: mlp(6, 7, 5, 1), (6,)),
    "mlp without biases": Case(lambda: mlp(6, 7, 3, bias=False), (6,)),
    "ntk parametrisation": Case(
        lambda: nets.FullyConnected(4, 6, depth=2, out_dim=2, bias=True), (4,)
    ),
    "mean field": Case(
        lambda: nets.FullyConnected(4, 6, parametrization="mean_field", bias=True), (4,)
    ),
    "lenet": Case(lambda: nets.LeNet5((1, 8, 8), 2, activation="gelu"), (1, 8, 8)),
    "resnet": Case(lambda: nets.ResNet18((1, 8, 8), 2, base=2), (1, 8, 8), samples=3),
    "vgg": Case(lambda: nets.make("vgg11", (3, 32, 32), 1, base=2), (3, 32, 32), samples=3),
    "wide resnet": Case(
        lambda: nets.WideResNet((1, 8, 8), 1, width_factor=1, blocks=1), (1, 8, 8), samples=3
    ),
    "mnasnet-like": Case(
        lambda: nets.MnasNetLike((1, 8, 8), 1, width_factor=1), (1, 8, 8), samples=3
    ),
    "residual convolutions": Case(Residual, (2, 6, 6)),
    "circular convolution": Case(circular, (2, 5)),
    "convolution in three dimensions": Case(volume, (1, 3, 3, 3), ("2.weight", "2.bias")),
    "convolution over frames": Case(frames, (4, 1, 5, 5)),
    "attention": Case(lambda: Attention(2, True), "tokens"),
    "attention, positions first": Case(lambda: Attention(1, False), "tokens"),
    "attention written out": Case(WrittenOutAttention, (3, 4)),
    "sequences": Case(Sequence, (3, 4), ("net.4.weight",)),
    "tied embedding and layer": Case(Tied, "tokens"),
    "tied convolution": Case(TiedConvolution, (2, 4, 4)),
    "bare parameters": Case(BareParameters, (4,), ("shift",)),
    "two inputs": Case(TwoInputs, ((3,), (2,))),
    "inputs by name": Case(ByName, {"pair": {"a": (3,), "b": (2,)}, "extra": (2,)}),
    "partly frozen": Case(PartlyFrozen, (4,)),
    "unknown custom layer": Case(Quadratic, (4,), ("form",)),
    "nothing known": Case(
        Unknown,
        (3, 4),
        (
            "mix", "square",
            "normed.parametrizations.weight.original0",
            "normed.parametrizations.weight.original1",
        ),
    ),
    "code that looks at values": Case(ValueDependent, (4,), ("form",)),
}  # fmt: skip

STRANGE = {
    "module under two names": Case(strange.under_two_names, (4,)),
    "torchscript": Case(strange.scripted, (4,)),
    "compiled": Case(strange.compiled, (4,)),
    "data parallel": Case(strange.data_parallel, (4,)),
    "parameter without axes": Case(strange.Temperature, (4,)),
    "complex buffer": Case(strange.Rotary, (3, 4)),
    "complex parameters": Case(strange.Fourier, (6,)),
    "embedding bag": Case(lambda: strange.Bags(False), "tokens"),
    "sparse embeddings": Case(lambda: strange.Bags(True), "tokens"),
    "pruned": Case(strange.pruned, (4,)),
    "old weight norm": Case(strange.old_weight_norm, (4,)),
    "torch.func inside": Case(strange.Residuals, (2,)),
    "selective scan": Case(strange.SelectiveScan, "tokens"),
    "packed sequences": Case(strange.Packed, ((5, 3), "tokens")),
    "function of its own": Case(strange.OwnFunction, (4,)),
    "buffers written in forward": Case(strange.Remembers, (4,)),
    "fused attention": Case(strange.FusedAttention, (3, 4)),
    "low rank": Case(strange.LowRank, (4,)),
    "experts": Case(strange.Experts, (4,)),
    "equilibrium": Case(strange.Equilibrium, (4,)),
    "graph": Case(strange.Graph, ((4, 3), (4, 4))),
    "unet": Case(strange.UNet, (1, 4, 4)),
}


def build(name, dtype=torch.float64):
    """The network and inputs of a case, all numbers drawn from explicit generators."""
    case = CASES.get(name) or STRANGE[name]
    state = torch.get_rng_state()
    network = case.make()
    torch.set_rng_state(state)  # torch's own layers initialise from the global state
    draws = generator(1, f"zoo/{name}")
    with torch.no_grad():
        for p in network.parameters():
            spread = 1.0 if isinstance(network, nets.Network) else 0.5
            form = torch.complex128 if p.is_complex() else torch.float64
            p.copy_(spread * torch.randn(p.shape, generator=draws, dtype=form))
        for buffer_name, buffer in network.named_buffers():
            if buffer.is_floating_point() and not buffer_name.endswith("mask"):
                noise = torch.rand(buffer.shape, generator=draws, dtype=torch.float64)
                buffer.copy_(noise + (0.5 if "var" in buffer_name else -0.5))
    network = converted(network, dtype).eval()
    return network, inputs(case.shape, case.samples, draws, dtype)


def converted(network, dtype):
    """`network.to(dtype)`, which would drop the imaginary parts of complex numbers."""
    complex_ = [*filter(torch.is_complex, (*network.parameters(), *network.buffers()))]
    if not complex_:
        return network.to(dtype)
    return network._apply(lambda t: t.to(dtype.to_complex() if t.is_complex() else dtype))


def inputs(shape, n, draws, dtype):
    if isinstance(shape, dict):
        return {key: inputs(value, n, draws, dtype) for key, value in shape.items()}
    if shape == "tokens":
        return torch.randint(0, 7, (n, 5), generator=draws)
    if shape and not isinstance(shape[0], int):
        return tuple(inputs(part, n, draws, dtype) for part in shape)
    return torch.randn(n, *shape, generator=draws, dtype=torch.float64).to(dtype)


def take(batch, index):
    """Some samples of any kind of batch."""
    if isinstance(batch, dict):
        return {key: take(value, index) for key, value in batch.items()}
    if isinstance(batch, tuple):
        return tuple(take(value, index) for value in batch)
    return batch[index]


def length(batch):
    while not isinstance(batch, Tensor):
        batch = next(iter(batch.values())) if isinstance(batch, dict) else batch[0]
    return len(batch)


def evaluate(network, batch):
    network = getattr(network, "_orig_mod", network)  # nobody waits for torch.compile here
    if isinstance(batch, dict):
        return network(**batch)
    return network(*batch) if isinstance(batch, tuple) else network(batch)


def jacobian(network, batch):
    """(n, c, P), one backward pass for every sample and output."""
    parameters = [p for p in network.parameters() if p.requires_grad]
    rows = []
    for i in range(length(batch)):
        output = evaluate(network, take(batch, slice(i, i + 1)))
        for a in range(output.shape[1]):
            found = torch.autograd.grad(
                output[0, a], parameters, retain_graph=True, allow_unused=True
            )
            flat = [
                flat_real(torch.zeros_like(p) if g is None else g.to_dense())
                for p, g in zip(parameters, found, strict=True)
            ]
            rows.append(torch.cat(flat))
    return torch.stack(rows).view(length(batch), -1, rows[0].numel())


def flat_real(tensor):
    """All entries; a complex number counts as its real and its imaginary part."""
    return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).flatten()


def gram(first, second=None):
    """(n, n2) for one output, (n, c, n2, c) for several, from Jacobians."""
    full = torch.einsum("iap,jbp->iajb", first, first if second is None else second)
    return full[:, 0, :, 0] if full.shape[1] == 1 else full
