"""How a check was configured when one flat set of parameters served all of them.

Seeds were counts or fixed: a trial is found again when its seeds are those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from regimes.studies._former_keys import one_for_all_blocks
from regimes.studies.compression.foundations._sizes import SIZES


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


formerly = one_for_all_blocks(SIZES, "check", _flat)
