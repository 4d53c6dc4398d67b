"""How trials were configured before batches of seeds and blocks became axes."""

from collections.abc import Callable, Mapping
from typing import Any

from regimes.lab import TrialConfig


def numbered_batch(params: Any, config: TrialConfig) -> TrialConfig | None:
    """The trial as it was when batches of seeds had numbers.

    Batch k held the seeds from `k * seeds` on. A trial of other seeds was never run so.

    >>> point = {"seed": (4, 5), "d": 5}
    >>> numbered_batch(None, TrialConfig("toy/curves", 1, {"width": 8}, point, "float64"))
    TrialConfig(study='toy/curves', version=1, params={'width': 8, 'seeds': 2}, \
point={'batch': 2, 'd': 5}, dtype='float64')
    """
    rest = dict(config.point)
    seeds = rest.pop("seed")
    batch, first = divmod(seeds[0], len(seeds))
    if first or seeds != tuple(range(seeds[0], seeds[0] + len(seeds))):
        return None
    fixed = {**config.params, "seeds": len(seeds)}
    return TrialConfig(config.study, config.version, fixed, {"batch": batch, **rest}, config.dtype)


def one_for_all_blocks(
    sizes: Mapping[str, Mapping[str, Any]],
    axis: str,
    flattened: Callable[[Mapping[str, Any]], dict[str, Any] | None],
) -> Callable[[Mapping[str, Any], TrialConfig], TrialConfig | None]:
    """`formerly` of a union of blocks that one flat set of parameters served.

    Every parameter was in the key of every trial, so a trial is found again when the parameters of
    the other blocks are known. Blocks that are left out, or of which there was nothing alike, are
    taken to have been as in the size that this run resembles most.

    Args:
        sizes: the parameters of every block, by size.
        axis: what the blocks were called.
        flattened: from the parameters of all blocks to the one set; None where there was none such.
    """

    def formerly(params: Mapping[str, Any], config: TrialConfig) -> TrialConfig | None:
        block = config.point["block"]
        alike = max(sizes.values(), key=lambda size: sum(size[k] == v for k, v in params.items()))
        for blocks in ({**alike, **params}, {**alike, block: params[block]}):
            if (flat := flattened(blocks)) is not None:
                point = {axis: block}
                return TrialConfig(config.study, config.version, flat, point, config.dtype)
        return None

    return formerly
