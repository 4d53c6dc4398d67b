"""Figures of neurons against their theory."""

import numpy as np

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.compression import _kinks
from regimes.studies.compression._attractors import CLASSES, COLOURS, NAMES, TABLE


def _one_neuron(dataset: Data) -> Figure:
    """Weights of one neuron in time, and those of its equation [Paccolat 2021, fig. 3a]."""
    caption = (
        "A neuron of a trained network (solid) and the equation of one neuron on infinitely many "
        "points plus this data set's sampling noise (dashed), from the same initial weights. They "
        "agree until t*: before any point is fitted, neurons do not know of each other. Dips are "
        "changes of sign. The uninformative w₂ falls behind until noise carries it along."
    )
    at = judge.need(dataset, "network_log", "theory_log", part="places").isel(followed=0)
    figure = draw.axes("time t / τ", "size of the weight", log="y", caption=caption)
    figure.update_yaxes(dtick=1)
    for weight, name in enumerate(("w₁", "w₂", "b", "β")):
        for variable, dash, whose in (
            ("network_log", "solid", "network"),
            ("theory_log", "dash", "equation"),
        ):
            size = np.exp(at[variable].isel(weight=weight))
            style = {"color": draw.COLORS[weight], "dash": dash}
            draw.line(figure, at.times, size, f"|{name}|, {whose}", **style)
    draw.level(figure, x=float(at.t_star[0]), text="t*")
    return figure


def _plane(dataset: Data) -> Figure:
    """Paths of z of a selection of neurons [Paccolat 2021, fig. 3c]."""
    caption = (
        "Each line is the path, from the start to t*, of the point z where a neuron's kink is "
        "nearest the origin; dots are the ends. Crosses are the three attractors that theory gives "
        "for the neurons' signs, the band is the stripe. Neurons that end away from the crosses "
        "are the slow ones."
    )
    at = judge.need(dataset, "z", "signs", part="places")
    figure = _kinks.plane(caption)
    for signs, name, color, (place, _) in zip(CLASSES, NAMES, COLOURS, TABLE[2], strict=True):
        z = at.z.values[:, (at.signs == signs).all("sign").values]
        _kinks.paths(figure, z, name, color)
        _kinks.attractor(figure, place, color)
    return figure


def _growth(dataset: Data) -> Figure:
    """Size of w_1 of the fastest class in time."""
    caption = (
        "Neurons with w₁ < 0, β > 0 in d = 5, the fastest class, until t*. After a while of "
        "gathering at the attractor they grow exponentially; the dashed line has the rate 1/τ* "
        "that theory gives there."
    )
    at = judge.need(dataset, "growth_times", "growth_size", part="growth")
    times, size, rate = at.growth_times.values, at.growth_size.values, float(at.rate)
    figure = draw.axes("time t / τ", "rms of w₁", log="y", caption=caption)
    figure.update_yaxes(dtick=1)
    draw.line(figure, times, size, "network", color=draw.BLUE)
    late, anchor = times[times >= times[-1] / 3], int(len(times) * 2 / 3)
    predicted = size[anchor] * np.exp(rate * (late - times[anchor]))
    name = f"theory: exp({rate:.3f} t/τ)"
    draw.line(figure, late, predicted, name, color=draw.INK, dash="dash")
    return figure


FIGURES = {
    "One neuron and its equation (fig. 3a)": _one_neuron,
    "Kinks move to three places (fig. 3c)": _plane,
    "Exponential growth before t*": _growth,
}
