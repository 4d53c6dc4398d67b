"""Figures of the scan over alpha: the crossover, neurons aligning, neurons at the end."""

import numpy as np

from regimes.lab import Data, Figure, draw, judge

TIMES = np.logspace(-2, 2, 41)  # in units of t*, where the course of a run is kept
PANELS = (
    "test error",
    "time t* to fit 10 % (units of tau)",
    "amplification of the informative direction",
    "relative change of the tangent kernel",
)
LINES = (  # variable, name, panel, colour
    ("test_error", "test error", 1, draw.GREEN),
    ("t_star", "t*", 2, draw.BLUE),
    ("amplification_star", "Λ at t*", 3, draw.ORANGE),
    ("amplification_max", "largest Λ", 3, draw.RED),
    ("kernel_change", "kernel change", 4, draw.VIOLET),
)


def _crossover(dataset: Data) -> Figure:
    caption = (
        "Left end: feature learning. The output is scaled down so much that the weights must grow "
        "before anything is fitted; on the way the network turns into the one direction that "
        "matters (large Λ), its kernel changes beyond recognition, and the test error is a "
        "fraction of the lazy one. Right end: lazy training. t* falls as 1/alpha, the weights and "
        "the kernel stay where they were, and the error is that of the frozen initial kernel "
        "(dashed). Between them lies the crossover. Mean and standard error over seeds of data "
        "and initialisation."
    )
    ran = judge.where_ran(dataset, "seed", "test_error")
    figure = draw.axes(
        "alpha", "", log="xy", panels=PANELS, columns=2, caption=caption, height=760, legend="below"
    )
    for variable, name, panel, color in LINES:
        draw.curve(figure, ran[variable], "alpha", name, panel=panel, color=color)
    alpha, style = ran.alpha.values, {"color": draw.SOFT, "dash": "dash"}
    error, lazy = float(ran.frozen_error.mean()), float(ran.frozen_t_star.mean())
    draw.line(figure, alpha[[0, -1]], [error, error], "frozen initial kernel", **style)
    large = alpha[alpha >= 1.0]
    draw.line(figure, large, lazy / large, "frozen kernel, 1/alpha", panel=2, **style)
    return figure.update_layout(legend_y=-0.16)


def _aligning(dataset: Data) -> Figure:
    caption = (
        "How much of the first layer, each neuron counted by its effect on the output, points "
        "along the one informative direction. It starts at about 1/d. In the feature regime (blue) "
        "it has risen before the first points are fitted at t*; in the lazy regime (red) it never "
        "moves."
    )
    share = judge.where_ran(dataset, "seed", "share").share.mean("seed")
    title = "share of the weights in the informative direction"
    figure = draw.axes("time t / t*", title, log="x", caption=caption)
    for alpha, color, course in draw.each(share, "alpha", draw.shades(share.sizes["alpha"])):
        draw.line(figure, TIMES, course, f"alpha = {alpha:.0e}", color=color)
    draw.level(figure, x=1.0, text="t*")
    return figure.update_yaxes(range=[0, 1.02])


def _neurons(dataset: Data) -> Figure:
    """One network, alpha by slider."""
    caption = (
        "Neurons of one network after training: length of the weight vector across the "
        "uninformative directions against its component along the informative one, in units of "
        "the mean length. Move the slider: at small alpha the neurons that grew lie on the "
        "vertical axis, at large alpha they stay in the cloud they started as."
    )
    network = judge.where_ran(dataset, "seed", "informative").isel(seed=0)
    figure = draw.axes("|w⊥| (mean length)", "w₁ (mean length)", caption=caption, height=520)
    figure.update_xaxes(range=[-0.1, 3]).update_yaxes(range=[-6, 6])
    clouds = {
        f"{alpha:.0e}": (at.uninformative.values, at.informative.values)
        for alpha, _, at in draw.each(network, "alpha")
    }
    told = "|w_perp| %{x:.2f}<br>w_1 %{y:.2f}"
    first = next(iter(clouds.values()))
    draw.points(figure, *first, color=draw.BLUE, size=6, opacity=0.6, hovertemplate=told)
    frames = {name: [cloud] for name, cloud in clouds.items()}
    return draw.film(figure, frames, [0], told="alpha = ", play=False)


FIGURES = {
    "From feature learning to lazy training": _crossover,
    "Neurons aligning": _aligning,
    "Neurons at the end of training": _neurons,
}
