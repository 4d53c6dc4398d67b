"""A plotly figure as text in a page: data beside an empty box, drawn by the page's script."""

from __future__ import annotations

import base64
import json
from html import escape
from typing import Any

import numpy as np

_HEIGHT = 420  # pixels, of a figure that says nothing else


def figure_html(name: str, title: str, figure: Any) -> str:
    """A figure with its title and caption; its height is kept free, so that nothing moves."""
    spec = compact(json.loads(figure.to_json()))
    spec["layout"].pop("template", None)  # the page brings its own, for light and dark
    caption = (spec["layout"].get("meta") or {}).get("caption", "")
    height = spec["layout"].get("height") or _HEIGHT
    data = json.dumps(spec, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f"<figure id='{name}'><h3>{escape(title)}</h3>"
        f"<div class='plot' style='height:{height}px' data-figure='{name}-data'></div>"
        f"<script type='application/json' id='{name}-data'>{data}</script>"
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def compact(spec: Any) -> Any:
    """The same figure with its numbers in single precision, which is more than a screen shows.

    >>> from plotly.graph_objects import Figure
    >>> written = json.loads(Figure().add_scatter(y=np.array([1.0, 2.0, 3.0])).to_json())
    >>> compact(written)["data"][0]["y"]
    {'dtype': 'f4', 'bdata': 'AACAPwAAAEAAAEBA'}
    """
    if isinstance(spec, list):
        return [compact(part) for part in spec]
    if not isinstance(spec, dict):
        return spec
    if spec.get("dtype") == "f8" and "bdata" in spec:
        return {**spec, **_single(spec["bdata"])}
    return {
        # few, and thinned by the page where it is narrow
        key: _plain(part) if key == "tickvals" else compact(part)
        for key, part in spec.items()
    }


def _plain(values: Any) -> Any:
    if not isinstance(values, dict):
        return values
    return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).tolist()


def _single(text: str) -> dict[str, str]:
    values = np.frombuffer(base64.b64decode(text))
    with np.errstate(over="ignore"):
        short = values.astype(np.float32)
    # a number that has no normal form in single precision would leave a logarithmic axis
    size = np.abs(values[np.isfinite(values) & (values != 0)])
    limits = np.finfo(np.float32)
    if size.size and not (limits.tiny <= size.min() and size.max() <= limits.max):
        return {}
    return {"dtype": "f4", "bdata": base64.b64encode(short.tobytes()).decode()}
