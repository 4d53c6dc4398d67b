"""How trials of older forms were configured, so that what was computed then is found again.

Before there were blocks a trial was named by a text such as "widths L=2 P=50 h=32 at=0.1".
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from regimes.lab import Data, TrialConfig

_LETTERS = {"depth": "L", "n_train": "P", "width": "h", "scale": "at", "alpha": "alpha"}


def scales_as_parameter(params: Any, config: TrialConfig) -> TrialConfig:
    """`formerly` of studies in which the scales were a parameter `at`, no axis."""
    point = dict(config.point)
    at = point.pop("scale")
    return replace(config, params={**config.params, "at": at}, point=point)


def former_config(
    config: TrialConfig, params: Mapping[str, Any], scan: str, named: Mapping[str, str | int]
) -> TrialConfig | None:
    """How a trial was configured when a text named it; None where no text told it exactly.

    Args:
        config: the trial as it is now.
        params: those that all scans had in common.
        scan: the first word of the text.
        named: what the text said before depth, points, width and scale.
    """
    told = [scan, *(f"{name}={value}" for name, value in named.items())]
    for name, letter in _LETTERS.items():
        if name in config.point:
            value = f"{config.point[name]:g}"
            if float(value) != config.point[name]:
                return None
            told.append(f"{letter}={value}")
    point = {"case": " ".join(told), "seed": config.point["seed"]}
    return TrialConfig(config.study, config.version, params, point, config.dtype)


def every_block(params: Mapping[str, Any], sizes: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of all blocks; those left out are of the size with as many test points."""
    n_test = next(iter(params.values())).n_test
    same = [size for size in sizes.values() if all(own.n_test == n_test for own in size.values())]
    return {**(same[0] if same else {}), **params}


def from_cases(dataset: Data) -> Data:
    """A table of trials that were named by texts, as a table of blocks; others as they are."""
    if "case" not in dataset.dims:
        return dataset
    table = dataset.drop_vars(["case", "scale"], errors="ignore")  # the trials told their scale
    names = {letter: name for name, letter in _LETTERS.items() if letter != name}
    return table.rename({"case": "trial", "scan": "block", **names})
