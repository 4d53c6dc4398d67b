"""One list of networks for all tests of the tangent kernel, and the slow reference for them."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from regimes import nets
from regimes._random import generator
from tests.tangent import zoo_strange as strange
from tests.tangent import zoo_usual as usual


@dataclass(frozen=True)
class Case:
    """A network, inputs for it, and which parameters the structured engine must leave alone."""

    make: Any
    shape: Any  # shape of one input; "tokens" for indices; a dict or tuple of those
    general: tuple[str, ...] = ()
    samples: int = 5
    rounding: float = 0.0  # relative error that its own arithmetic makes, in any precision


CASES = {
    "linear": Case(lambda: nn.Linear(6, 1), (6,)),
    "mlp one output": Case(lambda: usual.mlp(6, 7, 5, 1), (6,)),
    "mlp without biases": Case(lambda: usual.mlp(6, 7, 3, bias=False), (6,)),
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
    "residual convolutions": Case(usual.Residual, (2, 6, 6)),
    "circular convolution": Case(usual.circular, (2, 5)),
    "convolution in three dimensions": Case(usual.volume, (1, 3, 3, 3), ("2.weight", "2.bias")),
    "convolution over frames": Case(usual.frames, (4, 1, 5, 5)),
    "attention": Case(lambda: usual.Attention(2, True), "tokens"),
    "attention, positions first": Case(lambda: usual.Attention(1, False), "tokens"),
    "attention written out": Case(usual.WrittenOutAttention, (3, 4)),
    "sequences": Case(usual.Sequence, (3, 4), ("net.4.weight",)),
    "tied embedding and layer": Case(usual.Tied, "tokens"),
    "tied convolution": Case(usual.TiedConvolution, (2, 4, 4)),
    "bare parameters": Case(usual.BareParameters, (4,), ("shift",)),
    "two inputs": Case(usual.TwoInputs, ((3,), (2,))),
    "inputs by name": Case(usual.ByName, {"pair": {"a": (3,), "b": (2,)}, "extra": (2,)}),
    "partly frozen": Case(usual.PartlyFrozen, (4,)),
    "unknown custom layer": Case(usual.Quadratic, (4,), ("form",)),
    "nothing known": Case(
        usual.Unknown,
        (3, 4),
        (
            "mix", "square",
            "normed.parametrizations.weight.original0",
            "normed.parametrizations.weight.original1",
        ),
    ),
    "code that looks at values": Case(usual.ValueDependent, (4,), ("form",)),
    "module under two names": Case(strange.under_two_names, (4,)),
    "torchscript": Case(
        strange.scripted, (4,), ("0.weight", "0.bias", "2.weight", "2.bias")
    ),
    "compiled": Case(strange.compiled, (4,)),
    "data parallel": Case(strange.data_parallel, (4,)),
    "parameter without axes": Case(strange.Temperature, (4,), ("classes", "log_scale")),
    "complex buffer": Case(strange.Rotary, (3, 4)),
    "complex parameters": Case(strange.Fourier, (6,), ("modes",)),
    "embedding bag": Case(lambda: strange.Bags(False), "tokens"),
    "sparse embeddings": Case(lambda: strange.Bags(True), "tokens"),
    "pruned": Case(strange.pruned, (4,), ("0.weight_orig", "2.weight_orig")),
    "old weight norm": Case(
        strange.old_weight_norm, (4,), ("0.weight_g", "0.weight_v", "2.weight_g", "2.weight_v")
    ),
    "torch.func inside": Case(strange.Residuals, (2,)),
    "selective scan": Case(strange.SelectiveScan, "tokens", ("a_log", "skip"), rounding=1e-7),
    "packed sequences": Case(
        strange.Packed,
        ((5, 3), "tokens"),
        tuple(f"recurrent.{kind}_l0" for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")),
    ),
    "function of its own": Case(strange.OwnFunction, (4,)),
    "buffers written in forward": Case(strange.Remembers, (4,)),
    "fused attention": Case(strange.FusedAttention, (3, 4)),
    "low rank": Case(strange.LowRank, (4,)),
    "experts": Case(
        strange.Experts,
        (4,),
        ("experts.0.weight", "experts.0.bias", "experts.1.weight", "experts.1.bias"),
    ),
    "equilibrium": Case(strange.Equilibrium, (4,)),
    "graph": Case(strange.Graph, ((4, 3), (4, 4))),
    "unet": Case(strange.UNet, (1, 4, 4), ("up.weight", "up.bias")),
}  # fmt: skip


def build(name, dtype=torch.float64):
    """The network and inputs of a case, all numbers drawn from explicit generators."""
    case = CASES[name]
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


def tolerance(name, dtype):
    """Relative error of a Gram that rounding explains."""
    return CASES[name].rounding + (1e-10 if dtype == torch.float64 else 1e-5)
