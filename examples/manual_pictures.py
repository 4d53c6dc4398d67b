"""Make the pictures of the manual's page of words, from the library itself.

    python examples/manual_pictures.py --out docs/pictures

Half a minute on one core; the pictures are committed, and change only when this is run.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch
from svg import BLUE, GOLD, GREEN, GREY, RED, VIOLET, Panel, picture

import regimes as rg

SMALL, LARGE = 1e-4, 1e3
ALPHAS = [SMALL, 1e-2, 1.0, 1e1, LARGE]


def trained() -> tuple[Any, Any, Any]:
    """One network trained at five scales until a tenth of the points is fitted."""
    ds = rg.data.stripe(n_train=200, n_test=200, d=2, seed=0, dtype=torch.float64)
    net = rg.nets.FullyConnected(
        2, 150, parametrization="mean_field", bias=True, seed=0, dtype=torch.float64
    )
    run = rg.flow.gradient_flow(net, ds, loss="hinge", alpha=ALPHAS, until="halved")
    return ds, net, run


def after(net: Any, run: Any, member: int) -> Any:
    """The network with the parameters of one member at its end."""
    state = {name: values[member] for name, values in run.parameters.items()}
    copy = rg.nets.FullyConnected(
        2, 150, parametrization="mean_field", bias=True, seed=0, dtype=torch.float64
    )
    copy.load_state_dict(state)
    return copy


def neurons(net: Any, run: Any, member: int, title: str) -> str:
    """Weights of the first layer at the start and at the end, in units of their size."""
    first = net.state_dict()["layers.0.weight"]
    last = run.parameters["layers.0.weight"][member]
    panels = []
    for when, weights, colour in (("start", first, GREY), (title, last, BLUE)):
        size = float(weights.pow(2).mean().sqrt())
        panel = Panel(when, ("w₁, informative", -4, 4), ("w₂, not", -4, 4))
        w1, w2 = (weights / size).clamp(-4, 4).T.tolist()
        panel.points(w1, w2, colour)
        panels.append(panel)
    return picture(*panels)


def kernel(ds: Any, net: Any, run: Any) -> str:
    """The Gram of 60 points sorted along x_1, before and after, as correlations."""
    order = ds.x_train[:60, 0].argsort()
    x = ds.x_train[:60][order]
    panels = []
    for when, network in (("at the start", net), ("after feature learning", after(net, run, 0))):
        gram = rg.tangent.TangentKernel(network)(x)
        size = gram.diagonal().sqrt()
        panel = Panel(when, ("points, along x₁", 0, 1), ("points, along x₁", 0, 1))
        panel.image((gram / size[:, None] / size).numpy())
        panels.append(panel)
    return picture(*panels, ticks=False)


def scale(ds: Any, net: Any, run: Any) -> str:
    """How far the kernel has moved at each alpha."""
    first = rg.tangent.TangentKernel(net)(ds.x_test)
    moved = [
        float(
            rg.measure.kernel_change(rg.tangent.TangentKernel(after(net, run, i))(ds.x_test), first)
        )
        for i in range(len(ALPHAS))
    ]
    top = 10 ** np.ceil(np.log10(max(moved)))
    panel = Panel(
        "one network, five α", ("α", 1e-4, 1e3), ("change of the kernel", 1e-4, top), log="xy"
    )
    panel.curve(ALPHAS, moved, BLUE)
    panel.points(ALPHAS, moved, BLUE, r=4)
    panel.note(2e-4, 1e-2, "feature", RED)
    panel.note(5e2, 1e-1, "lazy", GREEN, "end")
    return picture(panel)


def times(run: Any) -> str:
    """The loss of three members, with t* marked on each."""
    panel = Panel("● marks t*", ("time", 1e-3, 1e5), ("mean loss", 0, 1.05), log="x")
    for member, colour, at in ((0, RED, 1.2e-3), (1, VIOLET, 0.5), (4, BLUE, 8e2)):
        t, loss = run.times[member], run.losses[member]
        seen = (t > 1e-3) & t.isfinite()
        t, loss = t[seen], loss[seen]
        keep = slice(None, None, max(1, len(t) // 150))
        panel.curve(t[keep].tolist(), loss[keep].tolist(), colour)
        panel.note(at, 0.35, f"α = {ALPHAS[member]:g}", colour)
        star = float(run.event_times["t_star"][member])
        panel.points([star], [float(np.interp(star, t, loss))], colour, r=5)
    return picture(panel)


def width() -> str:
    """How much the kernel of a fresh network depends on its seed, against its width."""
    x = rg.data.stripe(n_train=40, n_test=1, d=5, seed=0, dtype=torch.float64).x_train
    widths = [8, 32, 128, 512, 2048]
    spread = []
    for h in widths:
        nets = [rg.nets.FullyConnected(5, h, seed=seed, dtype=torch.float64) for seed in range(30)]
        members = rg.nets.stack(nets)
        grams = rg.tangent.stacked_gram(members, x)
        mean = grams.mean(0)
        spread.append(float((grams - mean).norm(dim=(1, 2)).pow(2).mean().sqrt() / mean.norm()))
    panel = Panel(
        "30 seeds at each width", ("h", 5, 4000), ("spread of the kernel", 5e-3, 1), log="xy"
    )
    panel.curve(widths, [spread[0] * (h / widths[0]) ** -0.5 for h in widths], GREY, dash="4 4")
    panel.note(700, 0.2, "h⁻¹ᐟ²", GREY)
    panel.points(widths, spread, BLUE, r=4)
    return picture(panel)


def jammed() -> str:
    """Training points without their margin at the end, against width: a recorded study."""
    data = rg.lab.load("regimes/phase-diagram", "cpu")
    panel = Panel("MNIST, recorded", ("h", 2.5, 250), ("unfitted points", 0, 120), log="x")
    for at, colour in ((1.0, RED), (100.0, BLUE)):
        line = data.unfitted.sel(scale=at).mean("seed")
        panel.curve(line.width.values.tolist(), line.values.tolist(), colour)
        panel.points(line.width.values.tolist(), line.values.tolist(), colour)
    panel.note(40, 90, "√h α = 1", RED)
    panel.note(40, 76, "√h α = 100", BLUE)
    panel.note(4.5, 100, "jammed", GOLD)
    return picture(panel)


def main() -> None:
    """Write all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="docs/pictures")
    folder = Path(parser.parse_args().out)
    folder.mkdir(parents=True, exist_ok=True)
    ds, net, run = trained()
    drawn = {
        "kernel": kernel(ds, net, run),
        "feature": neurons(net, run, 0, f"fitted with α = {SMALL:g}"),
        "lazy": neurons(net, run, len(ALPHAS) - 1, f"fitted with α = {LARGE:g}"),
        "alpha": scale(ds, net, run),
        "t-star": times(run),
        "h": width(),
        "jammed": jammed(),
    }
    for name, text in drawn.items():
        path = folder / f"{name}.svg"
        path.write_text(text, encoding="utf-8")
        print(f"{path}: {len(text) / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
