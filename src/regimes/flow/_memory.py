"""How many members can be differentiated together."""

from __future__ import annotations

import torch
from torch import Tensor

from regimes._memory import parse_bytes, readable
from regimes.nets import Ensemble

_PASSES = 2.5  # gradients of activations come and go beside the kept ones


def tile_of(
    ensemble: Ensemble, x: Tensor, *, own: bool, memory: int | str | None
) -> tuple[int, str | None]:
    """Members a pass, and a note when they are not all.

    What a pass keeps is measured on one member: the tensors that autograd saves.
    """
    budget = parse_bytes(memory, x.device)
    kept = sum(p.numel() * p.element_size() for p in ensemble.parameters.values()) * 6
    each = int(_saved_bytes(ensemble, x[0] if own else x) * _PASSES)
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
        f"{ensemble.size} members need {readable(each * ensemble.size)} a pass; within "
        f"{readable(budget)} they are differentiated {tile} at a time"
    )


def _saved_bytes(ensemble: Ensemble, x: Tensor) -> int:
    """Bytes that autograd keeps between the passes of one member."""
    sizes: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    one = ensemble.member(0).requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(note, lambda t: t), torch.enable_grad():
        one(x)
    return max(sum(sizes.values()), 1)
