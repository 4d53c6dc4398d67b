"""Verdicts on shapes seen from a sphere."""

from __future__ import annotations

from typing import Any

from regimes.lab import Data, judge

claim = judge.Claims()

ALIGNED, TURNED = 0, 1
PAPER = (0.701, 0.711, 0.699, 0.676, 0.756)  # P@N, R@N, F1, mAP, NDCG on turned shapes


def _accuracy(dataset: Data, network: str) -> Any:
    """Of every seed that ran, (seeds, tested)."""
    at = judge.where_ran(dataset, "seed", "accuracy", network=network)
    return at.accuracy.transpose("seed", "tested").values.astype(float)


@claim("EQU-18", "stand-in: turned solids cost the spherical network at most 0.05, the planar 0.2")
def _retrieval(dataset: Data) -> judge.Parts:
    spherical, planar = (_accuracy(dataset, network) for network in ("spherical", "planar"))
    lost = judge.mean_of(spherical[:, ALIGNED] - spherical[:, TURNED])
    yield judge.within("accuracy the spherical network loses", lost, -0.05, 0.05)
    lost = judge.mean_of(planar[:, ALIGNED] - planar[:, TURNED])
    yield judge.above("accuracy the planar network loses", lost, 0.2)
    yield judge.above(
        "spherical on turned solids, less planar",
        judge.mean_of(spherical[:, TURNED]) - judge.mean_of(planar[:, TURNED]),
        0.0,
    )
    at = judge.where_ran(dataset, "seed", "scores", network="spherical")
    means = at.scores.transpose("seed", "tested", "mean", "score").values[:, TURNED, 0].mean(0)
    ours = ", ".join(f"{each:.3f}" for each in means)
    told = {
        network: " and ".join(str(judge.mean_of(each)) for each in found.T)
        for network, found in (("spherical", spherical), ("planar", planar))
    }
    return (
        f"accuracy aligned and turned: spherical {told['spherical']}, planar {told['planar']}; "
        f"P@N, R@N, F1, mAP, NDCG {ours} on turned solids of ten families; the paper's "
        f"{', '.join(f'{each:.3f}' for each in PAPER)} are on SHREC17, whose meshes are not free"
    )
