"""How trials were configured when one flat set of parameters served all blocks.

Seeds were counts: a trial is found again when its block is as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from regimes.studies._former_keys import one_for_all_blocks
from regimes.studies.regimes.foundations._sizes import SIZES


def _names(prefix: str, fields: str, **others: str) -> dict[str, str]:
    """Field -> its former name: some had a prefix, others another name."""
    return {field: f"{prefix}_{field}" for field in fields.split()} | others


# Fields not named here had the name they have. A name that several blocks share was one parameter
# for all of them; a seed without a name was always 0.
FORMER = {
    "forms": _names("", ""),
    "parametrisation": _names("same", "points width", seed="seeds"),
    "early-speed": _names("speed", "points width", seed="seeds"),
    "gaussian-process": _names("process", "networks width"),
    "kernel-noise": _names("noise", "widths", points="start_points", seed="noise_seeds"),
    "layers": _names("layer", "depth widths", points="start_points", seed="layer_seeds"),
    "neighbours": _names("torus", "points", dimensions="torus", seed="draws"),
    "maximal-update": _names("move", "points widths eps", seed="move_seeds"),
    "small-steps": _names("step", "points width", steps="step_counts", seed="seeds"),
    "mean-field": _names("field", "points widths eps", seed="field_seeds"),
    "stopping": _names("stop", "points width eps", scales="stop_at", seed="seeds"),
    "accepted-steps": _names(
        "check", "points width eps", scales="check_at", max_steps="check_steps"
    ),
}
RENAMED = {
    "part": "block",
    "same_at": "same_scale",
    "same_ats": "same_scales",
    "stop_at": "stop_scales",
    "check_at": "check_scales",
}


def flattened(blocks: Mapping[str, Any]) -> dict[str, Any] | None:
    """One set of parameters for all blocks; None where theirs contradict each other."""
    flat: dict[str, Any] = {}
    for block, names in FORMER.items():
        fields = asdict(blocks[block])
        seeds = fields.pop("seed", ())
        if seeds != tuple(range(len(seeds))) or ("seed" not in names and len(seeds) > 1):
            return None
        if "seed" in names:
            fields["seed"] = len(seeds)
        for field, value in fields.items():
            if flat.setdefault(names.get(field, field), value) != value:
                return None
    return flat


formerly = one_for_all_blocks(SIZES, "part", flattened)
