"""What all networks of this room share: declared shapes, checked inputs, seeded parameters."""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Sequence
from typing import Self

import torch
from torch import Tensor, nn

from regimes._check import positive_int, shown
from regimes._device import known_device
from regimes._random import generator
from regimes.nets._initialisers import Initialiser, initialise

Shape = int | Sequence[int]


class Network(nn.Module):
    """A function from (n, *in_shape) to (n, out_dim), an interface that the networks fill.

    A network builds its layers on the meta device, where torch's own initialisation costs nothing
    and draws nothing, then calls `_start`: every parameter comes from one generator of its seed.

    Attributes:
        in_shape: shape of one input.
        out_dim: number of outputs c; outputs are (n, c) also for c = 1.
        seed: what its parameters were drawn from.
    """

    seed: int

    def __init__(self, in_shape: tuple[int, ...], out_dim: int) -> None:
        super().__init__()
        self.in_shape = in_shape
        self.out_dim = positive_int("out_dim", out_dim)

    @property
    def n_params(self) -> int:
        """Number of parameters, weights and biases together."""
        return sum(p.numel() for p in self.parameters())

    def _start(
        self,
        schemes: Sequence[tuple[nn.Module, str | Initialiser]],
        *,
        seed: int,
        dtype: torch.dtype,
        device: torch.device | str,
    ) -> None:
        """Give the parameters memory, then fill part after part from one generator."""
        if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
            raise ValueError(f"dtype must be a floating-point torch dtype, got {dtype!r}")
        place = known_device(device)
        self.to(dtype=dtype)
        self.to_empty(device=place)
        names = {module: name for name, module in self.named_modules()}
        self._schemes = [(names[part], scheme) for part, scheme in schemes]
        self._draw(seed)

    def _draw(self, seed: int) -> None:
        draws = generator(seed, "nets")
        for name, scheme in self._schemes:
            initialise(self.get_submodule(name), scheme, draws)
        self.seed = seed

    def reseeded(self, seed: int) -> Self:
        """A network of the same kind with the parameters of another seed.

        >>> from regimes import nets
        >>> net = nets.FullyConnected(3, 8, seed=0).reseeded(5)
        >>> bool((net.layers[0].weight == nets.FullyConnected(3, 8, seed=5).layers[0].weight).all())
        True
        """
        other = copy.deepcopy(self)
        with torch.no_grad():
            other._draw(seed)
        return other

    def _check_tensor(self, x: object) -> None:
        if not isinstance(x, Tensor):
            raise ValueError(
                f"this network takes a tensor, got {shown(x)}; make one of it by torch.as_tensor"
            )

    def _check_dtype(self, x: Tensor, dtype: torch.dtype) -> None:
        if x.dtype != dtype:
            raise ValueError(
                f"inputs are {x.dtype} but the network's parameters are {dtype}; convert the "
                f"inputs with x.to({dtype}) or make the network with dtype={x.dtype}"
            )


class ImageNetwork(Network):
    """A network on images of a fixed shape (channels, height, width)."""

    def __init__(self, in_shape: Shape, out_dim: int) -> None:
        super().__init__(image_shape(in_shape), out_dim)

    def _images(self, x: Tensor) -> Tensor:
        """`x` as (n, channels, height, width); flat images and one-channel (n, H, W) are folded."""
        self._check_tensor(x)
        self._check_dtype(x, next(self.parameters()).dtype)
        shape, given = self.in_shape, tuple(x.shape[1:])
        if given == shape:
            return x
        if given == (math.prod(shape),) or (shape[0] == 1 and given == shape[1:]):
            return x.reshape(-1, *shape)
        wanted = ", ".join(map(str, shape))
        raise ValueError(
            f"this network takes inputs of shape (n, {wanted}) or (n, {math.prod(shape)}), "
            f"got {tuple(x.shape)}"
        )


def image_shape(in_shape: Shape) -> tuple[int, int, int]:
    """(channels, height, width) from that or from (height, width), all positive."""
    sizes = shape_of(in_shape)
    if len(sizes) == 2:
        sizes = (1, *sizes)
    if len(sizes) != 3:
        raise ValueError(
            f"in_shape of an image network is (channels, height, width) or (height, width), "
            f"got {in_shape!r}"
        )
    return sizes[0], sizes[1], sizes[2]


def shape_of(in_shape: Shape) -> tuple[int, ...]:
    """A shape, given as a number of features or as a sequence of sizes, as a tuple of ints."""
    try:
        return (positive_int("in_shape", operator.index(in_shape)),)  # type: ignore[arg-type]
    except TypeError:
        pass
    if not isinstance(in_shape, Sequence) or isinstance(in_shape, str) or not in_shape:
        raise ValueError(f"in_shape must be an integer or a sequence of them, got {in_shape!r}")
    return tuple(positive_int("every size in in_shape", size) for size in in_shape)
