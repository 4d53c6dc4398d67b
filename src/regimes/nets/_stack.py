"""Ensembles of equal networks as one stacked set of parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.func import vmap

from regimes._adapter import Pick, check_pick, one_tensor
from regimes._copied import copied
from regimes._functional import functional_call
from regimes.nets._convolve import side_by_side


@final
@dataclass(frozen=True, eq=False)
class Ensemble:
    """R networks of one shape, evaluated together; made by `nets.stack`.

    An ensemble is a pure function: it runs in evaluation mode (batch norm uses its running
    statistics, dropout is off) and changes nothing. Networks that offer `forward_stacked`
    (`FullyConnected`) run through it, all others through `torch.func.vmap`.

    Attributes:
        template: a network of the common shape; its own parameters are not used.
        parameters: name -> (R, *shape), detached copies of those that move.
        buffers: name -> (R, *shape), what stays: statistics of batch norm, frozen parameters.
        output: from what a network returns to the tensor that is meant; None: the only one.
    """

    template: nn.Module
    parameters: Mapping[str, Tensor]
    buffers: Mapping[str, Tensor]
    output: Pick | None = None

    @property
    def size(self) -> int:
        """Number of networks R."""
        return next(iter(self.parameters.values())).shape[0]

    def __len__(self) -> int:
        return self.size

    def __call__(self, x: Tensor, *, member_inputs: bool = False) -> Tensor:
        """Outputs (R, n, c) at the stored parameters; `x` as in `forward`."""
        return self.forward(self.parameters, x, member_inputs=member_inputs)

    def forward(
        self, parameters: Mapping[str, Tensor], x: Tensor, *, member_inputs: bool = False
    ) -> Tensor:
        """Outputs at any parameters: the function to differentiate and to train.

        Args:
            parameters: the names of `self.parameters`, each with a leading axis of members: all
                R, or any other number where the networks have no buffers (else `select` first).
            x: inputs (n, ...) shared by the members, or (R, n, ...) one set per member.
            member_inputs: whether `x` has the leading axis of members.

        Returns:
            (R, n, c); (R, n, 1) of networks that return one value a sample.

        Raises:
            ValueError: names or numbers of members that do not fit together, or networks that
                return several tensors where `output` does not say which is meant.

        Example:
            >>> from regimes import nets
            >>> ensemble = stack(lambda seed: nets.FullyConnected(3, 8, seed=seed), range(5))
            >>> w = {name: p.requires_grad_() for name, p in ensemble.parameters.items()}
            >>> ensemble.forward(w, torch.ones(2, 3)).sum().backward()
            >>> w["layers.0.weight"].grad.shape
            torch.Size([5, 8, 3])
        """
        size = self._members(parameters)
        if self.buffers and size != self.size:
            raise ValueError(
                f"got parameters of {size} members but buffers of {self.size}; use "
                "select(index).forward(...) to run some of the members"
            )
        if member_inputs and (x.ndim < 1 or x.shape[0] != size):
            raise ValueError(
                f"member_inputs=True needs inputs of shape ({size}, n, ...), one set per member; "
                f"got {tuple(x.shape)}"
            )
        native = getattr(self.template, "forward_stacked", None)
        if native is not None:
            return native({**self.buffers, **parameters}, x, member_inputs=member_inputs)

        def one(p: dict[str, Tensor], b: dict[str, Tensor], inputs: Tensor) -> Tensor:
            return self.outputs(functional_call(self.template, {**p, **b}, (inputs,)))

        run = vmap(one, in_dims=(0, 0, 0 if member_inputs else None))
        with side_by_side():
            return run(dict(parameters), dict(self.buffers), x)

    def outputs(self, returned: Any) -> Tensor:
        """The outputs (n, c) that are meant, of what one of the networks returns."""
        found = one_tensor(returned, self.output)
        return found.unsqueeze(-1) if found.dim() == 1 else found

    def member(self, index: int) -> nn.Module:
        """Network `index` as a module of its own, in evaluation mode."""
        if not -self.size <= index < self.size:
            raise ValueError(f"there are {self.size} members, got index {index}")
        module, _ = copied(self.template)
        stored = {**self.buffers, **self.parameters}
        with torch.no_grad():
            for name, tensor in (*module.named_parameters(), *module.named_buffers()):
                tensor.copy_(stored[name][index])
        return module

    def select(self, index: Sequence[int] | slice | Tensor) -> Ensemble:
        """The ensemble of some members, in the order of `index` (numbers, a slice or a mask)."""
        numbers = torch.arange(self.size)
        try:
            chosen = numbers[index if isinstance(index, slice) else torch.as_tensor(index)]
        except (IndexError, TypeError, ValueError, RuntimeError) as error:
            raise ValueError(
                f"cannot select members {index!r} of an ensemble of {self.size}: {error}"
            ) from None
        if chosen.ndim != 1 or not len(chosen):
            raise ValueError(f"select needs a non-empty list of members, got {index!r}")

        def pick(stacked: Mapping[str, Tensor]) -> dict[str, Tensor]:
            return {name: t[chosen.to(t.device)] for name, t in stacked.items()}

        return replace(self, parameters=pick(self.parameters), buffers=pick(self.buffers))

    def moved_to(self, parameters: Mapping[str, Tensor]) -> Ensemble:
        """The same networks at other parameters, such as those of a `Run`."""
        self._members(parameters)
        return replace(self, parameters=dict(parameters))

    def _members(self, parameters: Mapping[str, Tensor]) -> int:
        if parameters.keys() != self.parameters.keys():
            raise ValueError(
                f"parameters must have the names {sorted(self.parameters)}, "
                f"got {sorted(parameters)}"
            )
        sizes = {name: p.shape[0] if p.ndim else 0 for name, p in parameters.items()}
        if len(set(sizes.values())) != 1:
            raise ValueError(f"all parameters need the same number of members, got {sizes}")
        for name, p in parameters.items():
            if p.shape[1:] != self.parameters[name].shape[1:]:
                raise ValueError(
                    f"parameter {name} must have shape (R, "
                    f"{', '.join(map(str, self.parameters[name].shape[1:]))}), got {tuple(p.shape)}"
                )
        return next(iter(sizes.values()))

    def __repr__(self) -> str:
        """Size and the common network."""
        return f"Ensemble({self.size} x {self.template!r})"


def stack(
    make: Callable[[int], nn.Module] | Sequence[nn.Module],
    seeds: Sequence[int] | None = None,
    *,
    output: Pick | None = None,
) -> Ensemble:
    """Equal networks with different parameters as one `Ensemble`.

    Parameters with `requires_grad=False` stay what they are in every flow, as buffers do.

    Args:
        make: a function from a seed to a network, or the networks themselves.
        seeds: one seed per network, with a function; None with networks.
        output: from what a network returns to the tensor that is meant, such as
            `lambda o: o.logits`; None where it is or holds only one (of floats, with axes).

    Returns:
        The ensemble, with copies of the parameters.

    Raises:
        ValueError: no networks, networks of different kinds, without parameters or with all of
            them frozen, or seeds missing or in excess.

    Example:
        >>> from regimes import nets
        >>> stack(lambda seed: nets.FullyConnected(10, 100, seed=seed), seeds=range(32))
        Ensemble(32 x FullyConnected(10 -> 100 -> 1, ntk, 1.41421 * relu))
    """
    if isinstance(make, nn.Module):
        raise ValueError(
            "stack takes a function from a seed to a network or a list of networks, not one network"
        )
    if callable(make):
        if seeds is None:
            raise ValueError("stack(make, seeds) needs the seeds, one per network")
        networks = [make(seed) for seed in seeds]
    else:
        if seeds is not None:
            raise ValueError("seeds go with a function that makes networks, not with networks")
        networks = list(make)
    if not networks:
        raise ValueError("stack needs at least one network")
    for i, network in enumerate(networks):
        _check_alike(networks[0], network, i)
    parameters = _stacked([_parameters(network, moving=True) for network in networks])
    frozen = _stacked([_parameters(network, moving=False) for network in networks])
    if not parameters:
        raise ValueError(
            "stack needs networks with parameters that may move"
            + (f"; all {len(frozen)} are frozen, call requires_grad_() on some" if frozen else "")
        )
    buffers = frozen | _stacked([dict(network.named_buffers()) for network in networks])
    return Ensemble(copied(networks[0])[0].eval(), parameters, buffers, check_pick(output))


def _parameters(network: nn.Module, *, moving: bool) -> dict[str, Tensor]:
    return {name: p for name, p in network.named_parameters() if p.requires_grad is moving}


def _check_alike(first: nn.Module, other: nn.Module, index: int) -> None:
    """Same kind, same settings (a module prints them), same parameters: the same function."""
    if not isinstance(other, nn.Module):
        raise ValueError(f"network {index} is not an nn.Module but {type(other).__name__}")
    if type(first) is not type(other) or repr(first) != repr(other):
        raise ValueError(
            f"stacked networks must be of one kind, but network 0 is {first!r} and network "
            f"{index} is {other!r}"
        )

    def description(network: nn.Module) -> dict[str, object]:
        tensors = [*network.named_parameters(), *network.named_buffers()]
        return {n: (tuple(t.shape), t.dtype, t.device, t.requires_grad) for n, t in tensors}

    if description(first) != description(other):
        raise ValueError(
            f"networks 0 and {index} differ in the names, shapes, dtypes or devices of "
            f"their parameters, or in which are frozen: {description(first)} against "
            f"{description(other)}"
        )


def _stacked(each: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    return {name: torch.stack([t[name].detach() for t in each]) for name in each[0]}
