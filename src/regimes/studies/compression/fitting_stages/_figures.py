"""One network's function at three stages, and its loss in time, after [Paccolat 2021, fig. 4]."""

import numpy as np

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.compression._attractors import EDGES
from regimes.studies.compression.fitting_stages._claims import STAGES


def _profiles(dataset: Data) -> Figure:
    caption = (
        "One network in d = 2. Top: its function along the informative axis; the band is the "
        "stripe, where y = -1, and dotted lines are the margins ±1. Bottom: where each neuron's "
        "kink crosses the axis, and how much it contributes. At t* few groups of neurons at the "
        "attractors make a function that is right far from the stripe only. The groups then move "
        "along the axis until the function passes zero at both interfaces; they stay few."
    )
    first = judge.need(dataset, "profile").isel(seed=0)
    times = zip(STAGES, first.stage_time.values, strict=True)
    figure = draw.axes(
        ["", "", "", *["x₁ (standard deviations)"] * 3],
        ["F(x₁, 0)", "", "", "|β||w| / largest"],
        panels=[*(f"{name}: t = {time:.3g} τ" for name, time in times), "", "", ""],
        columns=3,
        shared="x",
        legend="below",
        height=620,
        caption=caption,
    )
    figure.update_xaxes(range=[-3, 3])
    figure.update_yaxes(domain=[0.3, 1.0], row=1).update_yaxes(domain=[0.0, 0.24], row=2)
    for top in (1, 2, 3):
        at, bottom = first.isel(stage=top - 1), top + 3
        draw.line(figure, at.x1, at.profile, "F(x₁, 0)", color=draw.BLUE, panel=top)
        draw.points(
            figure,
            at.zeta,
            at.amplitude / at.amplitude.max(),
            "neurons at ζ₁, by amplitude |β||w|",
            color=draw.GREEN,
            size=4,
            opacity=0.6,
            panel=bottom,
        )
        for panel in (top, bottom):
            draw.band(figure, *EDGES, color=draw.ORANGE, panel=panel)
        for margin in (-1, 1):
            draw.level(figure, y=margin, panel=top)
        depth = -float(at.profile.min())
        bounds = [-max(1.3, 1.15 * depth), max(2.0, 2 * depth)]
        figure.update_yaxes(range=bounds, **draw.place(figure, top))
    return figure


def _curves(dataset: Data) -> Figure:
    caption = (
        "The same network. Nothing is learnt until t*, while weights grow and align (dashed: the "
        "times of the figure above). Then loss and test error fall together: the compression made "
        "before t* is what the fit starts from."
    )
    ran = judge.need(dataset, "loss", "error", "stage_time")
    figure = draw.axes("time t / τ", "loss, error", log="xy", caption=caption)
    figure.update_xaxes(dtick=1).update_yaxes(dtick=1)
    stages = ran.stage_time.isel(seed=0).values
    for name, label, color in (
        ("loss", "training loss (mean hinge)", draw.BLUE),
        ("error", "test error (fraction)", draw.RED),
    ):
        times, values = ran[f"{name}_times"].values, ran[name].values
        later = times > stages[0] / 20
        draw.line(figure, times[later], values[later], label, color=color)
    for name, time in zip(STAGES, stages, strict=True):
        draw.level(figure, x=float(time), dash="dash")
        draw.words(figure, name, float(np.log10(time)), 1.0, yref="paper", xanchor="right")
    return figure


FIGURES = {
    "The function along the informative axis (fig. 4)": _profiles,
    "Loss and test error in time (fig. 4)": _curves,
}
