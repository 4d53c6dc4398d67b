"""Seeds that are trained side by side, and how studies numbered their batches before."""

from typing import Any

from regimes.lab import Data, TrialConfig


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


def seeds_that_ran(dataset: Data, variable: str) -> Data:
    """The data of the seeds that have a value of this variable."""
    from regimes.lab.judge import need

    return need(dataset, variable).dropna("seed", how="all", subset=[variable])
