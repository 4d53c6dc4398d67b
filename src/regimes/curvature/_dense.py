"""The Hessian of a loss as a matrix, and its two parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import torch
from torch import Tensor, nn

from regimes._adapter import Pick
from regimes._check import choose
from regimes._memory import parse_bytes, readable
from regimes._random import generator
from regimes.curvature import _chain_blocks as chains
from regimes.curvature import _columns as columns
from regimes.curvature._chain import Chain, find_chain
from regimes.curvature._losses import LossLike
from regimes.curvature._members import Members, members_of
from regimes.curvature._parts import Part
from regimes.curvature._symmetric import mirror_
from regimes.nets import Ensemble
from regimes.tangent.network import _batch, owner

_AT_A_TIME = 2**26  # bytes of passes beyond which a larger block of points is no faster
_WIDE = torch.float64


@final
@dataclass(frozen=True, eq=False, repr=False)
class Hessian:
    """H = H0 + Hp of the mean loss, (N, N); of R networks (R, N, N).

    Rows and columns are the parameters' entries in the order of `named_parameters()`.

    Attributes:
        gauss_newton: H0 = (1/n) sum_i J_i^T l''_i J_i.
        network: Hp = (1/n) sum_i l'_i . f''_i.
        slices: parameter -> its rows.
        loss: the mean loss, () or (R,).
    """

    gauss_newton: Tensor
    network: Tensor
    slices: Mapping[str, slice]
    loss: Tensor

    @property
    def total(self) -> Tensor:
        """H, added up at each call so that two matrices are kept and not three."""
        return self.gauss_newton + self.network

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters in the order of the rows."""
        return tuple(self.slices)

    def part(self, part: Part = "total") -> Tensor:
        """One of the three by its name."""
        parts: dict[str, Callable[[], Tensor]] = {
            "total": lambda: self.total,
            "gauss_newton": lambda: self.gauss_newton,
            "network": lambda: self.network,
        }
        return choose(part, parts, "part")()

    def spectrum(self, part: Part = "total") -> Tensor:
        """Eigenvalues of a part, decreasing, (N,) or (R, N); found in float64."""
        return torch.linalg.eigvalsh(self.part(part).double()).flip(-1)

    def by_layer(self, part: Part = "total") -> dict[str, Tensor]:
        """The block of every layer with itself, by the name of the module that owns it.

        >>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
        >>> found = hessian(net, torch.ones(4, 2), torch.ones(4), "mse")
        >>> {name: tuple(block.shape) for name, block in found.by_layer().items()}
        {'0': (9, 9), '2': (4, 4)}
        """
        matrix = self.part(part)
        layers: dict[str, list[Tensor]] = {}
        for name, span in self.slices.items():
            rows = torch.arange(span.start, span.stop, device=matrix.device)
            layers.setdefault(owner(name), []).append(rows)
        rows_of = {name: torch.cat(rows) for name, rows in layers.items()}
        return {name: matrix[..., rows[:, None], rows] for name, rows in rows_of.items()}

    def __repr__(self) -> str:
        """The sizes."""
        *count, N, _ = self.network.shape
        many = f"{count[0]} networks of " if count else ""
        return f"Hessian({many}{N} parameters, {str(self.network.dtype).removeprefix('torch.')})"


def hessian(
    network: nn.Module | Ensemble,
    x: Any,
    y: Any = None,
    loss: LossLike = "cross_entropy",
    *,
    memory: str | int = "2GiB",
    dtype: torch.dtype | None = None,
    output: Pick | None = None,
    own: bool = False,
) -> Hessian:
    """The Hessian of L(w) = (1/n) sum_i l(f(x_i; w), y_i) and its two parts [Geiger 2019, eq. 10].

    `H = H0 + Hp`, `H0 = (1/n) sum_i J_i^T l''_i J_i`, `Hp = (1/n) sum_i l'_i . f''_i`. All three
    are exact and symmetric to the last bit. Networks that are a chain of affine layers and
    functions of single entries go by closed formulas, products of backward Jacobians; there Hp is
    exactly zero within each layer where the functions are linear piece by piece. All others go by
    second backward passes, many columns at a time. For networks of up to some 10^4 parameters.

    At a kink torch's own rule decides, as everywhere in autograd: relu has slope 0 and no
    curvature there. Of the hinge l'' is 0 everywhere; of the square hinge it is 0 from its margin
    on.

    Args:
        network: any module in evaluation mode; or an `Ensemble`, of which all are found at once.
        x: n inputs: a tensor, an array, a tuple or mapping of them; or a loader of (inputs,
            labels).
        y: their labels; None with a loader.
        loss: "cross_entropy", "mse", "hinge", "qhinge" or "softhinge_<beta>", a `flow.Loss`, or a
            plain function of outputs (n, c) and labels that returns their mean, or the loss of
            every point, (n,). With one output it gets both as (n,).
        memory: budget; both parts, and half as much again, must fit.
        dtype: precision to compute in, such as torch.float64; None: the network's own.
        output: from what the network returns to the tensor that is meant, such as
            `lambda o: o.logits`.
        own: whether each network of an ensemble has inputs (R, n, ...) and labels (R, n) of its
            own.

    Raises:
        ValueError: data, loss and network that do not fit; a loss that is no mean over points or
            does not reach a parameter; a matrix beyond the memory.

    Example:
        >>> net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)).double()
        >>> with torch.no_grad():
        ...     [p.fill_(2.0) for p in net.parameters()]  # f = w2 w1 x = 4
        [...]
        >>> one = torch.ones(1, 1, dtype=torch.float64)
        >>> found = hessian(net, one, one[0], "mse")
        >>> found.gauss_newton, found.network  # grad f grad f^T, and (f - 1) [[0, 1], [1, 0]]
        (tensor([[4., 4.],
                [4., 4.]], dtype=torch.float64), tensor([[0., 3.],
                [3., 0.]], dtype=torch.float64))
        >>> found.spectrum().round(decimals=6)
        tensor([11., -3.], dtype=torch.float64)
    """
    members = members_of(network, x, y, loss, memory=memory, dtype=dtype, output=output, own=own)
    problem = members.problem
    R, N = members.count, problem.size
    matrix = R * N * N * problem.dtype.itemsize
    budget, needed = parse_bytes(memory, problem.device), 5 * matrix // 2
    if needed > budget:
        raise ValueError(
            f"the Hessian of {f'{R} networks of ' if R > 1 else ''}{N:,} parameters takes "
            f"{readable(needed)}, more than memory={memory!r}; allow it with memory=, or use "
            "regimes.curvature.Curvature, which takes products with vectors alone"
        )
    with problem.arithmetic(), torch.no_grad():
        found = _by_chain(members, budget - 2 * matrix)
        if found is None:
            found = _by_columns(members, budget - 2 * matrix)
    if not isinstance(network, Ensemble):
        found = _Found(*(each[0] for each in found))
    return Hessian(found.gauss_newton, found.network, problem.slices, found.loss)


class _Found(NamedTuple):
    """Both parts and the loss of all members."""

    gauss_newton: Tensor
    network: Tensor
    loss: Tensor


def _by_chain(members: Members, room: int) -> _Found | None:
    """By closed formulas; None where the networks are no chain."""
    chain = find_chain(members.template)
    if chain is None or not _same_outputs(chain, members):
        return None
    gauss_newton, network = _zeros(members)
    tensors, problem, R = members.tensors, members.problem, members.count
    h, p = (max(tensors[layer.weight].shape[i] for layer in chain.layers) for i in (-2, -1))
    each = 2 * problem.size + (p + 1) * (p + 1 + h) + (4 + problem.outputs) * h * h
    step = _step(R * each * problem.dtype.itemsize, room // 2)
    strip = max(1, room // 4 // problem.dtype.itemsize)
    scale, value = 1.0 / problem.points, gauss_newton.new_zeros(R)
    for x, y in members.blocks(step):
        passed = chains.through(chain, tensors, _rows(members, x))
        blocks = chains.Blocks(chain, problem.slices, passed.weights)
        F = passed.outputs
        value += members.totals(F, y)
        slopes, second = members.slopes(F, y), members.second(F, y)
        # of a hinge most points may be satisfied, and weigh nothing
        some = slopes.bool().any(-1).any(0)
        if bool(some.any()):
            chains.add_network_part(
                network, blocks, passed.points(some), slopes[:, some], scale, strip
            )
        some = second.bool().flatten(2).any(-1).any(0)
        if bool(some.any()):
            chains.add_gauss_newton(
                gauss_newton, blocks, passed.points(some), second[:, some], scale, strip
            )
    return _agreeing(members, _Found(gauss_newton, network, value * scale), room)


def _by_columns(members: Members, room: int) -> _Found:
    """By backward passes."""
    gauss_newton, network = _zeros(members)
    problem, R = members.problem, members.count
    scale, value = 1.0 / problem.points, gauss_newton.new_zeros(R)
    saved = columns.saved_bytes(members)
    for x, y in members.blocks(_step(columns.AT_ONCE * saved, room // 4)):
        with torch.no_grad():
            value += members.totals(members.graph(x)[1].detach(), y)
        columns.add_network_part(network, members, x, y, scale)
    row = R * problem.outputs * problem.size * problem.dtype.itemsize
    for x, y in members.blocks(_step(row, room // 4)):
        columns.add_gauss_newton(gauss_newton, members, x, y, scale, room)
    found = _agreeing(members, _Found(gauss_newton, network, value * scale), room)
    if found is None:
        raise ValueError(
            f"the second derivative of {type(members.template).__name__} is not symmetric or not "
            "that of its gradient: an operation in it has a backward pass that cannot be "
            "differentiated again; write it with plain operations of torch"
        )
    return found


def _zeros(members: Members) -> list[Tensor]:
    problem = members.problem
    shape = members.count, problem.size, problem.size
    return [torch.zeros(shape, dtype=problem.dtype, device=problem.device) for _ in range(2)]


def _step(each: int, room: int) -> int:
    """Points at a time that fit, and keep a processor busy without leaving its caches."""
    return max(1, min(_AT_A_TIME, room) // each)


def _agreeing(members: Members, found: _Found, room: int) -> _Found | None:
    """Both parts made symmetric; None unless they give the product that autograd gives."""
    for part in found[:2]:
        mirror_(part)
    problem = members.problem
    v = torch.randn(
        members.count, problem.size, 1, generator=generator(0, "curvature/dense"), dtype=_WIDE
    ).to(found.network)
    step = _step(8 * columns.saved_bytes(members), room // 4)
    true = columns.total_product(members, v[..., 0], step)
    product = (found.gauss_newton @ v + found.network @ v)[..., 0]
    size = sum(part.flatten(1).norm(dim=1) for part in found[:2])
    if not bool(torch.isfinite(true).all()):
        raise ValueError("the Hessian contains NaN or infinity; scale the network or the inputs")
    apart = (product - true).norm(dim=1)
    return found if bool((apart <= _tolerance(true) * size).all()) else None


def _same_outputs(chain: Chain, members: Members) -> bool:
    """Whether the chain gives the network's own outputs on the first points."""
    x, _ = next(members.blocks(8))
    if len(_batch.tensors(x)) != 1:
        return False
    true = members.graph(x)[1].detach()
    try:
        found = chains.through(chain, members.tensors, _rows(members, x)).outputs
    except RuntimeError:  # shapes that do not go together: something lies between
        return False
    if found.shape != true.shape:
        return False
    return float((found - true).abs().amax()) <= _tolerance(true) * float(true.abs().amax())


def _tolerance(t: Tensor) -> float:
    return 1e-8 if t.dtype == torch.float64 else 2e-3


def _rows(members: Members, x: Any) -> Tensor:
    """The inputs of some points as (R or 1, n, d)."""
    (tensor,) = _batch.tensors(x)
    return tensor.flatten(2) if members.own else tensor.flatten(1)[None]
