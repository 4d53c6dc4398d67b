"""Networks built or run in unusual ways, as people bring them; `zoo.py` lists them.

Each is the smallest network with its peculiarity. Where it needs a package (an image backbone, a
language model), the peculiar part is written out in plain torch.
"""

import math
import warnings

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import prune


def under_two_names():
    """One module registered twice: a weight that two names of the state lead to."""
    shared = nn.Linear(4, 4)
    return nn.Sequential(shared, nn.Tanh(), shared, nn.Linear(4, 2))


def scripted():
    """TorchScript: the graph of the forward pass has no edge to a parameter."""
    network = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated, but people have such files
        return torch.jit.script(network)


def compiled():
    """A module that torch.compile has wrapped: what counts is the module inside."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch's own, when it loads its compiler
        return torch.compile(nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2)))


def data_parallel():
    return nn.DataParallel(nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2)))


class Temperature(nn.Module):
    """A parameter without axes, as the temperature that scales the cosines of CLIP."""

    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(4, 5)
        self.classes = nn.Parameter(torch.empty(3, 5))
        self.log_scale = nn.Parameter(torch.empty(()))

    def forward(self, x):
        h = F.normalize(self.encode(x), dim=-1)
        return self.log_scale.exp() * h @ F.normalize(self.classes, dim=-1).T


class Rotary(nn.Module):
    """Attention whose queries and keys are turned by a complex buffer."""

    def __init__(self):
        super().__init__()
        self.project = nn.Linear(4, 12)
        self.readout = nn.Linear(4, 2)
        angles = torch.arange(3.0)[:, None] * torch.tensor([1.0, 0.1])
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))

    def turned(self, x):
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * self.turns).flatten(-2)

    def forward(self, x):
        q, k, v = self.project(x).chunk(3, dim=-1)
        weights = (self.turned(q) @ self.turned(k).mT / 2).softmax(-1)
        return self.readout((weights @ v).mean(1))


class Fourier(nn.Module):
    """Complex weights that multiply the modes of a signal, as in Fourier neural operators."""

    def __init__(self):
        super().__init__()
        self.lift = nn.Linear(1, 3)
        self.modes = nn.Parameter(torch.empty(3, 3, 3, dtype=torch.complex64))
        self.readout = nn.Linear(3, 2)

    def forward(self, x):
        h = torch.tanh(self.lift(x.unsqueeze(-1)))
        modes = torch.fft.rfft(h, dim=1)
        mixed = torch.einsum("nki,kio->nko", modes[:, :3], self.modes)
        return self.readout(torch.tanh(torch.fft.irfft(mixed, n=x.shape[1], dim=1)).mean(1))


class Bags(nn.Module):
    """Bags of tokens, and tokens of which most get no gradient: their gradients are sparse."""

    def __init__(self, sparse):
        super().__init__()
        self.bags = nn.EmbeddingBag(7, 4, mode="sum", sparse=sparse)
        self.tokens = nn.Embedding(7, 4, sparse=sparse)
        self.readout = nn.Linear(4, 2)

    def forward(self, index):
        return self.readout(torch.tanh(self.bags(index) + self.tokens(index).mean(1)))


def pruned():
    """Weights that a hook makes from an original and a mask before every pass."""
    network = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))
    for layer in (network[0], network[2]):
        mask = torch.arange(layer.weight.numel()).view_as(layer.weight) % 3 > 0
        prune.custom_from_mask(layer, "weight", mask)
    return network


def old_weight_norm():
    """Weights that a hook makes from a length and a direction before every pass."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated, but people have such files
        return nn.Sequential(
            nn.utils.weight_norm(nn.Linear(4, 5)), nn.Tanh(), nn.utils.weight_norm(nn.Linear(5, 2))
        )


class Residuals(nn.Module):
    """What a physics-informed network is trained on: u and its derivatives, by torch.func."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 5), nn.Tanh(), nn.Linear(5, 1))

    def forward(self, x):
        def value(point):
            return self.net(point)[0]

        def slope(point):
            return torch.func.grad(value)(point)[0]

        bend, u_x = torch.func.vmap(torch.func.grad_and_value(slope))(x)
        return torch.stack([u_x, bend[:, 0]], 1)


class SelectiveScan(nn.Module):
    """A state-space layer as in Mamba: parameters cast to float32, a loop over positions."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(7, 3)
        self.convolution = nn.Conv1d(3, 3, 2, padding=1, groups=3)
        self.select = nn.Linear(3, 5)
        self.a_log = nn.Parameter(torch.empty(3, 2))
        self.skip = nn.Parameter(torch.empty(3))
        self.readout = nn.Linear(3, 2)

    def forward(self, index):
        x = self.tokens(index)
        h = F.silu(self.convolution(x.mT)[..., : x.shape[1]].mT)
        step, into, out = self.select(h).split([1, 2, 2], -1)
        decay = torch.exp(F.softplus(step)[..., None] * -torch.exp(self.a_log.float()).to(x))
        state, seen = x.new_zeros(len(x), 3, 2), []
        for t in range(x.shape[1]):
            state = decay[:, t] * state + h[:, t, :, None] * into[:, t, None, :]
            seen.append((state * out[:, t, None, :]).sum(-1))
        return self.readout((torch.stack(seen, 1) + h * self.skip.float().to(x)).mean(1))


class Packed(nn.Module):
    """An LSTM on sequences of different lengths, packed."""

    def __init__(self):
        super().__init__()
        self.recurrent = nn.LSTM(3, 4, batch_first=True)
        self.readout = nn.Linear(4, 2)

    def forward(self, x, lengths):
        lengths = 1 + lengths[:, 0].cpu() % x.shape[1]
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, True, enforce_sorted=False)
        return self.readout(self.recurrent(packed)[1][0][-1])


class _Clipped(torch.autograd.Function):
    """The identity whose gradient is a hyperbolic tangent's: known to autograd alone."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * (1 - torch.tanh(x) ** 2)


class OwnFunction(nn.Module):
    """An operation whose backward pass its author wrote, without rules for anything else."""

    def __init__(self):
        super().__init__()
        self.before = nn.Linear(4, 5)
        self.scale = nn.Parameter(torch.empty(5))
        self.after = nn.Linear(5, 2)

    def forward(self, x):
        return self.after(_Clipped.apply(self.before(x) * self.scale))


class Remembers(nn.Module):
    """Buffers and attributes that every forward pass writes."""

    def __init__(self):
        super().__init__()
        self.before = nn.Linear(4, 5)
        self.after = nn.Linear(5, 2)
        self.register_buffer("calls", torch.zeros((), dtype=torch.long))
        self.register_buffer("last", torch.zeros(5))
        self.hidden = None

    def forward(self, x):
        self.hidden = torch.tanh(self.before(x))
        self.calls += 1
        self.last.copy_(self.hidden.detach().mean(0))
        return self.after(self.hidden)


class FusedAttention(nn.Module):
    """A layer of torch's own transformer, which has a fast path of its own."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(4, 2, 5, 0.0, batch_first=True, norm_first=True)
        self.readout = nn.Linear(4, 2)

    def forward(self, x):
        return self.readout(self.layer(x).mean(1))


class LowRank(nn.Module):
    """A frozen layer with a trainable correction of low rank, as LoRA adds it."""

    def __init__(self):
        super().__init__()
        self.frozen = nn.Linear(4, 5).requires_grad_(False)
        self.down = nn.Linear(4, 2, bias=False)
        self.up = nn.Linear(2, 5, bias=False)
        self.readout = nn.Linear(5, 2).requires_grad_(False)

    def forward(self, x):
        return self.readout(torch.tanh(self.frozen(x) + 2.0 * self.up(self.down(x))))


class Experts(nn.Module):
    """Tokens sent to the better of two experts: which samples an expert sees depends on values."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 2)
        self.experts = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))
        self.readout = nn.Linear(4, 2)

    def forward(self, x):
        weights, chosen = self.gate(x).softmax(-1).max(-1)
        h = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            (mine,) = torch.where(chosen == number)
            h = h.index_add(0, mine, weights[mine, None] * torch.tanh(expert(x[mine])))
        return self.readout(h)


class Equilibrium(nn.Module):
    """A fixed point, differentiated at the solution by a hook on the gradient."""

    def __init__(self):
        super().__init__()
        self.into = nn.Linear(4, 3)
        self.step = nn.Linear(3, 3)
        self.readout = nn.Linear(3, 2)

    def forward(self, x):
        def move(z):
            return torch.tanh(0.2 * self.step(z) + self.into(x))

        with torch.no_grad():
            z = x.new_zeros(len(x), 3)
            for _ in range(6):
                z = move(z)
        z = move(z)
        if z.requires_grad:
            at = z.detach().requires_grad_()
            image = move(at)

            def solved(gradient):
                found = gradient
                for _ in range(6):
                    (back,) = torch.autograd.grad(image, at, found, retain_graph=True)
                    found = gradient + back
                return found

            z.register_hook(solved)
        return self.readout(z)


class Graph(nn.Module):
    """A graph network on dense adjacency matrices, one a sample."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, nodes, adjacency):
        weights = adjacency.sigmoid()
        h = torch.tanh(weights @ self.first(nodes))
        return (weights @ self.second(h)).mean(1)


class UNet(nn.Module):
    """Down, up again, and a bridge between."""

    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(1, 2, 3, padding=1)
        self.bottom = nn.Conv2d(2, 2, 3, padding=1, stride=2)
        self.up = nn.ConvTranspose2d(2, 2, 2, stride=2)
        self.last = nn.Conv2d(4, 1, 1)

    def forward(self, x):
        h = F.silu(self.down(x))
        low = F.interpolate(F.silu(self.bottom(h)), scale_factor=1.0, mode="nearest")
        return self.last(torch.cat([self.up(low), h], 1)).flatten(1)[:, ::5] / math.sqrt(2)
