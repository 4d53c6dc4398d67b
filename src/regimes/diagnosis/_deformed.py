"""How much outputs change when images are deformed a little."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from regimes._adapter import columns
from regimes.diagnosis._case import Case, Found
from regimes.measure import stability

_IMAGES = 200
_SMALLEST = 8  # pixels a side


def deformations(case: Case, found: Found) -> None:
    """Relative stability to smooth deformations [Petrini 2021, eq. 5], where inputs are images."""
    x = case.shown.first(_IMAGES).x
    if not isinstance(x, Tensor) or not x.is_floating_point() or x.ndim != 4 or len(x) < 20:
        return
    if x.shape[2] != x.shape[3] or x.shape[2] < _SMALLEST or x.shape[1] > 4:
        return
    case.watch.say("stability to deformations")
    for moment, network in case.networks.items():
        try:
            measured = stability(network, x, output=_columns(case))
        except ValueError:  # outputs that are the same for all images have no scale
            continue
        found.add(f"deformation_stability_{moment}", float(measured.R_f), float(measured.R_f_error))


def _columns(case: Case) -> Callable[[Any], Tensor]:
    return lambda returned: columns(returned, case.pick)
