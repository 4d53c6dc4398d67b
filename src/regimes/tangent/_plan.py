"""The plan of a Gram: which layer is contracted how, in blocks of how many samples, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch

from regimes._html import block, table
from regimes._memory import readable
from regimes.tangent._costs import (
    GramSize,
    Rates,
    Work,
    choose_strategy,
    expand_work,
    pairs_work,
    pixels_work,
    stored_elements,
)
from regimes.tangent.contraction import Strategy
from regimes.tangent.structure import KnownSite, Structure

_PASS_SAMPLES = 256  # fewer samples per pass leave a machine idle


@dataclass(frozen=True)
class LayerPlan:
    """One row of the plan."""

    parameters: tuple[str, ...]
    operation: str
    path: str  # "factors", "pairs", "pixels", "expand", "features" or "general"
    why: str
    strategy: Strategy  # what the passes keep
    elements: int  # numbers kept per sample
    work: Work


_HEADINGS = ("parameters", "operation", "path", "kept/sample", "time", "why")


@dataclass(frozen=True, repr=False)
class Plan:
    """How a Gram will be computed. Print it."""

    layers: tuple[LayerPlan, ...]
    gram: GramSize
    block: int  # samples whose factors are held at once
    chunk: int  # samples per pass
    budget: int  # bytes, the bound
    expected: int  # bytes, what the plan takes at most
    workspace: int  # bytes for the temporaries of a contraction
    pass_work: Work
    rates: Rates
    channels_last: bool  # in which order of memory the passes are

    @property
    def seconds(self) -> float:
        """Estimated time."""
        return self.pass_work.seconds(self.rates) + sum(
            layer.work.seconds(self.rates) for layer in self.layers
        )

    def __repr__(self) -> str:
        rows = [_HEADINGS, *self._rows()]
        widths = [min(44, max(len(row[i]) for row in rows)) for i in range(6)]
        lines = "\n".join(
            "  ".join(_shortened(cell, widths[i]).ljust(widths[i]) for i, cell in enumerate(row))
            for row in rows
        )
        return "\n".join([*self._head(), lines])

    def _repr_html_(self) -> str:
        """The same as a table."""
        return block(". ".join(self._head()), table(_HEADINGS, self._rows()))

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                ", ".join(layer.parameters),
                layer.operation,
                layer.path,
                f"{layer.elements:,}",
                f"{1e3 * layer.work.seconds(self.rates):.3g} ms",
                layer.why,
            )
            for layer in self.layers
        ]

    def _head(self) -> list[str]:
        gram = self.gram
        blocks = -(-gram.rows // self.block)
        return [
            f"Gram of {gram.rows} x {gram.columns} samples, {gram.outputs} output(s) each"
            f"{', symmetric: upper half only' if gram.same else ''}",
            f"about {self.seconds:.3g} s; passes {self.pass_work.seconds(self.rates):.3g} s"
            f"{', with channels last' if self.channels_last else ''}",
            f"memory at most {readable(self.expected)} of {readable(self.budget)}; "
            f"{blocks} block(s) of {min(self.block, gram.rows)} samples, {self.chunk} a pass",
        ]


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


@lru_cache(maxsize=64)
def plan_layers(
    structure: Structure,
    gram: GramSize,
    rates: Rates,
    itemsize: int,
    forced: Strategy | None,
    fused: bool = False,
) -> tuple[LayerPlan, ...]:
    """Choose a path for every site and for the parameters without structure.

    `fused` says whether pairs of pixels are contracted in one pass here.
    """
    layers = [
        _plan_site(structure, site, gram, rates, itemsize, forced, fused)
        for site in structure.sites
    ]
    for name, reason in structure.general.items():
        size = structure.shapes[name].numel()
        why = reason + (
            f"; one sample at a time: {structure.loop_reason}" if structure.loop_reason else ""
        )
        kept = gram.outputs * size
        work = Work(gram.pairs * gram.output_pairs * size, 4.0 * gram.samples * kept * itemsize)
        layers.append(LayerPlan((name,), "any", "general", why, Strategy.DENSE, kept, work))
    return tuple(layers)


def _plan_site(
    structure: Structure,
    site: KnownSite,
    gram: GramSize,
    rates: Rates,
    itemsize: int,
    forced: Strategy | None,
    fused: bool,
) -> LayerPlan:
    operation = site.signature[0].removeprefix("Native")
    size = sum(structure.shapes[name].numel() for name in site.parameters)
    m = gram.outputs
    whole = m * size
    dense = Work(gram.pairs * gram.output_pairs * size, 2.0 * gram.samples * m * size * itemsize)
    if site.parameters[0] in structure.tied:
        why = "shared by several operations: gradients are summed before the Gram"
        return LayerPlan(site.parameters, operation, "expand", why, Strategy.DENSE, whole, dense)
    if site.sides is None:
        why = "few parameters: gradients written out"
        return LayerPlan(site.parameters, operation, "features", why, Strategy.DENSE, whole, dense)
    if forced == Strategy.PIXELS and site.pixels is None:
        forced = Strategy.PAIRS
    strategy = forced or choose_strategy(site, gram, rates, itemsize, fused)
    factors, written = stored_elements(site, m)
    if strategy == Strategy.PAIRS:
        one = site.positions == 1
        why = (
            "one position: product of two small Grams"
            if one
            else f"{site.positions} positions are cheaper to pair than to write out"
        )
        path = "factors" if one else "pairs"
        work = pairs_work(site, gram, itemsize)
        return LayerPlan(site.parameters, operation, path, why, strategy, factors, work)
    if strategy == Strategy.PIXELS:
        why = f"{site.positions} positions share pixels: these are paired, shifted and summed"
        work = pixels_work(site, gram, itemsize)
        return LayerPlan(site.parameters, operation, "pixels", why, strategy, factors, work)
    at_once = written <= factors
    why = f"{site.positions} positions: gradients written out" + (
        " at once, smaller than the factors" if at_once else " chunk by chunk"
    )
    work = expand_work(site, gram, itemsize)
    kept = written if at_once else factors
    strategy = Strategy.DENSE if at_once else Strategy.EXPAND
    return LayerPlan(site.parameters, operation, "expand", why, strategy, kept, work)


def plan_memory(
    layers: Sequence[LayerPlan],
    structure: Structure,
    gram: GramSize,
    budget: int,
    result_bytes: int,
    itemsize: int,
    pass_itemsize: int,
) -> tuple[int, int, int, int]:
    """Samples per block, samples per pass, bytes of workspace, and bytes expected in all.

    The budget holds the result, the factors of one block of rows and one of columns, the widest
    moment of one pass, and the temporaries of a contraction.

    Raises:
        ValueError: the budget is too small for one sample; says the least that would do.
    """
    factor_bytes = max(1, sum(layer.elements for layer in layers) * itemsize)
    m = gram.outputs
    pass_bytes = bytes_of_pass(structure, m, pass_itemsize)
    widest = max((_contraction_floor(layer, structure, m, itemsize) for layer in layers), default=1)
    verify_bytes = 3 * max((s.numel() for s in structure.shapes.values()), default=0) * itemsize
    floor = 4 * widest
    free = budget - result_bytes - verify_bytes - floor
    single = 2 * factor_bytes + pass_bytes
    if free < single:
        least = result_bytes + verify_bytes + floor + single
        raise ValueError(
            f"a memory budget of {readable(budget)} is too small for one sample at a time: at "
            f"least {readable(least)} is needed ({readable(result_bytes)} of it for the result; "
            "give out=path to keep the result on disk)"
        )
    n = max(gram.rows, gram.columns)
    whole = (1 if gram.same else 2) * n * factor_bytes
    # all factors at once need a single pass over the data; otherwise blocks of rows and columns
    if whole <= 0.75 * (free - min(n, _PASS_SAMPLES) * pass_bytes):
        block, held = n, whole
    else:
        block = max(1, min(n, int(0.6 * free / (2 * factor_bytes))))
        held = 2 * block * factor_bytes
    chunk = max(1, min(n, block, int(max(0.4 * (free - held), pass_bytes) / pass_bytes)))
    left = max(0, free - held - chunk * pass_bytes)
    workspace = floor + min(left, 8 * result_bytes + 2**28)
    expected = result_bytes + verify_bytes + chunk * pass_bytes + held + workspace
    return block, chunk, int(workspace), int(expected)


def bytes_of_pass(structure: Structure, m: int, itemsize: int) -> int:
    """Bytes per sample at the widest moment of differentiating m outputs."""
    gradients = m * sum(site.gradient_elements for site in structure.sites) * itemsize
    general = m * sum(structure.shapes[name].numel() for name in structure.general) * itemsize
    # autograd keeps what the backward pass needs; gradients at the sites are all alive at its end,
    # with a few widest tensors of the moment (each m-fold) beside them
    widest = (2 * m + 2) * structure.widest_bytes
    return max(1, structure.saved_bytes + gradients + widest + 3 * general)


def plan_features(
    structure: Structure, n: int, budget: int, itemsize: int, pass_itemsize: int
) -> int:
    """Samples whose gradients are written out at a time, beside the result.

    Raises:
        ValueError: the budget is too small for the result; says the least that would do.
    """
    m = structure.outputs
    parameters = sum(shape.numel() for shape in structure.shapes.values())
    each = m * parameters * itemsize  # of the result
    # made from factors, joined by layer, then copied into the result; without structure they are
    # summed along the network's own loops and joined twice besides
    general = m * sum(structure.shapes[name].numel() for name in structure.general)
    one = 2 * each + bytes_of_pass(structure, m, pass_itemsize) + 9 * general * pass_itemsize
    if budget < n * each + one:
        raise ValueError(
            f"a memory budget of {readable(budget)} is too small for features of {n:,} samples, "
            f"{m} output(s) and {parameters:,} parameters: at least {readable(n * each + one)} is "
            "needed; matvec(x, v), operator(x), top_eigenpairs(x, r, method='lanczos') and the "
            "Gram itself never write the features out"
        )
    return min(n, (budget - n * each) // one)


def _contraction_floor(layer: LayerPlan, structure: Structure, m: int, itemsize: int) -> int:
    """Bytes that contracting one pair of samples takes at the least."""
    site = next((s for s in structure.sites if s.parameters == layer.parameters), None)
    if site is None or site.sides is None:
        return layer.elements * itemsize
    if layer.strategy == Strategy.PAIRS:
        return site.positions**2 * (1 + 2 * m**2) * max(4, itemsize)
    if layer.strategy == Strategy.PIXELS and site.pixels is not None:
        return 16 * (site.pixels[0] + 2 * m**2 * site.positions**2) * max(4, itemsize)
    return (m + site.positions) * site.sides[1] * itemsize


def precision_dtypes(precision: str | None, own: torch.dtype) -> tuple[torch.dtype, torch.dtype]:
    """(precision of the passes, precision the factors are kept in) for a precision's name."""
    names = {
        None: (own, torch.float32 if own == torch.float16 else own),  # squares overflow in float16
        "float64": (torch.float64, torch.float64),
        "float32": (torch.float32, torch.float32),
        "tf32": (torch.float32, torch.float32),
        "bfloat16": (torch.float32, torch.bfloat16),
    }
    if precision not in names:
        listing = ", ".join(repr(name) for name in names if name)
        raise ValueError(f"unknown precision {precision!r}; use one of {listing}, or None")
    return names[precision]
