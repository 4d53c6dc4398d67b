"""Names of what studies pass around, without importing the libraries they come from.

Modules with studies are imported whenever studies are listed, so they must not load xarray or
plotly. These aliases stand for their classes in annotations; at run time they are plain texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

Data: TypeAlias = "xr.Dataset"  # collected trials
Values: TypeAlias = "xr.DataArray"  # one variable of them
Figure: TypeAlias = "go.Figure"
