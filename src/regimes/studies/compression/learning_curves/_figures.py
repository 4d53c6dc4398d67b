"""Fig. 2: test errors against the number of points, and the amplification of the same runs."""

from typing import Any

import numpy as np

from regimes.lab import Data, Figure, Values, draw
from regimes.lab.judge import need

POINTS = "training points p"
CURVES = {  # variable: name, colour, dash
    "initial_error": ("frozen initial kernel", draw.ORANGE, "solid"),
    "own_error": ("frozen initial kernel, finite width", draw.ORANGE, "dot"),
    "final_error": ("frozen final kernel, fresh data", draw.OCHRE, "solid"),
    "compressed_error": ("frozen initial kernel, compressed data", draw.VIOLET, "dash"),
    "feature_error": ("feature-learning network", draw.GREEN, "solid"),
}


def _errors(dataset: Data) -> Figure:
    from regimes.theory import beta_feature, beta_lazy

    caption = (
        "Test error against the number p of training points for the stripe in d dimensions; "
        "medians over seeds, bars hold the middle half. The network that learns features makes far "
        "fewer errors than the kernel it starts from. That kernel catches up once the irrelevant "
        "directions of the data are shrunk by the factor the network reached at t* (dashed), and "
        "the kernel after training comes close to the network on points it never saw: what was "
        "learned is mostly the compression. Grey: the exponents predicted for large p."
    )
    ran = need(dataset, *CURVES)
    panels = [f"d = {d}" for d in ran.d.values]
    figure = _axes("test error (fraction)", ran, caption, panels=panels)
    for panel, (d, _, here) in enumerate(draw.each(ran, "d"), start=1):
        for name, (label, color, dash) in CURVES.items():
            _medians(figure, here[name], label, color=color, dash=dash, panel=panel)
        lazy, feature = beta_lazy(d), beta_feature(d, d - 1)
        _slope(figure, here.initial_error, -lazy, f"slope -d/(3d-2) = -{lazy:.3f}", panel)
        name = f"slope -(2d-1)/(3d-2) = -{feature:.3f}"
        _slope(figure, here.feature_error, -feature, name, panel)
    return figure


def _amplification(dataset: Data) -> Figure:
    caption = (
        "How much more weight the informative direction carries than the others, when a tenth of "
        "the points is fitted (t*) and at its largest in the run; medians over seeds, bars hold "
        "the middle half. Most runs amplify further while they fit the points near the interfaces. "
        "Grey: the predicted growth as the root of p."
    )
    ran = need(dataset, "amplification_star")
    figure = _axes("amplification Lambda", ran, caption)
    for d, color, here in draw.each(ran, "d"):
        _medians(figure, here.amplification_star, f"at t*, d = {d}", color=color)
        _medians(figure, here.amplification_max, f"largest, d = {d}", color=color, dash="dash")
        _slope(figure, here.amplification_star, 0.5, "slope 1/2")
    return figure


def _axes(title: str, ran: Data, caption: str, **options: Any) -> Figure:
    figure = draw.axes(POINTS, title, log="xy", ticks=ran.n_train, caption=caption, **options)
    return figure.update_yaxes(dtick="D2")


def _medians(figure: Figure, data: Values, name: str, **style: Any) -> None:
    draw.curve(figure, data, "n_train", name, center="median", **style)


def _slope(figure: Figure, data: Values, slope: float, name: str, panel: int = 1) -> None:
    """The predicted slope below a curve, hung at its last point: it is that of large p."""
    middle = data.median("seed").dropna("n_train")
    if middle.size:
        through = (float(middle.n_train[-1]), 0.75 * float(middle[-1]))
        draw.guide(figure, np.asarray(middle.n_train), slope, through, name, panel=panel)


FIGURES = {
    "Learning curves": _errors,
    "Amplification at t* and at its largest": _amplification,
}
