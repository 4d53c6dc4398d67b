"""Networks, points and losses whose curvature is tried, with their Hessians by plain autograd."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from regimes._random import generator
from regimes.curvature._losses import point_loss


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=generator(seed, "tests/curvature"), dtype=torch.float64)


def filled(net, scale=0.5):
    """The network with parameters drawn from a seed, in float64 and evaluation mode."""
    net = net.double().eval()
    with torch.no_grad():
        for number, tensor in enumerate(net.parameters()):
            tensor.copy_(scale * drawn(*tensor.shape, seed=number))
        for child in net.modules():
            if isinstance(child, nn.BatchNorm2d):
                child.running_mean.copy_(drawn(*child.running_mean.shape))
                child.running_var.copy_(1 + drawn(*child.running_var.shape).square())
    return net


def made(build):
    """A module built without torch's global random state."""
    with torch.device("meta"):
        net = build()
    return filled(net.to_empty(device="cpu"))


class Tied(nn.Module):
    """One weight used twice, one scalar, one frozen."""

    def __init__(self):
        super().__init__()
        self.layer, self.scale = nn.Linear(3, 3), nn.Parameter(torch.ones(()))
        self.frozen = nn.Parameter(torch.ones(3), requires_grad=False)

    def forward(self, x):
        return self.scale * self.layer(torch.tanh(self.layer(x)) + self.frozen)[:, 0]


class Tokens(nn.Module):
    """Embedding and attention by names, logits in an object beside a loss, as Hugging Face does."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 4, padding_idx=0)
        self.attend = nn.MultiheadAttention(4, 2, batch_first=True)
        self.norm, self.head = nn.LayerNorm(4), nn.Linear(4, 3)

    def forward(self, input_ids, attention_mask):
        h = self.embed(input_ids)
        h = h + self.attend(h, h, h, key_padding_mask=attention_mask == 0, need_weights=False)[0]
        return SimpleNamespace(loss=None, logits=self.head(self.norm(h).mean(1)))


IDS = torch.tensor([[1, 2, 3], [4, 1, 0], [3, 3, 2], [2, 4, 4], [1, 1, 2]])


@dataclass(frozen=True)
class Case:
    net: nn.Module
    x: Any
    y: torch.Tensor
    loss: Any
    output: Any = None

    def arguments(self, dtype=torch.float64):
        """Network, inputs, labels, loss in a precision."""

        def to(t):
            return t.to(dtype) if t.is_floating_point() else t

        x = {k: to(v) for k, v in self.x.items()} if isinstance(self.x, dict) else to(self.x)
        return copy.deepcopy(self.net).to(dtype), x, to(self.y), self.loss


CLASSES = torch.tensor([0, 2, 1, 2, 0])
SIGNS = torch.tensor([1.0, -1.0, 1.0, -1.0, -1.0], dtype=torch.float64)
CASES = {
    "mlp": Case(
        made(lambda: nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))),
        drawn(5, 4), CLASSES, "cross_entropy",
    ),
    "convolutions": Case(
        made(lambda: nn.Sequential(
            nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.GELU(), nn.Conv2d(2, 3, 2, stride=2),
            nn.ReLU(), nn.Flatten(), nn.Linear(12, 3))),
        drawn(5, 1, 6, 6), CLASSES, F.cross_entropy,
    ),
    "tied": Case(made(Tied), drawn(5, 3), SIGNS, "softhinge_5"),
    "hinge": Case(
        made(lambda: nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 1))),
        drawn(5, 4), SIGNS, "hinge",
    ),
    "tokens": Case(
        made(Tokens), {"input_ids": IDS, "attention_mask": (IDS > 0).long()}, CLASSES,
        "cross_entropy", lambda o: o.logits,
    ),
    "own loss": Case(
        made(lambda: nn.Sequential(nn.Linear(4, 3), nn.SiLU(), nn.Linear(3, 2))),
        drawn(5, 4), drawn(5, 2, seed=9), lambda f, y: (f - y).pow(4).sum(1) + (f[:, 0] * f[:, 1]),
    ),
}  # fmt: skip


@cache
def hessians(name):
    """The total Hessian and its two parts by plain autograd in float64, (N, N) each."""
    with sdpa_kernel(SDPBackend.MATH):  # the fused one cannot be differentiated twice
        return _hessians(CASES[name])


def _hessians(case):
    net, x, y, loss = case.arguments()
    named = {name: p.detach() for name, p in net.named_parameters() if p.requires_grad}
    flat = torch.cat([p.flatten() for p in named.values()])

    def outputs(w):
        parts = w.split([p.numel() for p in named.values()])
        here = {n: v.view(p.shape) for (n, p), v in zip(named.items(), parts, strict=True)}
        args, kwargs = ((), x) if isinstance(x, dict) else ((x,), {})
        found = torch.func.functional_call(net, here, args, kwargs)
        found = found if case.output is None else case.output(found)
        return found if found.dim() == 2 else found[:, None]

    f = outputs(flat)
    of = point_loss(loss, f.shape[1], y)
    slopes, second = of.slopes(f, y), of.second(f, y)
    functional = torch.autograd.functional
    J = functional.jacobian(outputs, flat)
    parts = {
        "total": functional.hessian(lambda w: of.total(outputs(w), y), flat),
        "gauss_newton": torch.einsum("iap,iab,ibq->pq", J, second, J),
        "network": functional.hessian(lambda w: (slopes * outputs(w)).sum(), flat),
    }
    return {part: matrix / len(y) for part, matrix in parts.items()}
