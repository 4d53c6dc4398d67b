"""All verdicts of the study."""

from regimes.lab import judge
from regimes.studies.landscape.double_descent import _cusp, _laws

claim = judge.Claims(_cusp.claim, _laws.claim)
