"""Verdicts on the parity of digits: COMP-42 to COMP-46 (spec `compression` 3)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

import regimes as rg
from regimes.lab import Claim
from regimes.studies._parts import Part, claim_of_parts
from regimes.studies.compression._modes import mean_part, standard_error
from regimes.studies.compression.digit_parity._nets import KERNELS

if TYPE_CHECKING:
    import xarray as xr

CURVES = ("network", *KERNELS)
CUBES = (2, 5)  # dimensions of the cubes that test the estimator of dimension
COMPARE_AT = 400  # training-set size at which the kernels are compared on 8 x 8 digits
MNIST_PIXELS = 784
FIT_FROM = 100  # smallest p in the fits of the exponents


def parity_claims(dataset: xr.Dataset) -> list[Claim]:
    """All of them; MNIST is held to the document's numbers, the 8 x 8 digits to their order."""
    dataset = dataset.dropna("p", how="all", subset=["error"])  # sizes that have run
    shown = compared(dataset)
    exponents = _exponents(dataset)
    return [
        exponents,
        _final_kernel(shown),
        _last_layer(shown),
        _information_rises(shown),
        _dimension(dataset, shown),
        replace(exponents, id="REG-63"),  # the same claim, in spec `regimes`
    ]


def compared(dataset: xr.Dataset) -> xr.Dataset:
    """The p at which kernels are compared: 400 digits, or the most there are."""
    p = dataset.p.values
    at = COMPARE_AT if COMPARE_AT in p and not _is_mnist(dataset) else p.max()
    return dataset.sel(p=at)


def errors_of(shown: xr.Dataset, curve: str) -> np.ndarray:
    """Test errors of one curve, (seed,) or (seed, p)."""
    values = shown.error.isel(curve=CURVES.index(curve))
    return np.asarray(values.transpose("seed", ...).values)


def _is_mnist(dataset: xr.Dataset) -> bool:
    return int(dataset.pixels.max()) == MNIST_PIXELS


def _mode_information(shown: xr.Dataset, kernel: str, name: str = "information") -> np.ndarray:
    values = shown[name].isel(kernel=KERNELS.index(kernel))
    return np.asarray(values.transpose("seed", "mode").values)


def _ending(shown: xr.Dataset) -> str:
    satisfied = shown.kernel_satisfied.transpose("seed", "kernel").values.mean(0)
    kernels = ", ".join(f"{n} {s:.1%}" for n, s in zip(KERNELS, satisfied, strict=True))
    return (
        f"p={int(shown.p)}, {shown.seed.size} seeds, {int(shown.n_test)} test images; networks end "
        f"with {float(shown.satisfied.mean()):.1%} of the margins, kernels with: {kernels}"
    )


def _exponents(dataset: xr.Dataset) -> Claim:
    p = dataset.p.values
    window = (min(FIT_FROM, p.max() / 2), float(p.max()) * 1.001)
    if sum(p >= window[0]) < 2:
        return Claim.unclear("COMP-42", "a slope", why=f"only p = {p.tolist()} has run")
    fits = {
        name: rg.measure.power_law(p, errors_of(dataset, name), window=window, center="mean")
        for name in ("network", "initial NTK")
    }
    feature, lazy = (-fit.exponent for fit in fits.values())
    errors = [fit.error for fit in fits.values()]
    why = f"slopes {feature:.3f} ± {errors[0]:.2g} and {lazy:.3f} ± {errors[1]:.2g}"
    if _is_mnist(dataset):
        parts = [
            Part("beta of the network", feature, 0.42, 0.58, errors[0]),
            Part("beta of the initial NTK", lazy, 0.22, 0.38, errors[1]),
        ]
        return claim_of_parts("COMP-42", parts, why=why)
    last, spread = dataset.isel(p=-1), float(np.linalg.norm(errors))
    ratio = errors_of(last, "network") / errors_of(last, "initial NTK")
    parts = [
        Part("beta_feature - beta_lazy", feature - lazy, low=0.05, error=spread),
        mean_part("error of the network / initial NTK at the largest p", ratio, high=1.0),
    ]
    told = [
        f"{name} " + ", ".join(f"{e:.3f}" for e in errors_of(dataset, name).mean(0))
        for name in fits
    ]
    return claim_of_parts("COMP-42", parts, why=f"{why}; {'; '.join(told)} at p = {p.tolist()}")


def _final_kernel(shown: xr.Dataset) -> Claim:
    final, first = errors_of(shown, "final NTK"), errors_of(shown, "initial NTK")
    net = np.asarray(shown.paired_error.values)
    parts = [
        mean_part("final NTK / network", final / net, high=1.3),
        mean_part("final NTK / initial NTK", final / first, high=0.9),
    ]
    why = f"errors {final.mean():.3f}, {net.mean():.3f}, {first.mean():.3f}; {_ending(shown)}"
    return claim_of_parts("COMP-43", parts, why=why)


def _last_layer(shown: xr.Dataset) -> Claim:
    last, first = errors_of(shown, "final last layer"), errors_of(shown, "initial NTK")
    net = np.asarray(shown.paired_error.values)
    parts = [mean_part("final last layer / initial NTK", last / first, high=1.0)]
    if _is_mnist(shown):
        parts.append(mean_part("final last layer / network", last / net, low=1.0))
    why = (
        f"errors {last.mean():.3f} and {first.mean():.3f}, network {net.mean():.3f}, last layer at "
        f"first {errors_of(shown, 'initial last layer').mean():.3f}; {_ending(shown)}"
    )
    return claim_of_parts("COMP-44", parts, why=why)


def _information_rises(shown: xr.Dataset) -> Claim:
    first, final, last = (
        _mode_information(shown, name) for name in ("initial NTK", "final NTK", "final last layer")
    )
    centred = [
        _mode_information(shown, f"{stage} NTK", "information_centered")[:, 0].mean()
        for stage in ("initial", "final")
    ]
    second = shown.projection.isel(kernel=KERNELS.index("final NTK"), mode=slice(0, 3))
    parts = [mean_part("top mode, final less initial (bits)", final[:, 0] - first[:, 0], low=0.2)]
    why = (
        f"NTK {first[:, 0].mean():.3f} to {final[:, 0].mean():.3f} bits, last layer "
        f"{last[:, 0].mean():.3f}; centred kernel {centred[0]:.3f} to {centred[1]:.3f}; label on "
        f"the first modes {', '.join(f'{v:.3f}' for v in second.mean('seed').values)}; "
        f"{_ending(shown)}"
    )
    return claim_of_parts("COMP-45", parts, why=why)


def _dimension(dataset: xr.Dataset, shown: xr.Dataset) -> Claim:
    cubes = dataset.cube_dimension.transpose(..., "cube").values.reshape(-1, len(CUBES))
    last = np.asarray(shown.dimension.isel(kernel=KERNELS.index("final last layer")).values)
    first = shown.dimension.isel(kernel=KERNELS.index("initial last layer"))
    parts = [
        mean_part(f"cube of dimension {D}, estimate / {D}", cubes[:, i] / D, 0.92, 1.08)
        for i, D in enumerate(CUBES)
    ]
    if _is_mnist(dataset):
        parts.insert(0, mean_part("dimension of the last layer", last, 4.0, 8.0))
    why = (
        f"last layer {last.mean():.2f} ± {float(standard_error(last)):.2g}, at first "
        f"{float(first.mean()):.2f}; {_ending(shown)}"
    )
    return claim_of_parts("COMP-46", parts, why=why)
