"""Spectra, gaps and kinks of jammed minima."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.landscape.minima._claims import jammed, kinks
from regimes.studies.landscape.minima._spectra import BINS, GAPS, OVERLAPS, REACH, SHOWN, TAUS

NAMES = {
    "relu-2": "relu, two hidden layers",
    "relu-3": "relu, three hidden layers",
    "tanh-3": "tanh, three hidden layers",
    "parity-2": "relu, two layers, digits",
}
PARTS = ("H0", "Hp", "H")


def _spectra(dataset: Data) -> Figure:
    caption = (
        "Density of the eigenvalues of the Hessian of the loss at jammed minima, H = H0 + Hp, by "
        "size: positive ones solid, negative ones dashed. H0, seen through the linearised network, "
        "has none that are negative; a gap lies between its continuum and its zeros, which are off "
        "the scale to the left. Hp, from the curvature of the network itself, is symmetric about "
        "zero for relu: both lines coincide. In their sum H few negative eigenvalues are left."
    )
    networks = [name for name in ("relu-2", "tanh-3", "parity-2") if _some(dataset, name)]
    if not networks:
        raise judge.Missing("no network is jammed")
    figure = draw.axes(
        "|eigenvalue|",
        "density per decade",
        log="xy",
        caption=caption,
        panels=[f"{part}: {NAMES[name]}" for name in networks for part in PARTS],
        columns=3,
        shared="y",
        height=280 * len(networks),
    )
    for row, network in enumerate(networks):
        own, mask = jammed(dataset, network, 1)
        # some seeds of each P were kept whole
        values = own.eigenvalues.transpose("excess", "kept", "part", "eigenvalue").values
        held = values[mask[:, : values.shape[1]]]
        for k in range(3):
            panel = 3 * row + k + 1
            _by_size(figure, held[:, k].ravel(), panel)
    return figure


def _some(dataset: Data, network: str) -> bool:
    with suppress(judge.Missing):
        own, mask = jammed(dataset, network, 1)
        return bool(mask[:, : own.sizes["kept"]].any())
    return False


def _by_size(figure: Figure, values: np.ndarray, panel: int) -> None:
    values = values[np.isfinite(values)]
    largest = np.abs(values).max()
    edges = np.geomspace(1e-8 * largest, 1.0001 * largest, 49)
    middle = np.sqrt(edges[1:] * edges[:-1])
    for name, sign, dash in (("positive", 1.0, "solid"), ("negative", -1.0, "dash")):
        counts = np.histogram(sign * values, edges)[0] / len(values) * 6
        seen = counts > 0
        style = {"color": draw.COLORS[0] if sign > 0 else draw.COLORS[1], "dash": dash}
        draw.line(figure, middle[seen], counts[seen], name, panel=panel, **style)


def _scales(dataset: Data) -> Figure:
    caption = (
        "Standard deviation of the eigenvalues of Hp against the loss at the end, a point for "
        "every jammed run. Hp is a sum over the unfitted points weighed by how far each is from "
        "its margin, so its eigenvalues go with the root of the loss (dashed)."
    )
    figure = draw.axes("loss", "spread of the eigenvalues of Hp", log="xy", caption=caption)
    for (network, name), color in zip(NAMES.items(), draw.COLORS, strict=False):
        with suppress(judge.Missing):
            own, mask = jammed(dataset, network, 1)
            loss, spread = own.end_loss.values[mask], own.hp_spread.values[mask]
            draw.points(figure, loss, spread, name, color=color, size=5)
            if network == "relu-2":
                draw.guide(figure, loss, 0.5, (float(np.median(loss)), float(np.median(spread))))
    return figure


def _margins(dataset: Data) -> Figure:
    caption = (
        "Left: how far fitted points lie beyond their margin. Right: how far the others fall "
        "short, in units of the root of the loss, in runs with a loss below 1e-4. Near zero both "
        "densities are power laws; dashed the exponents of the paper for relu, shaded the windows "
        "in which they are measured."
    )
    figure = draw.axes(
        ["gap beyond the margin", "overlap / root of the loss"],
        "density",
        log="xy",
        caption=caption,
        panels=("gaps of fitted points", "overlaps of the others"),
    )
    bins = 10 * round(np.log10(SHOWN[1] / SHOWN[0]))
    edges = np.geomspace(*SHOWN, bins + 1)
    middle = np.sqrt(edges[1:] * edges[:-1])
    for panel, (kind, window, slope) in enumerate(
        (("gap", GAPS, -0.2), ("overlap", OVERLAPS, 0.3)), start=1
    ):
        draw.band(figure, *window, panel=panel)
        for (network, name), color in zip(NAMES.items(), draw.COLORS, strict=False):
            with suppress(judge.Missing):
                own, mask = jammed(dataset, network, 1)
                runs = mask & (own.end_loss.values < 1e-4) if kind == "overlap" else mask
                counts = own[f"{kind}_bins"].transpose("excess", "seed", "decade").values[runs]
                total = np.nansum(counts, 0)
                if not total.sum():
                    continue
                density = total / total.sum() / np.diff(edges)
                seen = total > 2
                style = {"color": color, "panel": panel}
                draw.line(figure, middle[seen], density[seen], name, **style)
                if network == "relu-2":
                    at = int(np.argmin(np.abs(np.log(middle / window[0]))))
                    ends = np.array(window) / np.array([10.0, 1.0])
                    through = (float(middle[at]), float(density[at]))
                    draw.guide(figure, ends, slope, through, f"slope {slope:g}", panel=panel)
    return figure


def _kinks(dataset: Data) -> Figure:
    caption = (
        "Left: pre-activations of jammed relu networks in units of their root mean square. On the "
        "points of training many sit at zero, on the kink of the activation; on fresh points of "
        "the same law none do. Right: how many there are within tau of zero beyond a smooth "
        "background, per parameter, against tau."
    )
    own, mask = jammed(dataset, "relu-2", 1)
    figure = draw.axes(
        ["pre-activation", "tau"],
        ["density", "neurons on their kink per parameter"],
        caption=caption,
        panels=("pre-activations, first layer", "number at zero"),
    )
    figure.update_xaxes(type="log", row=1, col=2)
    middle = (np.arange(BINS) + 0.5) * 2 * REACH / BINS - REACH
    for name, color in (("train", draw.COLORS[0]), ("fresh", draw.COLORS[1])):
        label = "points of training" if name == "train" else "fresh points"
        bulk = own[f"{name}_bulk"].transpose("excess", "layer", "bin").values[-1, 0]
        draw.line(figure, middle, bulk, label, color=color, panel=1)
        shares = [np.mean(kinks(own, name, tau)[mask]) for tau in TAUS]
        draw.points(figure, TAUS, shares, label, color=color, mode="lines+markers", panel=2)
    return figure


FIGURES = {
    "The three spectra of jammed minima": _spectra,
    "Scale of Hp against the loss": _scales,
    "Distances from the margin": _margins,
    "Neurons on their kinks": _kinks,
}
