"""Fused operations written out as plain ones, which have every kind of derivative."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.utils.parametrizations import _WeightNorm
from torch.nn.utils.weight_norm import WeightNorm
from torch.overrides import TorchFunctionMode


@contextlib.contextmanager
def plain_operations(network: nn.Module) -> Iterator[None]:
    """Attention, bags of embeddings and weight norm of this network as products and sums.

    The fused kernels have no forward mode, and no second derivative or (weight norm) a wrong one.

    >>> bag = nn.EmbeddingBag(3, 2)
    >>> with plain_operations(bag):
    ...     type(bag(torch.tensor([[0, 2]])).grad_fn).__name__
    'DivBackward0'
    """
    # looking at every call of torch costs a small network a tenth of its time
    written_out = _WrittenOut() if any(map(_is_fused, network.modules())) else None
    mode = written_out or contextlib.nullcontext()
    with sdpa_kernel(SDPBackend.MATH), mode, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "There is a performance drop")
        yield


def _is_fused(module: nn.Module) -> bool:
    hooks = module._forward_pre_hooks.values()
    kinds = (nn.EmbeddingBag, _WeightNorm)
    return isinstance(module, kinds) or any(isinstance(hook, WeightNorm) for hook in hooks)


class _WrittenOut(TorchFunctionMode):
    """Calls of `embedding_bag` as lookups and sums, of `_weight_norm` as its formula."""

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = dict(kwargs or {})
        if function is F.embedding_bag:
            names = ("input", "weight", "offsets", "max_norm", "norm_type", "scale_grad_by_freq")
            given |= dict(zip((*names, "mode", "sparse"), args, strict=False))
            if _known(**given):
                return _bag(**given)
            args = ()
        if function is torch._weight_norm:
            return _normed(*args, **given)
        return function(*args, **given)


def _normed(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    """G v / |v|, the norm over all axes but `dim`, or over all for -1."""
    axes = [axis for axis in range(v.dim()) if dim == -1 or axis != dim % v.dim()]
    return v * (g / torch.linalg.vector_norm(v, dim=axes, keepdim=dim != -1))


def _known(
    *, mode: str = "mean", max_norm: float | None = None, scale_grad_by_freq: bool = False, **_: Any
) -> bool:
    return mode in ("sum", "mean") and max_norm is None and not scale_grad_by_freq


def _bag(
    *,
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    mode: str = "mean",
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
    **_: Any,
) -> Tensor:
    """The sum or mean of the rows of every bag; `input` (bags, entries), or flat with offsets."""
    rows = F.embedding(input, weight)
    counted = torch.ones_like(input, dtype=weight.dtype)
    if padding_idx is not None:
        counted = counted * (input != padding_idx % len(weight))
    factors = counted if per_sample_weights is None else counted * per_sample_weights
    rows = rows * factors.unsqueeze(-1)
    if offsets is None:
        total, counts = rows.sum(1), counted.sum(1)
    else:
        end = [] if include_last_offset else [input.new_tensor([len(input)])]
        lengths = torch.cat([offsets, *end]).diff()
        bags = torch.repeat_interleave(lengths)
        total = rows.new_zeros(len(lengths), rows.shape[1]).index_add(0, bags, rows)
        counts = counted.new_zeros(len(lengths)).index_add(0, bags, counted)
    return total if mode == "sum" else total / counts.clamp(min=1).unsqueeze(1)
