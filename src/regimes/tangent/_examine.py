"""Examining a network before any Gram: its structure is read, and checked on three samples.

The network is run on 2 and on 3 samples. That shows whether samples interact, where the batch axis
is at every site, and what a sample costs in memory. Then the gradient of one sample's output is
assembled from the factors of every site and compared with autograd, parameter by parameter; what
does not agree goes to the general engine. So a wrong guess costs time, never correctness.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from regimes._random import generator
from regimes.tangent.contraction import MOST_SPOTS, Dense, Outer, Strategy, written_out
from regimes.tangent.contraction.layers import factor_of, overlap_of, pairing_of, sides_of
from regimes.tangent.network import Batch, GroupOf, Snapshot, _batch
from regimes.tangent.passes import (
    agree,
    can_batch,
    find_route,
    gradients_and_parameters,
    gradients_at,
)
from regimes.tangent.structure import (
    KnownSite,
    Layout,
    Parents,
    Site,
    Structure,
    find_layout,
    group_sites,
    kept_tensors,
    read_graph,
)

_WIDE = 16  # channels that a CPU convolves at once; with fewer, no order was faster
_SAMPLED = 2**16  # entries of a large weight that are compared with autograd


def examine(
    snapshot: Snapshot,
    batch: Batch,
    group_of: GroupOf,
    *,
    all_general: bool = False,
) -> Structure:
    """Probe the network on the first samples of `batch`.

    Args:
        snapshot: the network.
        batch: samples of the kind it will be used on.
        group_of: parameter -> group; parameters of different groups get sites of their own.
        all_general: ignore all structure (the plain Jacobian).
    """
    started = time.perf_counter()
    small, large = _batch.probe(batch, 2), _batch.probe(batch, 3)
    shapes = snapshot.shapes
    with torch.enable_grad():
        first, second, saved = _probed(snapshot, small, large)
        if not second.requires_grad:
            raise ValueError(
                "the network's output depends on no parameter (it is detached, or computed under "
                "no_grad or inference_mode), so its tangent kernel is zero"
            )
        _refuse_interaction(first, second)
        _refuse_lost_history(snapshot, second)
        known = _Known([], dict.fromkeys(shapes, "asked for"), frozenset(), False)
        faster = None
        if not all_general:
            faster = _in_channels_last(snapshot, small, large, second, group_of)
            known, saved = faster or (_known_sites(snapshot, first, second, group_of), saved)
    parameter_ids = {p.data_ptr() for p in snapshot.module.parameters()}
    sizes = [bytes_ for pointer, bytes_ in saved.items() if pointer not in parameter_ids]
    loop_reason = ""
    if known.general:
        eye = torch.eye(second.shape[1], dtype=second.dtype, device=second.device)[:1]
        loop_reason = can_batch(snapshot, list(known.general), small, eye)
    return Structure(
        outputs=second.shape[1],
        sites=tuple(known.sites),
        tied=known.tied,
        general=known.general,
        loop_reason=loop_reason,
        shapes=shapes,
        saved_bytes=-(-sum(sizes) // 3),
        widest_bytes=-(-max(sizes, default=0) // 3),
        by_hand=known.by_hand,
        channels_last=faster is not None,
        seconds=time.perf_counter() - started,
    )


@dataclass(frozen=True)
class _Known:
    """What the graph of a probe shows."""

    sites: list[KnownSite]
    general: dict[str, str]
    tied: frozenset[str]
    by_hand: bool


def _probed(
    snapshot: Snapshot, small: Batch, large: Batch
) -> tuple[Tensor, Tensor, dict[int, int]]:
    """Outputs of both probes, and the bytes of every memory that autograd kept for the second."""
    saved: dict[int, int] = {}
    first = snapshot(small)
    try:
        with torch.autograd.graph.saved_tensors_hooks(_counting(saved), lambda t: t):
            second = snapshot(large)
    except ValueError:  # transforms of `torch.func` inside the network refuse hooks
        second = snapshot(large)
        saved.clear()
        kept = list(kept_tensors(second))  # all held, so that no two have one address
        saved.update((_address(tensor), tensor.nbytes) for tensor in kept)
    return first, second, saved


def _in_channels_last(
    snapshot: Snapshot, small: Batch, large: Batch, output: Tensor, group_of: GroupOf
) -> tuple[_Known, dict[int, int]] | None:
    """What is found with channels last, where a CPU convolves faster so.

    None for a network that does not allow it, and where the backward pass is not by our own rules:
    batched autograd has operations that refuse this order.
    """
    cpu = output.device.type == "cpu" and output.dtype == torch.float32
    if not (cpu and _convolves_wide(output)):
        return None
    try:
        first, second, saved = _probed(snapshot, *map(_batch.channels_last, (small, large)))
        if not agree(second.detach(), output.detach()):
            return None
        known = _known_sites(snapshot, first, second, group_of)
    except (RuntimeError, ValueError):  # for example from a `view` that needs channels first
        return None
    return (known, saved) if known.by_hand else None


def _convolves_wide(output: Tensor) -> bool:
    """Whether there is a convolution of images from and to so many channels that order matters."""
    weights = (
        node._saved_weight
        for node in read_graph(output, {}).parents
        if node.name() == "ConvolutionBackward0"
    )
    return any(weight.dim() == 4 and min(weight.shape[:2]) >= _WIDE for weight in weights)


def _address(tensor: Tensor) -> int:
    try:
        return tensor.data_ptr()
    except RuntimeError:  # a tensor wrapped by a transform that has ended
        return id(tensor)


def _counting(saved: dict[int, int]) -> Callable[[Tensor], Tensor]:
    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        saved[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()  # an operation that kept its own output would never be freed

    return pack


def _refuse_interaction(small: Tensor, large: Tensor) -> None:
    if small.shape[1:] != large.shape[1:]:
        raise ValueError(
            f"the network's outputs change shape with the batch: {tuple(small.shape)} for 2 "
            f"samples, {tuple(large.shape)} for 3; outputs must be (samples, c)"
        )
    small, large = small.detach(), large.detach()
    gap = (small - large[:2]).abs().max()
    scale = large.abs().max()
    tolerance = 1e-9 if small.dtype == torch.float64 else 1e-3
    if gap > tolerance * scale:
        raise ValueError(
            "the samples of a batch change each other's outputs (or the network is random): "
            f"output of the same samples differs by {float(gap):.3g} between batches; no tangent "
            "kernel exists. Call network.eval(), or remove the layer that mixes samples"
        )


def _refuse_lost_history(snapshot: Snapshot, output: Tensor) -> None:
    lost = {id(tensor): tensor for tensor in snapshot.cut}
    for node in read_graph(output, {}).parents if lost else ():
        tensor = lost.get(id(getattr(node, "variable", None)))
        if tensor is not None:
            raise ValueError(
                f"the network uses a tensor {tuple(tensor.shape)} that was computed from its "
                "parameters before the pass, which a copy cannot follow; use copy=False, or "
                "compute it in forward()"
            )


def _known_sites(
    snapshot: Snapshot,
    first: Tensor,
    second: Tensor,
    group_of: GroupOf,
) -> _Known:
    small, large = (read_graph(f, snapshot.parameters) for f in (first, second))
    general = dict(large.unknown)
    for name, p in snapshot.parameters.items():
        if p.is_complex():
            general[name] = "complex numbers"
    weights = torch.randn(
        1, second.shape[1], generator=generator(0, "tangent/probe"), dtype=torch.float64
    ).to(second)
    # the output of the first sample alone, and of the last: what they touch shows the layout (two
    # samples are enough to tell the orders of a flattened axis apart), and the gradient of the
    # last is the reference
    seeds = torch.zeros(2, *second.shape, dtype=second.dtype, device=second.device)
    seeds[0, 0], seeds[1, -1] = weights[0], weights[0]
    shapes = snapshot.shapes
    reference: dict[str, Tensor | None] = {}
    while True:
        uses = tuple(use for use in large.uses if use.parameter not in general)
        tied = frozenset(
            use.parameter for use in uses if sum(u.parameter == use.parameter for u in uses) > 1
        )
        sites = group_sites(uses, tied, group_of)
        other = group_sites(
            tuple(use for use in small.uses if use.parameter not in general), tied, group_of
        )
        if [site.signature() for site in sites] != [site.signature() for site in other]:
            reason = "the graph changes with the number of samples"
            return _Known([], dict.fromkeys(shapes, reason), frozenset(), False)
        before = [torch.Size(site.node._input_metadata[0].shape) for site in other]
        nodes = [site.node for site in sites]
        now = [gradients_at(second, seeds[:1], nodes, retain=True)]
        last, true = gradients_and_parameters(second, seeds[1], nodes, snapshot.parameters)
        now.append(last)
        if not reference:
            reference = true
            seen = {*general, *(use.parameter for use in uses)}
            # what has no use in the graph may have one for other samples: without any site there
            # is no graph later on that would show it, as there is none in TorchScript
            hidden = (name for name in true if name not in seen)
            missed = [name for name in hidden if true[name] is not None or not sites]
            general.update(dict.fromkeys(missed, "the graph does not show where it is used"))
        found, failed = _check_sites(sites, before, now, shapes, reference, tied)
        if not failed:
            by_hand = _rules_agree(second, large.parents, sites, weights)
            return _Known(found, general, tied, by_hand)
        general.update(failed)


def _rules_agree(output: Tensor, parents: Parents, sites: list[Site], weights: Tensor) -> bool:
    """Whether the rules of the backward pass know the way to every site, and autograd agrees."""
    nodes = [site.node for site in sites]
    route = find_route(output, parents, nodes) if nodes else None
    if route is None:
        return False
    true = gradients_at(output, weights, nodes, retain=True)
    pairs = ((gradient, true[number]) for number, gradient in route.pull(weights))
    try:
        return all(t is not None and t.shape == g.shape and agree(g, t) for g, t in pairs)
    except (RuntimeError, IndexError):  # as above: nothing a rule could read
        return False


def _check_sites(
    sites: list[Site],
    before: list[torch.Size],
    now: list[list[Tensor | None]],
    shapes: Mapping[str, torch.Size],
    reference: Mapping[str, Tensor | None],
    tied: frozenset[str],
) -> tuple[list[KnownSite], dict[str, str]]:
    found: list[KnownSite] = []
    failed: dict[str, str] = {}
    assembled: dict[str, Tensor] = {}
    why = "its gradient does not have the assumed form"
    for site, old, *each in zip(sites, before, *now, strict=True):
        parameters = tuple(use.parameter for use in site.uses)
        present = [gradient[0] for gradient in each if gradient is not None]
        layout = None
        if len(present) == 2:
            layout = find_layout((old, present[0].shape), (2, 3), present)
        if layout is None:
            failed.update(dict.fromkeys(parameters, f"no batch axis at {site.kind}"))
            continue
        try:
            factor = factor_of(site, present[1][None], layout, 3, shapes, Strategy.PAIRS)
        except (RuntimeError, IndexError):  # what a transform of `torch.func` inside has kept
            failed.update(dict.fromkeys(parameters, f"{site.kind} inside a transform"))
            continue
        if factor is None:
            failed.update(dict.fromkeys(parameters, f"runs along the samples at {site.kind}"))
            continue
        last = factor.rows(2, 3)
        if isinstance(last, Outer) and parameters[0] not in tied:
            pairs = _sampled_entries(site, last, shapes, reference)
            failed.update({name: why for name, ok in pairs if not ok})
        else:
            dense = last if isinstance(last, Dense) else written_out(last)
            pieces = dense.features[0, 0].split([shapes[name].numel() for name in parameters])
            for name, piece in zip(parameters, pieces, strict=True):
                assembled[name] = assembled[name] + piece if name in assembled else piece
        sides, elements = sides_of(site, shapes), present[0].numel() // 3
        pairing = pairing_of(site, shapes, elements // sides[0] if sides else 1)
        found.append(
            KnownSite(
                site.signature(),
                parameters,
                layout,
                sides,
                elements,
                _input_elements(site),
                pairing,
                _pixels(site, shapes, layout),
            )
        )
    for name, value in assembled.items():
        if not agree(value, _flat(reference[name], value)):
            failed.setdefault(name, why)
    return found, failed


def _sampled_entries(
    site: Site,
    factor: Outer,
    shapes: Mapping[str, torch.Size],
    reference: Mapping[str, Tensor | None],
) -> list[tuple[str, bool]]:
    """Whether each parameter's gradient agrees, looking at some rows of a large weight only."""
    checked = []
    weight, bias = site.role("weight"), site.role("bias")
    if weight is not None:
        p, q = factor.left.shape[2], factor.right.size
        rows = torch.linspace(0, p - 1, min(p, max(1, _SAMPLED // q))).long()
        some = replace(factor, left=factor.left[:, :, rows.to(factor.left.device)])
        value = some.parameter_features(1 << 30)[0, 0]
        true = reference[weight.parameter]
        if true is not None:
            by_row = true.reshape(q, p).T if factor.right_major else true.reshape(p, q)
            by_row = by_row[rows.to(true.device)]
            true = by_row.T if factor.right_major else by_row
        checked.append((weight.parameter, agree(value, _flat(true, value))))
    if bias is not None:
        value = factor.bias_features()[0, 0]
        checked.append((bias.parameter, agree(value, _flat(reference[bias.parameter], value))))
    return checked


def _flat(gradient: Tensor | None, like: Tensor) -> Tensor:
    return torch.zeros_like(like) if gradient is None else gradient.flatten()


def _pixels(site: Site, shapes: Mapping[str, torch.Size], layout: Layout) -> tuple[int, int] | None:
    """Products of pixels for two samples and channels of a pixel, where pixels can be paired."""
    overlap = overlap_of(site, shapes) if layout.inner == 1 else None
    if overlap is None or overlap.spots > MOST_SPOTS:
        return None
    return overlap.entries, shapes[site.uses[0].parameter][1]


def _input_elements(site: Site) -> int:
    for name in ("_saved_input", "_saved_mat1", "_saved_self", "_saved_indices"):
        saved = getattr(site.node, name, None)
        if isinstance(saved, Tensor):
            return saved.numel() // 3
    return 0
