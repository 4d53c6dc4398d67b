"""Neural anisotropy directions: the inputs along which a network's kernel sees most."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.func import grad, vjp, vmap

from regimes._check import positive_int
from regimes._memory import parse_bytes, readable
from regimes.tangent.network import Snapshot, output_index

Direction = dict[str, Tensor]


class MixedDerivative:
    """d^2 f / (d theta d x) of one output, averaged over inputs, as a linear operator.

    [Ortiz-Jimenez 2021, eq. 4]. Maps an input direction u to the parameter vector
    grad_theta (u . grad_x f), and back.

    Args:
        network: the network.
        x: inputs (n, *shape) to average over; one row takes the derivative at a point.
        output: which output of the network.
    """

    def __init__(self, network: nn.Module, x: Tensor, *, output: int = 0) -> None:
        self._snapshot = Snapshot(network)
        if x.dim() < 2 or x.shape[0] == 0:
            raise ValueError(f"x must be (n, *shape) with n >= 1, got {tuple(x.shape)}")
        self._snapshot.check(x)
        self._x, self._output = x, output_index(output, self._snapshot(x).shape[1])
        self.input_shape = x.shape[1:]
        self.parameters = {name: p.detach() for name, p in self._snapshot.parameters.items()}

    @property
    def shape(self) -> tuple[int, int]:
        """(number of parameters, input dimension)."""
        return sum(p.numel() for p in self.parameters.values()), self.input_shape.numel()

    def _mean_output(self, parameters: Direction, shift: Tensor) -> Tensor:
        """Mean output with all inputs shifted; its shift derivative is the mean input gradient."""
        return self._snapshot.run(self._x + shift, parameters)[:, self._output].mean()

    def _input_gradient(self, parameters: Direction) -> Tensor:
        shift = torch.zeros(self.input_shape, dtype=self._x.dtype, device=self._x.device)
        return grad(self._mean_output, argnums=1)(parameters, shift)

    def to_parameters(self, u: Tensor) -> Direction:
        """M u for an input direction (*shape), or for k of them (k, *shape)."""
        _, pull = vjp(self._input_gradient, self.parameters)  # type: ignore[misc]
        single = u.dim() == len(self.input_shape)
        pulled = vmap(lambda v: pull(v)[0])(u[None] if single else u)
        return {name: p[0] if single else p for name, p in pulled.items()}

    def to_input(self, w: Direction) -> Tensor:
        """M^T w for a parameter direction, by name."""

        def along(shift: Tensor) -> Tensor:
            gradients = grad(self._mean_output, argnums=0)(self.parameters, shift)
            return sum((gradients[name] * w[name]).sum() for name in gradients)

        return grad(along)(
            torch.zeros(self.input_shape, dtype=self._x.dtype, device=self._x.device)
        )

    def dense(self) -> Tensor:
        """M itself, (P, d): for small inputs and networks."""
        basis = torch.eye(self.shape[1], dtype=self._x.dtype, device=self._x.device)
        pulled = self.to_parameters(basis.view(-1, *self.input_shape))
        return torch.cat([p.flatten(1) for p in pulled.values()], 1).T

    def input_gram(self, memory: str | int | None = None) -> Tensor:
        """M^T M, (d, d), with a bounded number of columns of M at a time."""
        count, d = self.shape
        budget = parse_bytes(memory, self._x.device)
        column = count * self._x.element_size()
        block = int(budget / (6 * column))
        if block < 1:
            raise ValueError(
                f"a memory budget of {readable(budget)} is too small for one column of "
                f"{readable(column)}; at least {readable(6 * column)} is needed"
            )
        basis = torch.eye(d, dtype=self._x.dtype, device=self._x.device)
        gram = torch.zeros(d, d, dtype=torch.float64, device=self._x.device)
        for i in range(0, d, block):
            rows = self._columns(basis[i : i + block])
            for j in range(i, d, block):
                columns = rows if i == j else self._columns(basis[j : j + block])
                part = sum((a @ b.T).double() for a, b in zip(rows, columns, strict=True))
                gram[i : i + block, j : j + block] = part
                gram[j : j + block, i : i + block] = part.T  # type: ignore[union-attr]
        return gram

    def _columns(self, basis: Tensor) -> list[Tensor]:
        pulled = self.to_parameters(basis.view(-1, *self.input_shape))
        return [p.flatten(1) for p in pulled.values()]


@dataclass(frozen=True)
class AnisotropyDirections:
    """Right singular vectors of the mixed derivative, the strongest first.

    Attributes:
        directions: (k, *input shape), unit vectors.
        singular_values: (k,), decreasing.
        alignments: (k,), their squares: alpha of the linear predictor u . x
            [Ortiz-Jimenez 2021, theorem 1].
    """

    directions: Tensor
    singular_values: Tensor
    alignments: Tensor


def anisotropy_directions(
    network: nn.Module,
    x: Tensor | None = None,
    *,
    input_shape: tuple[int, ...] | None = None,
    k: int | None = None,
    output: int = 0,
    memory: str | int | None = None,
) -> AnisotropyDirections:
    """Neural anisotropy directions [Ortiz-Jimenez 2020], [Ortiz-Jimenez 2021, theorem 1].

    Args:
        network: the network, smooth in its inputs (GELU rather than ReLU: at x = 0 a ReLU net
            without biases has no second derivative).
        x: inputs to average over; None takes the derivative at x = 0.
        input_shape: shape of one input, needed where x is None.
        k: how many directions; None: all.
        output: which output of the network.
        memory: bound on what is allocated.
    """
    if x is None:
        if input_shape is None:
            raise ValueError("give inputs x to average over, or input_shape to expand around zero")
        like = next(network.parameters())
        x = torch.zeros(1, *input_shape, dtype=like.dtype, device=like.device)
    mixed = MixedDerivative(network, x, output=output)
    d = mixed.shape[1]
    k = d if k is None else positive_int("k", k)
    if k > d:
        raise ValueError(f"k = {k} directions asked of an input space of {d} dimensions")
    values, vectors = torch.linalg.eigh(mixed.input_gram(memory))
    values, vectors = values.flip(0)[:k].clamp_min(0.0), vectors.flip(1)[:, :k]
    directions = vectors.T.to(x.dtype).view(k, *mixed.input_shape)
    return AnisotropyDirections(directions, values.sqrt(), values)
