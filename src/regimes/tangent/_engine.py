"""The engine behind a tangent kernel: structure once, then blocks of factors and their Grams."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from regimes._adapter import Pick, as_batch, as_tensor, check_pick
from regimes._check import choose
from regimes._copied import inside
from regimes._memory import give_back, parse_bytes, readable
from regimes.tangent import _products
from regimes.tangent._arithmetic import arithmetic
from regimes.tangent._costs import GramSize, Work, measured_rates, typical_rates
from regimes.tangent._examine import examine
from regimes.tangent._guard import Guard
from regimes.tangent._plan import (
    LayerPlan,
    Plan,
    plan_features,
    plan_layers,
    plan_memory,
    precision_dtypes,
)
from regimes.tangent._writing import write_columns, write_tile
from regimes.tangent.contraction import (
    Strategy,
    diagonal,
    fused,
    is_linear,
    mirror_,
)
from regimes.tangent.network import (
    LEFT_OUT,
    Batch,
    GroupOf,
    Outputs,
    Snapshot,
    _batch,
    owner,
    parse_outputs,
    whole,
)
from regimes.tangent.passes import Factors, Recipe, collect, refuse_not_finite
from regimes.tangent.structure import Structure


class EngineChoice(StrEnum):
    """The ways to a Gram that a user can ask for."""

    AUTO = "auto"
    PAIRS = "pairs"
    PIXELS = "pixels"
    EXPAND = "expand"
    JACOBIAN = "jacobian"
    PRODUCTS = "products"


# the others leave the choice to the plan, layer by layer
_FORCED = {
    EngineChoice.PAIRS: Strategy.PAIRS,
    EngineChoice.PIXELS: Strategy.PIXELS,
    EngineChoice.EXPAND: Strategy.EXPAND,
}


# What was found out about a network stays known while it lives, because its kernel is often wanted
# again as it trains. Every pass checks that the graph is still the one that was examined.
_STRUCTURES: WeakKeyDictionary[nn.Module, dict[Any, Structure]] = WeakKeyDictionary()
_COMPARED = 6  # gradients of all parameters that comparing entries of a Gram holds at a time


class Engine:
    """One network at one precision, within one memory budget."""

    def __init__(
        self,
        network: nn.Module,
        precision: str | None,
        memory: str | int | None,
        engine: str,
        copy: bool = True,
        check: bool = False,
        output: Pick | None = None,
    ) -> None:
        self.choice = choose(engine, {choice.value: choice for choice in EngineChoice}, "engine")
        if not isinstance(network, nn.Module):
            raise ValueError(f"expected a torch.nn.Module, got {type(network).__name__}")
        own = next((p.dtype for p in network.parameters() if p.requires_grad), torch.float32)
        self.pass_dtype, self.kept_dtype = precision_dtypes(precision, own.to_real())
        numbers = [*network.parameters(), *network.buffers()]
        kinds = {t.dtype.to_real() for t in numbers if t.is_floating_point() or t.is_complex()}
        other = self.pass_dtype if precision and kinds != {self.pass_dtype} else None
        self.snapshot = Snapshot(network, other, copy=copy, output=check_pick(output))
        if precision == "tf32" and self.snapshot.device.type != "cuda":
            raise ValueError("precision='tf32' needs a CUDA device; use 'float32' here")
        if memory is not None:  # a bad one is refused here, not at first use
            parse_bytes(memory, self.snapshot.device)
        self.precision, self.memory = precision, memory
        # of another output the structure is another; the function may hold on to the network
        known = _STRUCTURES.setdefault(inside(network), {})
        self._structures = known if output is None else {}
        coarsest = max((self.pass_dtype, self.kept_dtype), key=lambda d: torch.finfo(d).eps)
        self.guard = Guard(check, torch.float16 if precision == "tf32" else coarsest)
        self._push: _products.Push | None = None

    @property
    def names(self) -> list[str]:
        """Trainable parameters in their own order."""
        return list(self.snapshot.parameters)

    @property
    def result_dtype(self) -> torch.dtype:
        """Precision of the Grams."""
        return torch.float32 if self.kept_dtype == torch.bfloat16 else self.kept_dtype

    def prepared(self, x: Batch) -> Batch:
        """The batch as tensors, checked and, where a precision was asked for, converted."""
        x = as_batch(x, self.pass_dtype, self.snapshot.device, self.budget, self._converted)
        x = self._converted(x)
        self.snapshot.check(x)
        _batch.size(x)
        _batch.check_finite(x)
        return x

    def _converted(self, x: Batch) -> Batch:
        return x if self.precision is None else _batch.convert(x, self.pass_dtype)

    def tensor(self, v: Any) -> Tensor:
        """A vector given as a tensor or an array."""
        v = as_tensor(v, self.pass_dtype, self.snapshot.device)
        if not isinstance(v, Tensor):
            raise ValueError(f"expected a tensor or an array, got {type(v).__name__}")
        return v

    def budget(self) -> int:
        """Bytes a call may allocate."""
        return parse_bytes(self.memory, self.snapshot.device)

    def structure(self, x: Batch, group_of: GroupOf = owner) -> Structure:
        """What is known of the network on inputs like x; found on first use."""
        kind = tuple((tuple(t.shape[1:]), t.dtype, t.device) for t in _batch.tensors(x))
        parameters = tuple(
            (name, group_of(name), tuple(p.shape)) for name, p in self.snapshot.parameters.items()
        )
        all_general = self.choice == EngineChoice.JACOBIAN
        key = (kind, self.snapshot.dtype, parameters, all_general)
        if key not in self._structures:
            with self._full_precision():  # what is compared there must not differ
                self._structures[key] = examine(self.snapshot, x, group_of, all_general=all_general)
        return self._structures[key]

    def arithmetic(self) -> contextlib.AbstractContextManager[None]:
        """How all passes are run whose results are kept."""
        tf32 = self.precision == "tf32"
        return arithmetic(self.snapshot.module, self.snapshot.device, tf32=tf32)

    def _full_precision(self) -> contextlib.AbstractContextManager[None]:
        """How passes are run that are compared with one another."""
        return arithmetic(self.snapshot.module, self.snapshot.device, tf32=False)

    def plan(
        self,
        structure: Structure,
        gram: GramSize,
        chosen: Outputs,
        *,
        grams: int,
        measure: bool = False,
    ) -> Plan:
        """How to compute a Gram; `grams` results are held in memory beside it."""
        itemsize = self.kept_dtype.itemsize
        rates = (measured_rates if measure else typical_rates)(
            self.snapshot.device, self.kept_dtype
        )
        forced, on = _FORCED.get(self.choice), fused(self.snapshot.device)
        layers = plan_layers(structure, gram, rates, itemsize, forced, on)
        entries = gram.rows * gram.columns * chosen.kept**2 * chosen.grams
        result = grams * entries * self.result_dtype.itemsize
        budget = self.budget()
        block, chunk, workspace, expected = plan_memory(
            layers, structure, gram, budget, result, itemsize, self.pass_dtype.itemsize
        )
        blocks = -(-gram.rows // block)
        # beyond one block, the columns' passes are repeated for every block of rows
        passes = gram.samples * (1.0 if blocks == 1 else (1.0 + blocks) / 2) * (1 + gram.outputs)
        products = sum(_products_per_sample(structure, layer) for layer in layers)
        work = Work(passes * products, passes * 3.0 * structure.saved_bytes)
        last = structure.channels_last
        return Plan(layers, gram, block, chunk, budget, expected, workspace, work, rates, last)

    def gram_size(self, x: Batch, x2: Batch | None, chosen: Outputs) -> GramSize:
        """The size of the Gram of x, or of x against x2."""
        n = _batch.size(x)
        n2 = n if x2 is None else _batch.size(x2)
        return GramSize(n, n2, chosen.rows, chosen.pairs, x2 is None)

    def grams(
        self, x: Batch, x2: Batch | None, outputs: Any, group_of: GroupOf = whole
    ) -> dict[str, Tensor]:
        """Grams by group of parameters, computed in blocks that fit the budget."""
        started = time.perf_counter()
        x, x2 = self.prepared(x), None if x2 is None else self.prepared(x2)
        structure = self.structure(x, group_of)
        chosen = parse_outputs(outputs, structure.outputs)
        if self.choice == EngineChoice.PRODUCTS:
            found = {"": self._gram_by_products(x, x2, chosen, group_of)}
        else:
            found = self._grams(structure, x, x2, chosen, group_of)
        cost = structure.seconds * (chosen.rows if chosen.fold else 1)
        held = sum(gram.numel() * gram.element_size() for gram in found.values())
        compared = held + _COMPARED * sum(self.snapshot.sizes.values()) * self.pass_dtype.itemsize
        fits = self.guard.always or compared <= self.budget()
        if fits and self.guard.due("gram", cost, time.perf_counter() - started):
            with self.arithmetic():
                self.guard.compare_gram(self.snapshot, x, x2, chosen, group_of, found)
        return found

    def _grams(
        self, structure: Structure, x: Batch, x2: Batch | None, chosen: Outputs, group_of: GroupOf
    ) -> dict[str, Tensor]:
        names = dict.fromkeys(group_of(name) for name in self.names)
        names.pop(LEFT_OUT, None)
        plan = self.plan(structure, self.gram_size(x, x2, chosen), chosen, grams=len(names))
        k = chosen.kept
        shape = (chosen.grams, k, plan.gram.rows, k, plan.gram.columns)
        results = {name: self._empty(*shape) for name in names}
        with self.arithmetic():
            self._fill(results, structure, plan, chosen, x, x2, group_of)
        for result in results.values():
            if chosen.scale != 1.0:
                result *= chosen.scale
        return {name: chosen.shaped(result) for name, result in results.items()}

    def _fill(
        self,
        results: dict[str, Tensor],
        structure: Structure,
        plan: Plan,
        chosen: Outputs,
        x: Batch,
        x2: Batch | None,
        group_of: GroupOf,
    ) -> None:
        """Compute the Grams (grams, k, n, k, n2) of all groups, block by block."""
        n, n2 = plan.gram.rows, plan.gram.columns
        recipe = self._recipe(chosen, _strategies(structure, plan), plan.chunk, group_of)
        for rows, columns, a, b in self._blocks(structure, plan, recipe, x, x2):
            same = a is b
            whole_gram = (rows, columns) == ((0, n), (0, n2))
            for group, result in results.items():
                here = result[:, :, slice(*rows), :, slice(*columns)]
                tile = result if whole_gram else self._empty(*here.shape)
                layers = [(a[key], b[key]) for key in a if group_of(key[0]) == group]
                layers.sort(key=lambda pair: not is_linear(pair[0]))
                write_tile(tile, layers, chosen, same, plan.workspace)
                flat = tile.view(chosen.grams, here.shape[1] * here.shape[2], -1)
                # of one set the diagonal holds the square of every entry of every factor
                refuse_not_finite(flat.diagonal(dim1=1, dim2=2) if same else flat, a, b)
                if same:
                    for view in flat:
                        mirror_(view)
                if tile is not result:
                    here.copy_(tile)
                if x2 is None and not same:
                    below = result[:, :, slice(*columns), :, slice(*rows)]
                    below.copy_(tile.permute(0, 3, 4, 1, 2))
            # gone before the next block is differentiated: the plan counts one of rows and one of
            # columns
            del a, b, layers, tile

    def _empty(self, *shape: int) -> Tensor:
        return torch.empty(shape, dtype=self.result_dtype, device=self.snapshot.device)

    def features(self, x: Batch) -> Tensor:
        """All gradients written out, (n, c, P)."""
        started = time.perf_counter()
        x = self.prepared(x)
        structure = self.structure(x)
        n, c = _batch.size(x), structure.outputs
        kept, passed = self.kept_dtype.itemsize, self.pass_dtype.itemsize
        step = plan_features(structure, n, self.budget(), kept, passed)
        ordered = (Strategy.ORDERED,) * len(structure.sites)
        recipe = self._recipe(parse_outputs("full", c), ordered, step, owner)
        sizes = self.snapshot.sizes
        result = torch.empty(
            c, n, sum(sizes.values()), dtype=self.kept_dtype, device=self.snapshot.device
        )
        columns = dict(zip(sizes, result.split(list(sizes.values()), 2), strict=True))
        for start, stop in _ranges(n, step):
            with self.arithmetic():
                factors = collect(self.snapshot, structure, _batch.rows(x, start, stop), recipe)
            write_columns(columns, factors, start, stop)
            refuse_not_finite(result[:, start:stop], factors)
            del factors
            if step < n:
                give_back()
        self._guard_lengths(x, structure, started, lambda i, a: result[a, i].square().sum())
        return result.transpose(0, 1)

    def diagonal(self, x: Batch) -> Tensor:
        """Squared norms of the gradients, (n, c)."""
        started = time.perf_counter()
        x = self.prepared(x)
        structure = self.structure(x)
        chosen = parse_outputs("full", structure.outputs)
        n = _batch.size(x)
        plan = self.plan(structure, self.gram_size(x, None, chosen), chosen, grams=0)
        recipe = self._recipe(chosen, _strategies(structure, plan), plan.chunk, owner)
        parts = []
        for start, stop in _ranges(n, plan.block):
            with self.arithmetic():
                factors = collect(self.snapshot, structure, _batch.rows(x, start, stop), recipe)
            each = [diagonal(factor, plan.workspace) for factor in factors.values()]
            parts.append(torch.stack(each).sum(0))
            refuse_not_finite(parts[-1], factors)
            del factors
        found = torch.cat(parts, 1).T
        self._guard_lengths(x, structure, started, lambda i, a: found[i, a])
        return found

    def _guard_lengths(
        self, x: Batch, structure: Structure, started: float, length: Callable[[int, int], Tensor]
    ) -> None:
        if self.guard.due("lengths", structure.seconds, time.perf_counter() - started):
            chosen = parse_outputs("full", structure.outputs)
            with self.arithmetic():
                self.guard.compare_lengths(self.snapshot, x, chosen, length)

    def guard_products(self, x: Batch, limits: _products.Limits, started: float) -> None:
        """After products: those of two samples are compared with the entries of their Gram."""
        structure = self.structure(x)
        # a Gram, a product and a squared length of two samples
        if not self.guard.due("products", 3 * structure.seconds, time.perf_counter() - started):
            return
        few, output = _batch.probe(x, 2), structure.outputs // 2
        chosen = parse_outputs(output, structure.outputs)
        gram = torch.stack(list(self._grams(structure, few, None, chosen, owner).values())).sum(0)
        v = torch.zeros(2, structure.outputs, 1, dtype=gram.dtype, device=gram.device)
        v[0, output], v[1, output] = 1.0, -0.5
        true = gram @ v[:, output]
        with self.arithmetic():
            image = _products.matvec(self.snapshot, few, few, v, structure.outputs, limits)
            pulled = _products.pull(self.snapshot, few, v.to(self.pass_dtype), limits)
        scale = gram.norm() * v.norm()
        self.guard.compare("a product with the kernel", image[:, output], true, scale)
        square = (v[:, output] * true).sum()
        norm = _products.squared_norms(pulled)[0]
        self.guard.compare("the length of a weighted gradient", norm, square, scale)

    def limits(self, x: Batch, columns: int) -> tuple[int, _products.Limits]:
        """Outputs of the network, and how much a matrix-free product may take at once."""
        structure = self.structure(x)
        budget = self.budget()
        parameters = sum(self.snapshot.sizes.values()) * self.pass_dtype.itemsize
        # a column needs its direction, the sum it is added to and the gradients of one pass
        fit = int(0.1 * budget / parameters)
        if fit < 1:
            raise ValueError(
                f"a memory budget of {readable(budget)} is too small for one product: at least "
                f"{readable(10 * parameters)} is needed"
            )
        at_once = max(1, min(columns, fit))
        sample = (structure.saved_bytes + 4 * structure.widest_bytes) * (1 + at_once) + 1
        samples = max(1, min(_batch.size(x), int(0.5 * budget / sample)))
        if self._push is None:
            with self._full_precision():
                self._push = _products.way_to_push(self.snapshot, x)
        return structure.outputs, _products.Limits(samples, at_once, self._push)

    def _recipe(
        self, chosen: Outputs, strategies: tuple[Strategy, ...], chunk: int, group_of: GroupOf
    ) -> Recipe:
        cotangents = chosen.cotangents.to(self.snapshot.device, self.pass_dtype)
        return Recipe(cotangents, strategies, self.kept_dtype, chunk, group_of)

    def _blocks(
        self,
        structure: Structure,
        plan: Plan,
        recipe: Recipe,
        x: Batch,
        x2: Batch | None,
    ) -> Iterator[tuple[tuple[int, int], tuple[int, int], Factors, Factors]]:
        """Pairs of blocks with their factors; for one set only those on and above the diagonal."""

        def factors(batch: Batch, span: tuple[int, int]) -> Factors:
            return collect(self.snapshot, structure, _batch.rows(batch, *span), recipe)

        for rows in _ranges(plan.gram.rows, plan.block):
            a = factors(x, rows)
            for columns in _ranges(plan.gram.columns, plan.block):
                if x2 is None and columns[0] < rows[0]:
                    continue
                same = x2 is None and columns == rows
                yield rows, columns, a, a if same else factors(x if x2 is None else x2, columns)
            del a

    def _gram_by_products(
        self, x: Batch, x2: Batch | None, chosen: Outputs, group_of: GroupOf
    ) -> Tensor:
        if group_of is not whole:
            raise ValueError("engine='products' gives the whole Gram only; use engine='auto'")
        other = x if x2 is None else x2
        n, n2 = _batch.size(x), _batch.size(other)
        c, limits = self.limits(x, n2 * chosen.cotangents.shape[1])
        with self.arithmetic():
            full = _products.gram(self.snapshot, x, other, c, limits)  # (n, c, n2, c)
        return chosen.from_full(full, n, n2)


def _strategies(structure: Structure, plan: Plan) -> tuple[Strategy, ...]:
    return tuple(layer.strategy for layer in plan.layers[: len(structure.sites)])


def _ranges(length: int, step: int) -> list[tuple[int, int]]:
    return [(start, min(start + step, length)) for start in range(0, length, step)]


def _products_per_sample(structure: Structure, layer: LayerPlan) -> float:
    """Multiply-adds of one sample through one layer."""
    site = next((s for s in structure.sites if s.parameters == layer.parameters), None)
    if site is None or site.sides is None:
        return 0.0
    return float(site.positions * math.prod(site.sides))
