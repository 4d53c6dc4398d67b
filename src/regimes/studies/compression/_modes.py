"""What the kernel studies store of a kernel's eigenvectors and a label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regimes.lab import Array
from regimes.studies._types import LabelModes

MODES = 10  # eigenvectors looked at [Paccolat 2021, fig. 9]
PER_KERNEL: dict[str, tuple[str, ...]] = {  # what is stored of `LabelModes`, with its dimensions
    "information": ("mode",),
    "information_centered": ("mode",),
    "projection": ("mode",),
    "projection_centered": ("mode",),
    "norm": ("ridge",),
    "share": (),
    "plane_error": (),
}


def mode_arrays(found: Sequence[Sequence[LabelModes]]) -> dict[str, Array]:
    """What is stored of all kernels of all members; of the first member also their planes."""
    arrays = {
        name: Array(
            ("seed", "kernel", *dims),
            [[np.asarray(getattr(one, name)) for one in each] for each in found],
        )
        for name, dims in PER_KERNEL.items()
    }
    planes = [one.plane.numpy() for one in found[0]]
    arrays["plane"] = Array(("kernel", "axis", "sample"), planes)
    return arrays
