"""Networks as textbooks build them, each with layers of its own kind; `zoo.py` lists them."""

import itertools

import torch
import torch.nn.functional as F
from torch import nn


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
