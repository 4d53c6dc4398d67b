"""The verdict on the two ends of the scan: COMP-20."""

from regimes.lab import Data, judge

FEATURE, ALSO_FEATURE, LAZY = 1e-8, 1e-6, 1e4  # the scales that are compared

claim = judge.Claims()


@claim("COMP-20", "two plateaus of the test error, the feature one lower")
def _plateaus(dataset: Data) -> judge.Parts:
    ran = judge.where_ran(dataset, "seed", "test_error")
    start, also, end = (
        judge.need(ran, "test_error", alpha=a) for a in (FEATURE, ALSO_FEATURE, LAZY)
    )
    feature, lazy = start.test_error, end.test_error
    yield judge.below("feature/lazy", judge.mean_of(feature / lazy), 0.75)
    yield judge.near("err(1e-8)/err(1e-6)", judge.mean_of(feature / also.test_error), 1.0, 0.25)
    yield judge.near("err(1e4)/frozen kernel", judge.mean_of(lazy / ran.frozen_error), 1.0, 0.10)
    return (
        f"{ran.sizes['seed']} seeds; errors {float(feature.mean()):.4f} and "
        f"{float(lazy.mean()):.4f}, frozen kernel {float(ran.frozen_error.mean()):.4f}; unfitted "
        f"training points at the feature end {float(start.unfitted.mean()):.4f}"
    )
