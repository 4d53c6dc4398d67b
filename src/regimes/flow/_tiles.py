"""How many members can be differentiated together."""

from __future__ import annotations

import torch
from torch import Tensor

from regimes._memory import parse_bytes, readable
from regimes.nets import Ensemble

_PASSES = 2.5  # gradients of activations come and go beside the kept ones


def tile_of(
    ensemble: Ensemble, each: int, memory: int | str | None, device: torch.device
) -> tuple[int, str | None]:
    """Members per pass when one takes `each` bytes, and a note when they are not all."""
    budget = parse_bytes(memory, device)
    kept = sum(p.numel() * p.element_size() for p in ensemble.parameters.values()) * 6
    room = budget - kept
    if room < each:
        raise ValueError(
            f"memory={readable(budget)} is too little: the {ensemble.size} members' parameters, "
            f"gradients and proposals take {readable(kept)} and a pass of one member takes "
            f"{readable(each)}; give {readable(kept + each)} or more, or train fewer members"
        )
    tile = min(ensemble.size, max(1, room // max(each, 1)))
    if tile == ensemble.size:
        return tile, None
    return tile, (
        f"{ensemble.size} members need {readable(each * ensemble.size)} per pass; within "
        f"{readable(budget)} they are differentiated {tile} at a time"
    )


def autograd_bytes(ensemble: Ensemble, x: Tensor) -> int:
    """Bytes of a pass of one member, measured: the tensors that autograd saves, and gradients."""
    sizes: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()  # an operation that kept its own output would never be freed

    one = ensemble.member(0).requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(note, lambda t: t), torch.enable_grad():
        one(x)
    return int(max(sum(sizes.values()), 1) * _PASSES)
