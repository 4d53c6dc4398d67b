"""How errors are drawn in this theme: of single networks dashed, of ensembles solid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from regimes.lab import draw

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr


def single_and_ensemble(
    figure: go.Figure, data: xr.Dataset, over: str, name: str, color: str
) -> None:
    """Test error in percent over one dimension: mean over seeds, and of the mean prediction."""
    draw.curve(figure, 100 * data.error, over, f"single, {name}", color=color, dash="dash")
    draw.curve(figure, 100 * data.ensemble_error, over, f"ensemble, {name}", color=color)
