"""How many members can be differentiated together."""

from __future__ import annotations

import torch
from torch import Tensor

from regimes._memory import parse_bytes, readable
from regimes.nets import Ensemble

_PASSES = 2.5  # gradients of activations come and go beside the kept ones
# At the fullest moment of a step: parameters at the start and the end, state and speed before, as
# proposed and as kept, and two more of each while the field works.
COPIES = 10
_PREDICTIONS = 10  # the same of what the members predict: losses and margins are as large


def tile_of(
    ensemble: Ensemble,
    each: int,
    memory: int | str | None,
    device: torch.device,
    *,
    predictions: int,
    copies: int = COPIES,
) -> tuple[int, str | None]:
    """Members per pass when one takes `each` bytes, and a note when they are not all.

    Args:
        ensemble: the members.
        each: bytes that are there only while a member is differentiated.
        memory: budget of everything, parameters and results included; not what a run records.
        device: where the members are.
        predictions: numbers a member predicts on the training points.
        copies: how often the parameters are held at the fullest moment of a step.

    Raises:
        ValueError: the budget is too small for the members, or a pass of one; says the least.
    """
    budget = parse_bytes(memory, device)
    stored = list(ensemble.parameters.values())
    kept = sum(p.numel() * p.element_size() for p in stored) * copies
    kept += ensemble.size * predictions * stored[0].element_size() * _PREDICTIONS
    room = budget - kept
    if room < each:
        raise ValueError(
            f"memory={readable(budget)} is too little: the {ensemble.size} members' parameters, "
            f"gradients, proposals and predictions take {readable(kept)} and a pass of one member "
            f"takes {readable(each)}; give {readable(kept + each)} or more, or train fewer members"
        )
    tile = min(ensemble.size, max(1, room // max(each, 1)))
    if tile == ensemble.size:
        return tile, None
    return tile, (
        f"{ensemble.size} members need {readable(each * ensemble.size)} per pass; within "
        f"{readable(budget)} they are differentiated {tile} at a time"
    )


def measured_pass(ensemble: Ensemble, x: Tensor) -> tuple[int, int]:
    """Bytes of a pass of one member and the numbers it predicts, from one that is run.

    The bytes are those that autograd saves, without parameters, and of gradients beside them.
    """
    sizes: dict[int, int] = {}
    one = ensemble.member(0).requires_grad_()
    own = {p.data_ptr() for p in one.parameters()}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()  # an operation that kept its own output would never be freed

    with torch.autograd.graph.saved_tensors_hooks(note, lambda t: t), torch.enable_grad():
        predictions = ensemble.outputs(one(x))
    return int(max(sum(sizes.values()), 1) * _PASSES), predictions.numel()
