"""Who takes part: networks, data sets, scales and training-set sizes, one of each per member."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, final

import torch
from torch import Tensor, nn

from regimes._adapter import Pick, check_pick
from regimes._check import instance, positive_int, real, shown
from regimes.data import Dataset
from regimes.nets import Ensemble, stack
from regimes.nets._network import Network

NetworkLike = nn.Module | Ensemble | Callable[[int], nn.Module]


@final
@dataclass(frozen=True, eq=False)
class MemberPoints:
    """Inputs and labels of all members: shared, or with a leading axis of members.

    Attributes:
        x: (n, ...) or (R, n, ...).
        y: (1, n) or (R, n).
        own: whether every member has its own.
    """

    x: Tensor
    y: Tensor
    own: bool

    def select(self, members: Tensor) -> MemberPoints:
        """The points of some members."""
        return MemberPoints(self.x[members], self.y[members], True) if self.own else self


@final
@dataclass(frozen=True, eq=False)
class Members:
    """R members, ready to be trained.

    Attributes:
        ensemble: their networks at the start.
        train: their training points, padded to the largest set.
        test: their test points.
        mask: which training points are a member's own, (R, n), or None for all.
        counts: number of training points of each, (R,).
        alpha: scale of each, (R,), float64.
        rates: learning rate of each, for discrete steps.
        axes: of a grid, the lists that were combined, the last running fastest; else empty.
    """

    ensemble: Ensemble
    train: MemberPoints
    test: MemberPoints
    mask: Tensor | None
    counts: Tensor
    alpha: Tensor
    rates: list[float]
    axes: Mapping[str, tuple[Any, ...]]


def gather(
    network: NetworkLike,
    data: Dataset | Sequence[Dataset],
    *,
    alpha: float | Sequence[float] | Tensor,
    ensemble: int | Sequence[int] | None,
    n_train: int | Sequence[int] | None,
    rate: float | Sequence[float] = 1.0,
    grid: bool = False,
    output: Pick | None = None,
) -> Members:
    """Bring everything to one number of members R; what is given once is shared by all.

    With `grid` there is a member for every combination of the lists, in this order from the
    outermost to the innermost: rate, alpha, data, n_train, networks.
    """
    if isinstance(network, type) or not (isinstance(network, Ensemble) or callable(network)):
        raise ValueError(
            "network must be a module, an Ensemble or a function from a seed to a network, got "
            + (f"the class {network.__name__}" if isinstance(network, type) else shown(network))
        )
    instance("grid", grid, bool, "True or False")
    sets = _sets(data)
    lists: dict[str, list[Any]] = {
        "rate": _positive("rate", rate),
        "alpha": _positive("alpha", alpha),
        "data": list(range(len(sets))),
        "n_train": [None] if n_train is None else _numbers("n_train", n_train),
    }
    seeds = _seeds(network, ensemble)
    if seeds is not None:
        lists["ensemble"] = seeds
    elif isinstance(network, Ensemble):
        lists["network"] = list(range(network.size))
    axes: dict[str, tuple[Any, ...]] = {}
    if grid:
        listed_ones = {"rate": rate, "alpha": alpha, "data": data, "n_train": n_train}
        shared = {name for name, value in listed_ones.items() if not _several(value)}
        axes = {name: tuple(values) for name, values in lists.items() if name not in shared}
    size, places = _places(lists, axes) if grid else _side_by_side(lists)
    own = {name: [lists[name][i] for i in where] for name, where in places.items()}
    networks = _networks(network, own.get("ensemble"), own.get("network"), size)
    if check_pick(output) is not None:
        networks = replace(networks, output=output)
    device = next(iter(networks.parameters.values())).device
    if sets[0].x_train.device != device:
        raise ValueError(
            f"the network is on {device} and the data on {sets[0].x_train.device}; "
            "move one of them with .to(device)"
        )
    if len(sets) > 1:
        sets = [sets[i] for i in own["data"]]
    train, lengths = _training_points(sets, size)
    if n_train is not None:
        lengths = _prefixes(own["n_train"], lengths)
    most = max(lengths)
    if most < train.y.shape[1]:
        x = train.x[:, :most] if train.own else train.x[:most]
        train = MemberPoints(x.contiguous(), train.y[:, :most].contiguous(), train.own)
    own_sizes = torch.tensor(lengths, device=device)
    mask = None
    if min(lengths) < most:
        mask = torch.arange(most, device=device) < own_sizes[:, None]
    return Members(
        ensemble=networks,
        train=train,
        test=_test_points(sets, size),
        mask=mask,
        counts=own_sizes,
        alpha=torch.tensor(own["alpha"], dtype=torch.float64),
        rates=own["rate"],
        axes=axes,
    )


def _several(values: object) -> bool:
    """Whether these are values for several members, if only for one of them."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    return isinstance(values, Sequence) and not isinstance(values, str)


def listed(values: Any) -> list[Any]:
    """One value or several, in a list, a range, a tensor or an array, as a list."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    several = isinstance(values, Sequence) and not isinstance(values, str)
    return list(values) if several else [values]


def _sets(data: Dataset | Sequence[Dataset]) -> list[Dataset]:
    expected = "a Dataset or a list of them, one per member"
    if isinstance(data, Dataset):
        return [data]
    instance("data", data, (list, tuple), expected)
    if not data:
        raise ValueError(f"data must be {expected}, got an empty one")
    for each in data:
        instance("data", each, Dataset, expected)
    return list(data)


def _positive(name: str, values: float | Sequence[float] | Tensor) -> list[float]:
    found = [real(name, value, above=0.0) for value in listed(values)]
    if not found:
        raise ValueError(f"{name} must be a positive number or a list of them, got an empty list")
    return found


def _numbers(name: str, values: int | Sequence[int], least: int = 1) -> list[int]:
    found = [positive_int(name, value, least) for value in listed(values)]
    if not found:
        raise ValueError(f"{name} must be an integer or a list of them, got an empty list")
    return found


def _seeds(network: NetworkLike, ensemble: int | Sequence[int] | None) -> list[int] | None:
    if ensemble is None:
        return None if isinstance(network, nn.Module | Ensemble) else [0]
    if isinstance(network, Ensemble):
        raise ValueError("an Ensemble has its members already; leave out ensemble=")
    if not isinstance(ensemble, int):
        return _numbers("ensemble", ensemble, least=0)
    first = network.seed if isinstance(network, Network) else 0
    return [first + i for i in range(positive_int("ensemble", ensemble))]


def _side_by_side(lists: Mapping[str, list[Any]]) -> tuple[int, dict[str, list[int]]]:
    """The number of members and, for each list, which entry is whose: entry i is member i's."""
    several = {name: len(values) for name, values in lists.items() if len(values) != 1}
    if len(set(several.values())) > 1:
        raise ValueError(
            "everything that is given for each member must have one entry per member, got "
            + ", ".join(f"{count} of {name}" for name, count in several.items())
            + "; for every combination of them give grid=True"
        )
    size = max(len(values) for values in lists.values())
    return size, {name: list(range(size)) if name in several else [0] * size for name in lists}


def _places(
    lists: Mapping[str, list[Any]], axes: Mapping[str, tuple[Any, ...]]
) -> tuple[int, dict[str, list[int]]]:
    """The same for every combination, the last axis running fastest."""
    combinations = list(product(*(range(len(values)) for values in axes.values())))
    columns = dict(zip(axes, zip(*combinations, strict=True), strict=True))
    size = len(combinations)
    return size, {name: list(columns.get(name, (0,) * size)) for name in lists}


def _networks(
    network: NetworkLike, seeds: list[int] | None, chosen: list[int] | None, size: int
) -> Ensemble:
    """The network of every member: of its seed, or chosen from those that are given."""
    if isinstance(network, Ensemble):
        every = chosen == list(range(network.size))
        return network if every or chosen is None else network.select(chosen)
    if seeds is None:
        assert isinstance(network, nn.Module)
        return stack([network]).select([0] * size)
    made = {seed: _make(network, seed) for seed in seeds}
    place = {seed: i for i, seed in enumerate(made)}
    return stack(list(made.values())).select([place[seed] for seed in seeds])


def _make(network: NetworkLike, seed: int) -> nn.Module:
    if not isinstance(network, nn.Module | Ensemble):
        return network(seed)
    if not isinstance(network, Network):
        raise ValueError(
            f"ensemble= needs to make networks of several seeds, and {type(network).__name__} does "
            "not say how: give a function from a seed to a network, or nets.stack([...])"
        )
    if seed == network.seed and not _untouched(network):
        raise ValueError(
            "the network has other parameters than its seed gives, so an ensemble of its kind "
            "would leave them out; give nets.stack([...]) of the networks you mean"
        )
    return network.reseeded(seed)


def _untouched(network: Network) -> bool:
    fresh = dict(network.reseeded(network.seed).named_parameters())
    return all(torch.equal(fresh[name], p) for name, p in network.named_parameters())


def _training_points(sets: list[Dataset], size: int) -> tuple[MemberPoints, list[int]]:
    """Training points, padded with copies of the first to the largest set."""
    if len(sets) == 1:
        x, y = sets[0].x_train, sets[0].y_train
        return MemberPoints(x, y[None], own=False), [len(x)] * size
    most = max(each.n_train for each in sets)

    def padded(values: Tensor) -> Tensor:
        missing = most - len(values)
        filler = values[:1].expand(missing, *values.shape[1:])
        return torch.cat([values, filler]) if missing else values

    x = torch.stack([padded(each.x_train) for each in sets])
    y = torch.stack([padded(each.y_train) for each in sets])
    return MemberPoints(x, y, own=True), [each.n_train for each in sets]


def _test_points(sets: list[Dataset], size: int) -> MemberPoints:
    if len(sets) == 1:
        return MemberPoints(sets[0].x_test, sets[0].y_test[None], own=False)
    lengths = {each.n_test for each in sets}
    if len(lengths) > 1:
        raise ValueError(
            f"all members need test sets of one size, got sizes {sorted(lengths)}; "
            "cut them with data.subset(...)"
        )
    return MemberPoints(
        torch.stack([each.x_test for each in sets]),
        torch.stack([each.y_test for each in sets]),
        own=True,
    )


def _prefixes(wanted: list[int], available: list[int]) -> list[int]:
    for count, most in zip(wanted, available, strict=True):
        if count > most:
            raise ValueError(f"n_train={count} asks for more points than the {most} there are")
    return wanted
