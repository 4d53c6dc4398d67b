"""How a check was configured when one flat set of parameters served all of them.

Every parameter was in the key of every check, and seeds were counts or fixed: a trial is found
again when its seeds are those and the parameters of the other checks are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from regimes.lab import TrialConfig
from regimes.studies.compression.foundations._sizes import SIZES


def formerly(params: Mapping[str, Any], config: TrialConfig) -> TrialConfig | None:
    """The trial as it was configured, if it could be.

    Checks that are left out, or were never so, are taken to have been as in the size that this run
    resembles most.
    """
    block = config.point["block"]
    alike = max(SIZES.values(), key=lambda size: sum(size[k] == own for k, own in params.items()))
    for blocks in ({**alike, **params}, {**alike, block: params[block]}):
        if (flat := _flat(blocks)) is not None:
            return TrialConfig(config.study, config.version, flat, {"check": block}, config.dtype)
    return None


def _flat(blocks: Mapping[str, Any]) -> dict[str, Any] | None:
    """One set of parameters for all checks; None where seeds are not as they were."""
    fields = {block: asdict(own) for block, own in blocks.items()}
    seeds = {block: own.pop("seed") for block, own in fields.items() if "seed" in own}
    count = len(seeds["conservation"])
    counted = dict.fromkeys(("conservation", "information"), tuple(range(count)))
    fixed = dict.fromkeys(seeds, (0,)) | {"rotation": tuple(range(8))}
    if seeds != fixed | counted:
        return None
    flat = {name: value for own in fields.values() for name, value in own.items()}
    return {**flat, "seeds": count}
