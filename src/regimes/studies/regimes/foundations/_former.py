"""How trials were configured when one flat set of parameters served all blocks.

Seeds were counts, and every parameter was in the key of every trial: a trial is found again when
its block is as it was and the parameters of the others are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from regimes.lab import TrialConfig
from regimes.studies.regimes.foundations._sizes import SIZES

# Block -> field -> its former name, where that was another. A name that several blocks share was
# one parameter for all of them; a seed without a name was always 0.
FORMER: dict[str, dict[str, str]] = {
    "forms": {},
    "parametrisation": {"points": "same_points", "width": "same_width", "seed": "seeds"},
    "early-speed": {"points": "speed_points", "width": "speed_width", "seed": "seeds"},
    "gaussian-process": {"networks": "process_networks", "width": "process_width"},
    "kernel-noise": {"points": "start_points", "widths": "noise_widths", "seed": "noise_seeds"},
    "layers": {
        "points": "start_points",
        "depth": "layer_depth",
        "widths": "layer_widths",
        "seed": "layer_seeds",
    },
    "neighbours": {"dimensions": "torus", "points": "torus_points", "seed": "draws"},
    "maximal-update": {
        "points": "move_points",
        "widths": "move_widths",
        "seed": "move_seeds",
        "eps": "move_eps",
    },
    "small-steps": {
        "points": "step_points",
        "width": "step_width",
        "steps": "step_counts",
        "seed": "seeds",
    },
    "mean-field": {
        "points": "field_points",
        "widths": "field_widths",
        "seed": "field_seeds",
        "eps": "field_eps",
    },
    "stopping": {
        "points": "stop_points",
        "width": "stop_width",
        "scales": "stop_at",
        "seed": "seeds",
        "eps": "stop_eps",
    },
    "accepted-steps": {
        "points": "check_points",
        "width": "check_width",
        "scales": "check_at",
        "eps": "check_eps",
        "max_steps": "check_steps",
    },
}
RENAMED = {
    "part": "block",
    "same_at": "same_scale",
    "same_ats": "same_scales",
    "stop_at": "stop_scales",
    "check_at": "check_scales",
}


def formerly(params: Mapping[str, Any], config: TrialConfig) -> TrialConfig | None:
    """The trial as it was configured, if it could be.

    Blocks that are left out, or of which there was nothing alike, are taken to have been as in the
    size that this run resembles most.
    """
    block = config.point["block"]
    alike = max(SIZES.values(), key=lambda size: sum(size[k] == own for k, own in params.items()))
    for blocks in ({**alike, **params}, {**alike, block: params[block]}):
        flat = flattened(blocks)
        if flat is not None:
            return TrialConfig(config.study, config.version, flat, {"part": block}, config.dtype)
    return None


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
