"""The verdict on hinge and cross-entropy."""

from __future__ import annotations

from regimes.lab import Data, judge

claim = judge.Claims()


@claim("LAND-69", "mean errors of hinge and cross-entropy differ by less than 1 %")
def swapped(dataset: Data) -> judge.Parts:
    hinge = judge.need(dataset, "error", loss="quadratic_hinge")
    entropy = judge.need(dataset, "error", loss="cross_entropy")
    gap = (hinge.error - entropy.error).dropna("seed")  # the same starts and batches
    if gap.sizes["seed"] < 3:
        raise judge.Missing(
            f"{gap.sizes['seed']} seeds have run with both losses, three are needed"
        )
    yield judge.near("error with hinge less with cross-entropy", judge.mean_of(gap), 0.0, 0.01)
    ones = [judge.mean_of(100 * each.error.dropna("seed")) for each in (hinge, entropy)]
    trained = [100 * float(each.train_error.mean()) for each in (hinge, entropy)]
    return (
        f"test errors {ones[0]} and {ones[1]} %, training errors {trained[0]:.2f} and "
        f"{trained[1]:.2f} %; {gap.sizes['seed']} seeds"
    )
