"""The verdict on the two ends of the scan: COMP-20."""

from regimes.lab import Claim, Data
from regimes.lab.judge import Claims, mean_of, need, where_ran

FEATURE, ALSO_FEATURE, LAZY = 1e-8, 1e-6, 1e4  # the scales that are compared
EXPECTED = (
    "err(1e-8) = err(1e-6) within 25 %, err(1e4) = frozen kernel within 10 %, feature < 0.75 lazy"
)

claim = Claims()


@claim("COMP-20", EXPECTED)
def _plateaus(dataset: Data) -> Claim:
    """Two plateaus of the test error, the feature one lower."""
    ran = where_ran(dataset, "seed", "test_error")
    start, also, end = (need(ran, "test_error", alpha=a) for a in (FEATURE, ALSO_FEATURE, LAZY))
    feature, lazy = start.test_error, end.test_error
    level = float((feature / also.test_error).mean())
    limit = float((lazy / ran.frozen_error).mean())
    ratio = mean_of(feature / lazy)
    return Claim.holds(
        "COMP-20",
        abs(level - 1) <= 0.25 and abs(limit - 1) <= 0.10 and ratio.value < 0.75,
        EXPECTED,
        measured=ratio.value,
        error=ratio.error,
        why=(
            f"feature/lazy {ratio.value:.3f}; err(1e-8)/err(1e-6) {level:.3f}; err(1e4)/frozen "
            f"{limit:.3f}; errors {float(feature.mean()):.4f} and {float(lazy.mean()):.4f}, "
            f"frozen kernel {float(ran.frozen_error.mean()):.4f}; unfitted training points at the "
            f"feature end {float(start.unfitted.mean()):.4f}"
        ),
    )
