"""Draw the built-in data sets and the networks at initialisation, as one HTML page.

Run by `make demo`. Everything here uses the public names only, so it is also a tour of them.
"""

from __future__ import annotations

import argparse
import html
import importlib.metadata
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import torch
from plotly.subplots import make_subplots
from rich.console import Console

import regimes as rg

COLOURS = {-1: "#e4572e", 1: "#2e86ab"}
PALETTE = ["#2e86ab", "#e4572e", "#3a9d5d", "#8e5ea2", "#d99c1e", "#5c6b7a", "#c2528b", "#2aa198"]
IMAGE_SETS = ("digits", "mnist", "fashion_mnist", "kmnist", "cifar10")


def scatter(x: torch.Tensor, y: torch.Tensor, size: float = 4) -> list[go.Scatter]:
    """Points in the plane of the first two coordinates, one trace per label."""
    return [
        go.Scatter(
            x=x[y == label, 0].tolist(),
            y=x[y == label, 1].tolist(),
            mode="markers",
            marker={"size": size, "color": colour, "opacity": 0.75},
            name=f"y = {label:+d}",
            showlegend=False,
        )
        for label, colour in COLOURS.items()
    ]


def synthetic_sets() -> go.Figure:
    """Eight synthetic sets side by side."""
    direction = torch.tensor([1.0, 0.6])
    stripe = rg.data.stripe(n_train=900, n_test=1, d=2, seed=0)
    sets = {
        "stripe: the label knows x₁ only": stripe,
        "several stripes": rg.data.stripe(900, 1, d=2, interfaces=(-1.2, -0.4, 0.4, 1.2)),
        "cylinder: |x∥| against 1.1774": rg.data.cylinder(n_train=900, n_test=1, d=3, seed=0),
        "disk of half the square": rg.data.disk(900, seed=0),
        "yin-yang": rg.data.disk(900, seed=0, variant="yin_yang_1"),
        "random labels": rg.data.random_labels(n_train=900, n_test=1, d=2, seed=0),
        "separable along u": rg.data.linearly_separable(direction, n_train=900, n_test=1),
        "the stripe, x⊥ compressed by 5": stripe.pipe(rg.data.compress(5.0, informative=1)),
    }
    figure = make_subplots(rows=2, cols=4, subplot_titles=list(sets), vertical_spacing=0.12)
    for index, ds in enumerate(sets.values()):
        for trace in scatter(ds.x_train, ds.y_train):
            figure.add_trace(trace, row=index // 4 + 1, col=index % 4 + 1)
    figure.update_xaxes(range=[-3, 3], zeroline=False)
    figure.update_yaxes(range=[-3, 3], zeroline=False)
    figure.update_layout(height=640)
    return figure


def image_sets() -> tuple[go.Figure, list[str]]:
    """Twelve images of each set at hand, and the names of those that are not."""
    found, missing = {}, []
    for name in IMAGE_SETS:
        at_hand = name == "digits" or "REGIMES_DATA" in os.environ
        if not at_hand:
            missing.append(name)
            continue
        options = {"pool": "test"} if name == "kmnist" else {}
        found[name] = rg.data.load(name, n_train=12, n_test=1, **options)
    figure = make_subplots(rows=len(found), cols=1, subplot_titles=list(found))
    for row, ds in enumerate(found.values(), start=1):
        frame = torch.nn.functional.pad(ds.x_train, (1, 1, 1, 1), value=0.5)
        strip = torch.cat(list(frame), dim=2)  # (channels, height, 12 widths)
        pixels = (255 * strip.expand(3, -1, -1).permute(1, 2, 0)).round().to(torch.uint8)
        figure.add_trace(go.Image(z=pixels.numpy(), hoverinfo="skip"), row=row, col=1)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    figure.update_layout(height=40 + 130 * len(found))
    return figure, missing


def activations() -> go.Figure:
    """Every activation, scaled so that it keeps the second moment of a Gaussian at one."""
    u = torch.linspace(-3, 3, 241)
    figure = go.Figure()
    for index, name in enumerate(("relu", "softplus_5", "swish_10", "gelu", "tanh", "erf")):
        sigma = rg.nets.activation(name)
        figure.add_scatter(
            x=u.tolist(),
            y=sigma(u).tolist(),
            name=f"{name} × {sigma.factor:.4f}",
            line={"color": PALETTE[index]},
        )
    figure.update_layout(xaxis_title="u", yaxis_title="σ(u)", height=420)
    return figure


def preactivations() -> go.Figure:
    """Second moment of the preactivations, layer by layer, at width 1000."""
    x = torch.randn(64, 20, generator=torch.Generator().manual_seed(0))
    x = x * (20**0.5 / x.norm(dim=1, keepdim=True))
    figure = go.Figure()
    for index, name in enumerate(("relu", "softplus_5", "swish_10", "gelu", "tanh", "erf")):
        net = rg.nets.FullyConnected(in_dim=20, width=1000, depth=8, activation=name, seed=1)
        with torch.no_grad():
            moments = [float(z.square().mean()) for z in net.preactivations(x)]
        figure.add_scatter(
            x=list(range(1, 9)), y=moments, name=name, line={"color": PALETTE[index]}
        )
    figure.add_hline(y=1.0, line={"dash": "dot", "color": "#888"})
    figure.update_layout(
        xaxis_title="layer", yaxis_title="mean z̃²", yaxis_range=[0.5, 1.5], height=420
    )
    return figure


def ensemble_lines() -> go.Figure:
    """Outputs of 32 networks along a line, computed in one call."""

    def make(seed: int) -> rg.nets.FullyConnected:
        return rg.nets.FullyConnected(
            in_dim=2, width=256, depth=2, activation="softplus_5", seed=seed
        )

    t = torch.linspace(-3, 3, 121)
    line = torch.stack([t, torch.ones_like(t)], dim=1)
    with torch.no_grad():
        outputs = rg.nets.stack(make, range(32))(line)[:, :, 0]
    figure = go.Figure()
    for row in outputs:
        figure.add_scatter(
            x=t.tolist(),
            y=row.tolist(),
            line={"color": PALETTE[0], "width": 1},
            opacity=0.45,
            showlegend=False,
        )
    spread = outputs.std(0)
    for sign in (-1, 1):
        figure.add_scatter(
            x=t.tolist(),
            y=(sign * spread).tolist(),
            line={"color": PALETTE[1], "width": 3},
            name="± standard deviation of the 32",
            showlegend=sign == 1,
        )
    figure.update_layout(xaxis_title="x₁  (x₂ = 1)", yaxis_title="f(x)", height=420)
    return figure


def network_table() -> str:
    """Every network of the registry with its number of parameters."""
    rows = []
    for name in rg.nets.names():
        shape = (20,) if name in ("fully_connected", "mlp") else (3, 32, 32)
        options: dict[str, Any] = {"width": 100} if len(shape) == 1 else {}
        if name == "mlp":
            options["depth"] = 3
        net = rg.nets.make(name, in_shape=shape, out_dim=1, **options)
        count = sum(p.numel() for p in net.parameters())
        size = " × ".join(map(str, shape))
        rows.append(f"<tr><td>{name}</td><td>{size}</td><td class=n>{count:,}</td></tr>")
    head = "<tr><th>network</th><th>input</th><th class=n>parameters</th></tr>"
    return f"<div class=scroll><table>{head}{''.join(rows)}</table></div>"


def installed() -> dict[str, str]:
    """Versions of what matters here."""
    wanted = ("regimes", "torch", "numpy", "scipy", "scikit-learn", "xarray", "plotly")
    versions = {name: importlib.metadata.version(name) for name in wanted}
    return {
        "python": platform.python_version(),
        **versions,
        "threads": str(torch.get_num_threads()),
        "GPU": torch.cuda.get_device_name() if torch.cuda.is_available() else "none",
        "data root": os.environ.get("REGIMES_DATA", "not set (built-in data only)"),
    }


STYLE = """
:root { color-scheme: light dark; --ink: #1d2733; --soft: #5c6b7a; --page: #f6f7f9; --card: #fff;
  --line: #e3e7ec }
@media (prefers-color-scheme: dark) { :root { --ink: #e8edf2; --soft: #9fb0c0; --page: #12171d;
  --card: #1b222b; --line: #2c3641 } }
body { margin: 0 auto; padding: 1.5rem; max-width: 1180px; background: var(--page);
  color: var(--ink); font: 16px/1.55 system-ui, sans-serif }
h1 { font-size: 1.9rem; margin: .2em 0 } h2 { font-size: 1.2rem; margin: 0 0 .2em }
p { max-width: 75ch; color: var(--soft); margin: .2em 0 1em }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: 1.1rem 1.2rem; margin: 1.1rem 0 }
.two { display: grid; gap: 1.1rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)) }
.two section { margin: 0; min-width: 0 }
.scroll { overflow-x: auto } table { border-collapse: collapse; width: 100% }
td, th { text-align: left; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--line) }
.n { text-align: right; font-variant-numeric: tabular-nums }
"""

FOLLOW_THEME = """
const dark = matchMedia('(prefers-color-scheme: dark)');
function paint() {
  const ink = dark.matches ? '#e8edf2' : '#1d2733', line = dark.matches ? '#2c3641' : '#e3e7ec';
  for (const plot of document.querySelectorAll('.plotly-graph-div')) {
    const change = {'font.color': ink};
    for (const key of Object.keys(plot.layout))
      if (/^[xy]axis/.test(key))
        change[key + '.gridcolor'] = change[key + '.zerolinecolor'] = line;
    Plotly.relayout(plot, change);
    Plotly.Plots.resize(plot); // drawn before its column had its width
  }
}
addEventListener('load', paint); dark.addEventListener('change', paint);
"""


def drawn(figure: go.Figure, first: bool) -> str:
    """A figure as HTML that follows the page's width and colours; the first carries plotly."""
    figure.update_layout(
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        margin={"l": 45, "r": 15, "t": 40, "b": 45},
        legend={"orientation": "h", "y": -0.2},
    )
    return figure.to_html(
        full_html=False,
        include_plotlyjs="inline" if first else False,
        config={"responsive": True, "displayModeBar": False},
    )


def build_page(say: Callable[[str], None]) -> str:
    """The whole page."""
    say("synthetic data sets")
    synthetic = drawn(synthetic_sets(), first=True)
    say("image sets")
    images, missing = image_sets()
    absent = f" Set REGIMES_DATA to also see: {', '.join(missing)}." if missing else ""
    say("activations, preactivations, an ensemble")
    parts = [drawn(f, first=False) for f in (images, activations(), preactivations())]
    lines = drawn(ensemble_lines(), first=False)
    say("every network of the registry")
    table = network_table()
    versions = "".join(
        f"<tr><td>{html.escape(k)}</td><td>{html.escape(v)}</td></tr>"
        for k, v in installed().items()
    )
    return f"""<!doctype html><html lang=en><meta charset=utf-8>
<meta name=viewport content="width=device-width, initial-scale=1">
<title>regimes: data and networks</title><style>{STYLE}</style>
<h1>regimes: data and networks</h1>
<p>What every experiment here starts from: points whose labels ignore most directions, images, and
networks whose signals neither grow nor die with depth. Nothing has been trained yet.</p>
<section><h2>Synthetic data</h2><p>First two coordinates; red is y = −1, blue is y = +1. Networks
that learn features find the directions that matter; lazy ones treat all directions alike.</p>
{synthetic}</section>
<section><h2>Images</h2><p>Read from their original files.{absent}</p>{parts[0]}</section>
<div class=two>
<section><h2>Activations</h2><p>Each multiplied so that E σ(g)² = 1 for Gaussian g; the factor is
computed, not typed in.</p>{parts[1]}</section>
<section><h2>Signals keep their size</h2><p>Mean square of the preactivations of one network of
width 1000 at initialisation, layer by layer.</p>{parts[2]}</section>
<section><h2>32 networks, one call</h2><p>Random functions drawn by seeds 0 to 31, evaluated
together as one stacked ensemble.</p>{lines}</section>
<section><h2>Networks by name</h2><p>regimes.nets.make(name, in_shape=…, out_dim=1).</p>
{table}</section>
</div>
<section><h2>Installed</h2><div class=scroll><table>{versions}</table></div></section>
<script>{FOLLOW_THEME}</script></html>"""


def main() -> None:
    """Write the page and say where it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/demo.html"))
    out: Path = parser.parse_args().out
    console = Console(highlight=False)
    console.print("[bold]installed[/bold]")
    for name, value in installed().items():
        console.print(f"  {name:13} {value}")
    start = time.perf_counter()
    console.print("[bold]drawing[/bold]")
    page = build_page(lambda text: console.print(f"  {text}"))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page, encoding="utf-8")
    seconds = time.perf_counter() - start
    console.print(f"[bold]done[/bold] in {seconds:.1f} s: open {out.resolve()}", soft_wrap=True)


if __name__ == "__main__":
    main()
