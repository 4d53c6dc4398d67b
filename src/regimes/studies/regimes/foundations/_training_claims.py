"""Verdicts on what the foundations train."""

from itertools import pairwise

import numpy as np

import regimes as rg
from regimes.lab import Data, judge, ran
from regimes.studies.regimes._remarks import numbers, with_errors
from regimes.studies.regimes.foundations._judging import EXACT, farthest, over_widths, slope

claim = judge.Claims()


@claim("REG-70", "equal to 1e-10; within 30 %; -0.5 ± 0.2")
def maximal_update(dataset: Data) -> judge.Parts:
    data = over_widths(dataset, "maximal-update", "move_width")
    widths, layers = data.move_width.values, range(data.sizes["move_layer"])
    fixed, lazy = (data.moved.isel(move_form=form) for form in range(2))
    ratios = [judge.largest_ratio(list(fixed.isel(move_layer=layer).values)) for layer in layers]
    falls = [slope(lazy.isel(move_layer=layer), "move_width", "move_seed") for layer in layers]
    yield judge.below("gap of mean-field and maximal update", data.form_gap, EXACT)
    yield judge.below("largest over smallest change", farthest(ratios, 1.0), 1.3)
    yield judge.near("exponent at alpha=100", farthest(falls, -0.5), -0.5, 0.2)
    yield judge.above("share of runs that fitted", data.move_fitted, 1.0)
    middle = np.exp(np.log(fixed).mean("move_seed"))
    sizes = "; ".join(
        "/".join(f"{value:.2f}" for value in middle.isel(move_layer=layer).values)
        for layer in layers
    )
    # Narrow networks have to move farther to fit, so that the exponent settles with the width.
    first = np.log(lazy.isel(move_layer=0).mean("move_seed").values)
    local = np.diff(first) / np.diff(np.log(widths))
    return (
        f"rms change of the pre-activations of layers 1 to 3 for h = {numbers(widths)}: {sizes} "
        f"(mean-field, scale 1); exponents in h in the NTK form {with_errors(falls)}, from each "
        f"width to the next in layer 1 {numbers(local, '.2f')}"
    )


@claim("REG-71", "ratio 2 ± 0.3; SGD falls with the rate")
def descent(dataset: Data) -> judge.Parts:
    data = ran(dataset, "small-steps")
    counts, sgd = data.step_count.values, data.sgd_distance.values
    if len(counts) < 2:
        raise judge.Missing(
            f"descent was run with {numbers(counts)} steps only, so no step was halved"
        )
    logs = (
        np.diff(np.log2(data.descent_distance.values), axis=0) / np.diff(np.log2(counts))[:, None]
    )
    found = [
        judge.mean_of(2.0**-row) for row in logs
    ]  # how much a distance falls with half the step
    yield judge.near("ratio of distances", farthest(found, 2.0), 2.0, 0.3)
    means = [judge.mean_of(row) for row in sgd]
    falls = [after / before for before, after in pairwise(means)]
    least = farthest(falls, 0.0)
    yield judge.below("SGD, half the rate: distance times", least, 1.0)
    return (
        f"descent: ratios {with_errors(found)} for {numbers(counts)} steps to t = "
        f"{float(data.step_end):.3g}, where the loss is {float(data.step_loss):.2f} of its start; "
        f"SGD, batches of a tenth, {sgd.shape[1]} orderings: distance "
        f"{numbers(sgd.mean(1), '.2g')} of the way gone"
    )


def variance_error(data: Data) -> np.ndarray:
    """The jackknife's error of the variance of the trained predictor, at every width."""
    left_out = np.log(data.field_left_out.values)
    return np.asarray(data.field_variance * np.sqrt((left_out.shape[1] - 1) * left_out.var(1)))


@claim("REG-73", "-1 ± 0.25, identities")
def density(dataset: Data) -> judge.Parts:
    data = over_widths(dataset, "mean-field", "field_width")
    widths, networks = data.field_width.values.astype(float), data.sizes["field_seed"]
    if networks < 3 or len(widths) < 2:
        raise judge.Missing(
            "the error of a variance needs three networks or more, its exponent two widths or "
            f"more; there are {networks} networks and {len(widths)} widths"
        )
    variance = data.field_variance.values
    fit = rg.measure.power_law(widths, variance, sigma=variance_error(data))
    yield judge.near("exponent of the variance", fit, -1.0, 0.25)
    yield judge.below("gap of the neuron's potential", data.potential_gap, 1e-12)
    yield judge.below("gap with every neuron doubled", data.twin_gap, 1e-12)
    yield judge.above("share of runs that fitted", data.field_fitted, 1.0)
    return (
        f"h var(F) = {numbers(widths * variance, '.3g')} for h = {numbers(widths)}, {networks} "
        "networks, L=1, scale 0.1"
    )
