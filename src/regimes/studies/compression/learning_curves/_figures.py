"""Test errors against the number of points, after [Paccolat 2021, fig. 2], and amplification."""

import regimes as rg
from regimes.lab import Data, Figure, draw, judge
from regimes.studies.compression import _medians

CURVES = {  # variable: name, colour, dash
    "initial_error": ("frozen initial kernel", draw.ORANGE, "solid"),
    "own_error": ("frozen initial kernel, finite width", draw.ORANGE, "dot"),
    "final_error": ("frozen final kernel, fresh data", draw.OCHRE, "solid"),
    "compressed_error": ("frozen initial kernel, compressed data", draw.VIOLET, "dash"),
    "feature_error": ("feature-learning network", draw.GREEN, "solid"),
}


def _errors(dataset: Data) -> Figure:
    caption = (
        "Test error against the number p of training points for the stripe in d dimensions; "
        "medians over seeds, bars hold the middle half. The network that learns features makes far "
        "fewer errors than the kernel it starts from. That kernel catches up once the irrelevant "
        "directions of the data are shrunk by the factor the network reached at t* (dashed), and "
        "the kernel after training comes close to the network on points it never saw: what was "
        "learned is mostly the compression. Grey: the exponents predicted for large p."
    )
    ran = judge.need(dataset, *CURVES)
    panels = [f"d = {d}" for d in ran.d.values]
    figure = _medians.axes(
        "test error (fraction)", ticks=ran.n_train, panels=panels, caption=caption
    )
    for panel, (d, _, here) in enumerate(draw.each(ran, "d"), start=1):
        slopes = {
            "initial_error": (-rg.theory.beta_lazy(d), "-d/(3d-2)"),
            "feature_error": (-rg.theory.beta_feature(d, d - 1), "-(2d-1)/(3d-2)"),
        }
        for name, (label, color, dash) in CURVES.items():
            slope, formula = slopes.get(name, (None, ""))
            told = f"slope {formula} = {slope:.3f}" if slope else ""
            _medians.curve(
                figure,
                here[name],
                label,
                slope=slope,
                told=told,
                panel=panel,
                color=color,
                dash=dash,
            )
    return figure


def _amplification(dataset: Data) -> Figure:
    caption = (
        "How much more weight the informative direction carries than the others, when a tenth of "
        "the points is fitted (t*) and at its largest in the run; medians over seeds, bars hold "
        "the middle half. Most runs amplify further while they fit the points near the interfaces. "
        "Grey: the predicted growth as the root of p."
    )
    ran = judge.need(dataset, "amplification_star")
    figure = _medians.axes("amplification Lambda", ticks=ran.n_train, caption=caption)
    for d, color, here in draw.each(ran, "d"):
        star, most = here.amplification_star, here.amplification_max
        name = f"at t*, d = {d}"
        _medians.curve(figure, star, name, slope=0.5, told="slope 1/2", color=color)
        _medians.curve(figure, most, f"largest, d = {d}", color=color, dash="dash")
    return figure


FIGURES = {
    "Learning curves": _errors,
    "Amplification at t* and at its largest": _amplification,
}
