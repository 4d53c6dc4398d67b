"""Figures of the foundations that need training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from regimes.studies.regimes.foundations._ends import LATER, OUTPUT
from regimes.studies.regimes.foundations._start_figures import (
    COLOURS,
    POWER,
    add_guide,
    add_seeds,
    log_figure,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr


def moved_figure(at: xr.Dataset) -> go.Figure:
    """Change of the pre-activations by layer, at fixed at and at fixed alpha."""
    from plotly.subplots import make_subplots

    widths, moved = at.move_width.values, at.moved.values  # (form, width, layer, seed)
    figure = make_subplots(
        rows=1,
        cols=2,
        subplot_titles=("mean-field, ã = 1", "NTK, α = 100"),
        horizontal_spacing=0.12,
    )
    for form in range(2):
        for layer in range(moved.shape[2]):
            add_seeds(
                figure,
                widths,
                moved[form, :, layer].T,
                f"layer {layer + 1}",
                COLOURS[layer],
                row=1,
                col=form + 1,
            )
    add_guide(figure, widths, 1.5 * float(moved[1, 0].max()), -0.5, "slope -1/2", row=1, col=2)
    for trace in figure.data:  # the left panel has the same layers
        trace.showlegend = bool(trace.showlegend is not False and trace.xaxis != "x")
    ticks = {"tickvals": widths, "ticktext": [f"{width:g}" for width in widths]}
    figure.update_xaxes(title="width h", **POWER, **ticks)
    figure.update_yaxes(**POWER)
    figure.update_yaxes(title="rms change of z at the end", row=1, col=1)
    logs = np.log10(moved)
    ends = [(logs[form].min(), logs[form].max()) for form in range(2)]
    reach = 0.55 * max(high - low for low, high in ends) + 0.1  # one span, so that flat looks flat
    for form, (low, high) in enumerate(ends, start=1):
        middle = (low + high) / 2
        figure.update_yaxes(range=[middle - reach, middle + reach], row=1, col=form)
    return figure.update_layout(
        meta={
            "caption": "How far training moves the pre-activations of three hidden layers (points "
            "are networks). In the mean-field form, the same as maximal update, every layer moves "
            "by an amount that does not depend on the width: features are learnt at any width. "
            "With a fixed output scale α the change falls as 1/√h: the network becomes lazy."
        }
    )


def descent_figure(at: xr.Dataset) -> go.Figure:
    """Distance to the flow against the step."""
    rates = float(at.step_end) / at.step_count.values
    figure = log_figure(
        "learning rate (flow time a step)",
        "distance from the flow / way gone",
        "Where the weights are at one and the same time, by descent with ever shorter steps "
        "(points: networks) and by SGD with batches of a tenth of the points (points: orderings). "
        "Both tend to the gradient flow; the error of plain descent is proportional to the step.",
        ticks=[float(f"{rate:.3g}") for rate in rates],
    )
    descent = at.descent_distance.values.T
    add_seeds(figure, rates, descent, "gradient descent", COLOURS[0])
    add_seeds(figure, rates, at.sgd_distance.values.T, "SGD", COLOURS[1])
    figure.add_scatter(
        x=rates,
        y=at.sgd_mean_distance.values,
        mode="lines+markers",
        line={"color": COLOURS[2]},
        name="mean of the SGD weights",
    )
    add_guide(figure, rates, float(descent[:, 0].mean()), 1.0, "slope 1")
    return figure


def density_figure(at: xr.Dataset) -> go.Figure:
    """Variance of the trained predictor against the width."""
    widths, variance = at.field_width.values, at.field_variance.values
    left_out = np.log(at.field_left_out.values)
    error = variance * np.sqrt((left_out.shape[1] - 1) * left_out.var(1))
    figure = log_figure(
        "width h",
        "variance of F over networks",
        "Networks of one hidden layer, trained in the feature regime (ã = 0.1) from different "
        "random weights: the variance of what they predict on test points. A network is a sample "
        "of h neurons from one density, so it falls as 1/h (bars: one standard error).",
        ticks=widths,
    )
    figure.add_scatter(
        x=widths,
        y=variance,
        error_y={"type": "data", "array": error},
        mode="lines+markers",
        line={"color": COLOURS[0]},
        name="measured",
    )
    add_guide(figure, widths, float(variance[0]), -1.0, "slope -1")
    return figure


def stopping_figure(at: xr.Dataset) -> go.Figure:
    """Loss and norm of the weights for three losses."""
    from plotly.subplots import make_subplots

    figure = make_subplots(
        rows=1, cols=2, subplot_titles=("training loss", "norm of the weights |w|")
    )
    small = int(np.argmin(at.stop_at.values))
    curves = at.stop_curves.values[small]  # (loss, column, mark)
    for j, name in enumerate(("soft hinge, b = 20", "hinge", "cross-entropy")):
        time, loss, weight = curves[j]
        shown = loss > 0  # the hinge ends at exactly zero
        for column, (x, y) in enumerate(((time[shown], loss[shown]), (time, weight)), start=1):
            figure.add_scatter(
                x=x,
                y=y,
                mode="lines",
                line={"color": COLOURS[j]},
                name=name,
                showlegend=column == 1,
                row=1,
                col=column,
            )
            if j < 2:
                figure.add_scatter(
                    x=x[-1:],
                    y=y[-1:],
                    mode="markers",
                    marker={"color": COLOURS[j], "symbol": "square", "size": 9},
                    showlegend=False,
                    hovertemplate=f"{name} has ended",
                    row=1,
                    col=column,
                )
    figure.update_xaxes(title="time / end of the soft hinge", **POWER, dtick=1)
    figure.update_yaxes(**POWER, dtick=1, row=1, col=1)
    return figure.update_layout(
        meta={
            "caption": f"One network (ã = {float(at.stop_at[small]):g}) trained with three losses. "
            "Losses with a margin stop for good once every point has it (squares; the hinge is "
            f"then exactly zero). The cross-entropy, followed to at least {LATER:g} times that, "
            "never reaches zero and its weights keep growing."
        }
    )


def steps_figure(at: xr.Dataset) -> go.Figure:
    """Both changes of the accepted steps against the step."""
    from plotly.subplots import make_subplots

    figure = make_subplots(
        rows=1,
        cols=2,
        subplot_titles=("largest change of an output", "relative change of the gradient, squared"),
    )
    shown = at.check_shown.values[0]  # softplus_5: (at, row, column)
    for i, scale in enumerate(at.check_at.values):
        for column in (1, 2):
            figure.add_scatter(
                x=shown[i, :, 0] + 1,
                y=shown[i, :, column],
                mode="markers",
                marker={"color": COLOURS[i % len(COLOURS)], "size": 4},
                name=f"ã = {scale:g}",
                showlegend=column == 1,
                row=1,
                col=column,
            )
    for column, bound in ((1, OUTPUT), (2, float(at.check_eps))):
        figure.add_scatter(
            x=[1, float(shown[..., 0].max()) + 1],
            y=[bound, bound],
            mode="lines",
            line={"dash": "dash", "color": "#333333"},
            name="bound",
            showlegend=column == 1,
            row=1,
            col=column,
        )
    figure.update_xaxes(title="step", **POWER, dtick=1)
    figure.update_yaxes(**POWER, dtick=2)
    return figure.update_layout(
        meta={
            "caption": "What every accepted step of the flow changed, computed anew from the "
            "weights before and after it. Both bounds hold throughout; the one on the gradient "
            "limits the steps nearly always."
        }
    )
