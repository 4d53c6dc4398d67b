"""Measures of capacity that compete with the complexity of the path, as functions of networks."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regimes._check import real
from regimes._copied import copied
from regimes._functional import functional_call
from regimes.measure import capacity, margins, overparametrisation

Points = tuple[Tensor, Tensor]


def capacity_measures(
    model: nn.Module, init_model: nn.Module, data: Points, gamma: float | None = None
) -> dict[str, float]:
    """Every measure of capacity that the network has, by name [Baratin 2021, fig. 6].

    Those of `measure.Capacity`; the path norms "path_1", "path_1.5", "path_2" [Neyshabur 2015];
    "overparam" of networks with one hidden layer [Neyshabur 2019]; and "fisher_rao",
    `sqrt(w^T F w)` with the empirical Fisher matrix of the cross-entropy [Liang 2019].

    Args:
        model: the trained network, made of linear and convolutional layers in the order of their
            use.
        init_model: the same before training.
        data: points and classes of the training set.
        gamma: margin; None: the 5th percentile of the training margins, which must be positive.

    Example:
        >>> from regimes import nets
        >>> sizes = {"out_dim": 2, "parametrization": "standard"}
        >>> net, start = (nets.FullyConnected(3, 4, seed=seed, **sizes) for seed in (1, 0))
        >>> data = torch.eye(3), torch.tensor([0, 1, 1])
        >>> sorted(capacity_measures(net, start, data, gamma=1.0))
        ['fisher_rao', 'fro', 'l1max', 'l3_1.5', 'n_params', 'overparam', 'path_1', 'path_1.5',
         'path_2', 'spec_fro', 'spec_l21', 'spectral', 'vc']
    """
    x, _ = data
    now, start = _weights(model), _weights(init_model)
    if gamma is None:
        gamma = margin_percentile(model, data)
    gamma = real("gamma", gamma, above=0.0)
    found = {
        name.replace("_1_5", "_1.5"): v for name, v in vars(capacity(now, start, gamma)).items()
    }
    for p in (1.0, 1.5, 2.0):
        found[f"path_{p:g}"] = path_norm_of(model, x[:1], p, gamma)
    if len(now) == 2:
        hidden = _input_of_last(init_model, x)
        found["overparam"] = overparametrisation(now, start, x.flatten(1), hidden, gamma)
    found["fisher_rao"] = fisher_rao(model, data)
    return found


def margin_percentile(model: nn.Module, data: Points, percent: float = 5.0) -> float:
    """A percentile of the margins on these points.

    >>> net = nn.Linear(2, 2, bias=False)
    >>> _ = net.weight.data.copy_(torch.eye(2))
    >>> margin_percentile(net, (2 * torch.eye(2), torch.tensor([0, 1])))
    2.0
    """
    with torch.no_grad():
        found = margins(model(data[0]), data[1])
    return float(torch.quantile(found.double(), percent / 100))


def path_norm_of(model: nn.Module, x: Tensor, p: float, gamma: float) -> float:
    """The path norm by one pass of ones through the network with weights `|w|^p`, biases 0.

    Averages and maxima between the layers are those of the network; for fully connected ones this
    is `measure.path_norm`.

    Args:
        model: the network, without batch norm.
        x: one point, for the shape of the inputs.
        p: the power.
        gamma: margin.
    """
    made = copied(model)[0].double().eval()
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            powered = parameter.abs() ** p
            parameter.copy_(torch.zeros_like(parameter) if name.endswith("bias") else powered)
        total = float(made(torch.ones_like(x[:1], dtype=torch.float64)).sum())
    return total ** (1 / real("p", p, above=0.0)) / gamma


def fisher_rao(model: nn.Module, data: Points) -> float:
    """`sqrt(w^T F w)`, F the mean of outer products of the gradients of single losses.

    [Liang 2019]: the root mean square of `w . grad loss_i`, by one product with the Jacobian.

    >>> net = nn.Linear(1, 2, bias=False)
    >>> _ = net.weight.data.copy_(torch.tensor([[1.0], [-1.0]]))
    >>> round(fisher_rao(net, (torch.zeros(3, 1), torch.tensor([0, 1, 0]))), 6)
    0.0
    """
    x, y = data
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def run(given: dict[str, Tensor]) -> Tensor:
        return functional_call(model, given, (x,))

    with torch.no_grad():
        pair = torch.func.jvp(run, (parameters,), (parameters,))
        outputs, along = pair[0], pair[1]
        slope = outputs.double().softmax(1) - F.one_hot(y.long(), outputs.shape[1])
        return float((slope * along.double()).sum(1).square().mean().sqrt())


def _weights(model: nn.Module) -> list[Tensor]:
    found: list[Tensor] = [p for p in model.parameters() if p.ndim >= 2]
    if not found:
        raise ValueError(f"{type(model).__name__} has no layer with weights")
    return found


def _input_of_last(model: nn.Module, x: Tensor) -> Tensor:
    """What enters the last layer with weights."""
    seen: list[Tensor] = []
    last = [m for m in model.modules() if getattr(m, "weight", None) is not None][-1]
    keep: Callable[..., None] = lambda module, given: seen.append(given[0].detach())  # noqa: E731
    handle = last.register_forward_pre_hook(keep)
    try:
        with torch.no_grad():
            model(x)
    finally:
        handle.remove()
    return seen[0].flatten(1)
