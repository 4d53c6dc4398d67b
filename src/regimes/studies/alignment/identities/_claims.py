"""Verdicts on what holds exactly."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, judge, ran

claim = judge.Claims()


def _most(values: object) -> float:
    return float(np.abs(np.asarray(values, dtype=float)).max())


def _problems(dataset: Data, name: str) -> str:
    return f"{dataset[name].sizes['problem']} random problems"


@claim("ALI-01", "gap of the spectra, of orthonormality and of the extension below 1e-9")
def _spectra(dataset: Data) -> judge.Parts:
    at = ran(dataset, "spectra")
    yield judge.below(
        "largest gap of the spectra / largest eigenvalue", _most(at.spectrum_gap), 1e-9
    )
    yield judge.below("largest entry of U^T U - 1", _most(at.norm_gap), 1e-9)
    yield judge.below("extension to the samples less eigenvector", _most(at.extension_gap), 1e-9)
    share = float(at.least_share.min())
    return f"{_problems(at, 'norm_gap')}; least eigenvalue extended / largest {share:.1e}"


@claim(
    "ALI-01b", "the extension differs by rounding alone: its gap times lambda_J/lambda_1 <= 1e-13"
)
def _rounding(dataset: Data) -> judge.Parts:
    at = ran(dataset, "rounding")
    yield judge.below("gap of a mode x its eigenvalue / largest", _most(at.scaled_gap), 1e-13)
    return _problems(at, "scaled_gap")


@claim("ALI-02", "modes sum to the linear step within 1e-10; the rest shrinks as eta^2 +- 0.1")
def _step(dataset: Data) -> judge.Parts:
    at = ran(dataset, "step")
    yield judge.below("largest difference of step and sum of modes", _most(at.split_gap), 1e-10)
    rest = at.remainder.transpose("problem", "eta").values
    yield judge.near("exponent of the rest", judge.log_slope(at.etas.values, rest), 2.0, 0.1)
    return _problems(at, "split_gap")


@claim("ALI-03", "modes decay as (1 - eta lambda)^t, to 1e-10")
def _regression(dataset: Data) -> judge.Parts:
    at = ran(dataset, "regression")
    yield judge.below("largest difference of a mode", _most(at.mode_gap), 1e-10)
    return _problems(at, "mode_gap")


@claim("ALI-04", "layers sum to the kernel to 1e-6 (float32) and 1e-12 (float64)")
def _layers(dataset: Data) -> judge.Parts:
    at = ran(dataset, "layers")
    sums = at.sum_gap.transpose("problem", "precision", "network").values
    products = at.product_gap.transpose("problem", "precision").values
    for k, (name, limit) in enumerate((("float32", 1e-6), ("float64", 1e-12))):
        yield judge.below(f"sum of layers, {name}", _most(sums[:, k]), limit)
        yield judge.below(f"linear layer as a product, {name}", _most(products[:, k]), limit)
    return f"MLP and VGG19; {_problems(at, 'sum_gap')}"


@claim("ALI-26", "exact / bound in [0.707, 1]; the same in other coordinates to 1e-10")
def _linear(dataset: Data) -> judge.Parts:
    at = ran(dataset, "linear")
    ratio = at.linear_ratio.values
    yield judge.within("exact / bound, least", float(ratio.min()), 2**-0.5, 1.0)
    yield judge.within("exact / bound, most", float(ratio.max()), 2**-0.5, 1.0)
    yield judge.below("change with the coordinates", _most(at.change_gap), 1e-10)
    return _problems(at, "linear_ratio")


@claim("ALI-27", "exact / bound of a flow in [0.707, 1]")
def _flow(dataset: Data) -> judge.Parts:
    ratio = ran(dataset, "flow").flow_ratio.values
    yield judge.within("exact / bound, least", float(ratio.min()), 2**-0.5, 1.0)
    yield judge.within("exact / bound, most", float(ratio.max()), 2**-0.5, 1.0)
    return f"{len(ratio)} random flows"


@claim("ALI-28", "complexity of the margin loss <= sum over classes <= bound with c^(3/2)")
def _classes(dataset: Data) -> judge.Parts:
    at = ran(dataset, "classes")
    found = at.margin_complexity.values / at.bound_by_class.values
    worst = int(found.argmax())
    error = float(at.margin_error.values[worst] / at.bound_by_class.values[worst])
    yield judge.below("complexity / bound by class, most", (found[worst], error), 1.0)
    order = float((at.bound_by_class / at.bound_whole).max())
    yield judge.below("bound by class / bound of the whole, most", order, 1.0)
    return _problems(at, "margin_complexity")


@claim("ALI-29", "numerical and closed rescaling agree to 1e-6, the value to 1e-10")
def _rescaling(dataset: Data) -> judge.Parts:
    at = ran(dataset, "rescaling")
    yield judge.below("largest relative difference of a factor", _most(at.factor_gap), 1e-6)
    yield judge.below("difference of the bound", _most(at.bound_gap), 1e-10)
    return _problems(at, "factor_gap")


@claim("ALI-32", "numerical and closed minimiser agree to 1e-6")
def _supernat(dataset: Data) -> judge.Parts:
    at = ran(dataset, "supernat")
    yield judge.below("largest relative difference of a factor", _most(at.step_factor_gap), 1e-6)
    yield judge.below("relative difference of the least product", _most(at.step_value_gap), 1e-6)
    return _problems(at, "step_factor_gap")


@claim("ALI-38", "1 to 1e-12 along the labels; within [0, 1]; the same when rescaled")
def _aligned(dataset: Data) -> judge.Parts:
    at = ran(dataset, "aligned")
    values = at.random_alignment.values
    yield judge.below("|alignment - 1| along the labels", _most(at.along_labels - 1), 1e-12)
    yield judge.within("alignment of random kernels, least", float(values.min()), 0.0, 1.0)
    yield judge.within("alignment of random kernels, most", float(values.max()), 0.0, 1.0)
    yield judge.below("change when the kernel is tripled", _most(at.scale_gap), 1e-12)
    return f"{values.size} random kernels of rank 1 to {values.shape[1]}"
