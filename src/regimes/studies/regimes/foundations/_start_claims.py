"""Verdicts on networks at their start."""

import numpy as np

from regimes.lab import Data, judge, ran
from regimes.studies.regimes._remarks import numbers, with_errors
from regimes.studies.regimes.foundations._judging import farthest, over_widths, slope
from regimes.studies.regimes.foundations._start import ALPHAS

claim = judge.Claims()


@claim("REG-06", "covariance within .15, excess kurtosis < .6")
def process(dataset: Data) -> judge.Parts:
    data = ran(dataset, "gaussian-process")
    predicted, networks = data.process_predicted.values, data.sizes["process_network"]
    gaps = np.abs(data.process_covariance.values - predicted)
    variance = np.diag(predicted)
    errors = np.sqrt((np.outer(variance, variance) + predicted**2) / networks)
    worst = int(gaps.argmax())
    kurtosis = np.abs(data.process_kurtosis.values).max()
    yield judge.below(
        "covariance off the recursion by", (gaps.flat[worst], errors.flat[worst]), 0.15
    )
    yield judge.below("excess kurtosis", (kurtosis, (24 / networks) ** 0.5), 0.6)
    return (
        f"largest of {len(predicted)} points, {networks} relu networks, L=2, "
        f"h={int(data.process_width)}; rms gap {np.sqrt((gaps**2).mean()):.3f}"
    )


@claim("REG-07", "-0.5 ± 0.1")
def kernel_noise(dataset: Data) -> judge.Parts:
    data = over_widths(dataset, "kernel-noise", "noise_width")
    square = data.noise**2
    found = slope(square, "noise_width", "noise_seed", times=0.5)
    yield judge.near("exponent in h", found, -0.5, 0.1)
    scaled = np.sqrt(square.mean("noise_seed") * data.noise_width)
    return (
        f"relative fluctuation times sqrt h = {numbers(scaled, '.2f')} for h = "
        f"{numbers(data.noise_width)}, {data.sizes['noise_seed']} networks, L=2; their mean is "
        f"{float(data.limit_distance[-1]):.3f} from the kernel of infinite width at the last"
    )


@claim("REG-08", "-0.5, -1, -0.5, each ± 0.1")
def gradients(dataset: Data) -> judge.Parts:
    data = over_widths(dataset, "layers", "layer_width")
    found = [
        slope(data.gradient_size.isel(weight_layer=layer), "layer_width", "layer_seed")
        for layer in range(data.sizes["weight_layer"])
    ]
    if len(found) < 3:
        raise judge.Missing("networks of one hidden layer have no inner weights")
    yield judge.near("first layer", found[0], -0.5, 0.1)
    yield judge.near("inner layer", farthest(found[1:-1], -1.0), -1.0, 0.1)
    yield judge.near("readout", found[-1], -0.5, 0.1)
    return (
        f"exponents in h of the rms of df/dW: {with_errors(found)} from first to last layer; "
        f"{_sizes(data)}"
    )


@claim("REG-09", "-0.5 ± 0.12, exactly 1/alpha")
def speeds(dataset: Data) -> judge.Parts:
    data = over_widths(dataset, "layers", "layer_width")
    one = data.preact_speed.isel(layer_scale=ALPHAS.index(1.0))
    found = [
        slope(one.isel(hidden_layer=layer), "layer_width", "layer_seed")
        for layer in range(data.sizes["hidden_layer"])
    ]
    scaled = data.preact_speed.transpose(..., "layer_scale") * np.array(ALPHAS)
    yield judge.near("exponent in h", farthest(found, -0.5), -0.5, 0.12)
    gap = np.abs(scaled / one - 1).max()  # at alpha = 1 speeds are as they are
    yield judge.below("alpha times speed changes with alpha by", gap, 1e-4)
    return f"exponents of hidden layers 1 to L: {with_errors(found)}; {_sizes(data)}"


def _sizes(data: Data) -> str:
    widths = data.layer_width.values
    return (
        f"h = {widths.min():g} to {widths.max():g}, L={int(data.layer_depth)}, "
        f"{data.sizes['layer_seed']} networks"
    )
