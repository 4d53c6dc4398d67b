"""Errors of round trips, the cost of a correlation, what symmetry is worth, filters."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Figure, draw, judge


def _round_trips(dataset: Data) -> Figure:
    caption = (
        "Random coefficients of all orders below the bandwidth b become a signal on the grid and "
        "coefficients again: the largest difference, relative to the largest coefficient. Points: "
        "geometric mean over seeds. It is rounding, and grows slowly. Grey: the weights of the "
        "grid's latitudes, which integrate all polynomials of degree below 2b."
    )
    figure = draw.axes("bandwidth b", "relative error", log="xy", caption=caption, legend="below")
    for k, (name, title) in enumerate((("s2", "sphere"), ("so3", "SO(3)"))):
        at = judge.where_ran(dataset, "seed", f"{name}_round_trip")
        found = at[f"{name}_round_trip"].transpose("seed", f"{name}_b", "precision")
        for p, precision in enumerate(("float32", "float64")):
            draw.curve(
                figure,
                found[:, :, p],
                f"{name}_b",
                f"{title}, {precision}",
                center="geometric",
                color=draw.COLORS[k],
                dash=draw.DASHES[p],
            )
    at = judge.where_ran(dataset, "seed", "quadrature")
    worst = at.quadrature.transpose("seed", "s2_b").values.max(0)
    shown = np.maximum(worst, 1e-17)
    draw.line(figure, at.s2_b.values, shown, "quadrature", color="#8a8a8a", dash="dot")
    return figure


def _cost(dataset: Data) -> Figure:
    caption = (
        "CPU seconds of one correlation of one channel on SO(3): through transforms and products, "
        "and directly, by turning the filter to every rotation of the grid and integrating. "
        "Geometric mean over seeds. The direct way takes hundreds of times as long at the smallest "
        "grids, and its disadvantage grows."
    )
    figure = draw.axes("bandwidth b", "seconds", log="xy", caption=caption)
    at = judge.where_ran(dataset, "seed", "direct_seconds")
    for name, title, color in (
        ("direct_seconds", "directly", draw.ORANGE),
        ("spectral_seconds", "through the transform", draw.BLUE),
    ):
        draw.curve(
            figure,
            at[name].transpose("seed", "cost_b"),
            "cost_b",
            title,
            center="geometric",
            color=color,
        )
    figure.update_xaxes(tickvals=at.cost_b.values, ticktext=[str(int(b)) for b in at.cost_b.values])
    return figure


def _samples(dataset: Data) -> Figure:
    at = judge.where_ran(dataset, "seed", "mse")
    groups = at.group.values.tolist()
    caption = (
        "Test error against the number of training points, for a target that m shifts of the "
        "coordinates leave as it is. Orange: a Laplace kernel. Blue: its mean over the shifts. "
        "Dashed: the orange curve moved left by m, which is what the claim says the blue one is. "
        "Geometric mean over seeds."
    )
    figure = draw.axes(
        "training points",
        "mean squared error / variance",
        log="xy",
        panels=[f"m = {m:g}" for m in groups],
        shared="y",
        caption=caption,
        legend="below",
    )
    for k, m in enumerate(groups):
        found = at.mse.isel(group=k).transpose("seed", "kernel", "n_train")
        plain = draw.curve(
            figure,
            found[:, 0],
            "n_train",
            "plain kernel",
            center="geometric",
            color=draw.ORANGE,
            panel=k + 1,
        )
        draw.curve(
            figure,
            found[:, 1],
            "n_train",
            "invariant kernel",
            center="geometric",
            color=draw.BLUE,
            panel=k + 1,
        )
        draw.line(
            figure,
            at.n_train.values / m,
            plain,
            "plain, m times fewer points",
            color=draw.ORANGE,
            dash="dash",
            panel=k + 1,
        )
    return figure


def _pictures(dataset: Data) -> Figure:
    caption = (
        "The sphere seen from above its north pole; red positive, blue negative. Above: a digit, a "
        "filter near the pole, the classical convolution of the two, and their correlation (with "
        "the filter held along the meridians). Below: the same with the filter turned by a "
        "quarter. The convolution only sees the mean of the filter over such turns, so that "
        "nothing changes; the correlation finds edges across the filter's direction."
    )
    at = judge.where_ran(dataset, "seed", "pictures").isel(seed=0)
    made = at.pictures.transpose("turned", "picture", "row", "column").values.astype(float)
    digit = np.broadcast_to(at.digit.values.astype(float), (len(made), 1, *made.shape[2:]))
    shown = np.concatenate([digit, made], 1)
    titles = ("digit", "filter", "classical convolution", "correlation")
    figure = draw.axes("", "", caption=caption, height=470)
    for down, row in enumerate(shown):
        for k, picture in enumerate(row):
            size = float(np.abs(shown[:, k]).max()) or 1.0
            draw.picture(figure, _coloured(picture / size), k, -down, 0.94, 0.94)
    figure.add_scatter(x=[0, 3], y=[0, -1], mode="markers", marker={"opacity": 0})
    figure.update_layout(showlegend=False)
    figure.update_xaxes(
        tickvals=[0, 1, 2, 3], ticktext=titles, range=[-0.55, 3.55], showgrid=False, zeroline=False
    )
    figure.update_yaxes(
        tickvals=[0, -1],
        ticktext=["filter", "filter turned"],
        range=[-1.55, 0.55],
        scaleanchor="x",
        showgrid=False,
        zeroline=False,
    )
    return figure


def _coloured(values: np.ndarray) -> np.ndarray:
    """Red for 1, white for 0, blue for -1."""
    up, down = np.clip(values, 0, 1)[..., None], np.clip(-values, 0, 1)[..., None]
    red, blue = np.array([0.75, 0.15, 0.15]), np.array([0.1, 0.3, 0.75])
    return 1 - up * (1 - red) - down * (1 - blue)


FIGURES = {
    "Round trips": _round_trips,
    "Cost of a correlation": _cost,
    "What invariance is worth": _samples,
    "Filters on the sphere": _pictures,
}
