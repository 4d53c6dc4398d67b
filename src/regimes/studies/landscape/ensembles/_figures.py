"""Error and boundary of ensembles against their size."""

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.landscape.ensembles._claims import excess


def _errors(dataset: Data) -> Figure:
    own = judge.need(dataset, "error").dropna("seed", how="all", subset=["error"])
    caption = (
        "How much worse the mean of n networks is than that of infinitely many (left axis: share "
        "of test points), and how far its decision boundary lies from the final one (right panel). "
        "The error falls as 1/n, the distance as the root of that: an error is quadratic in the "
        "shift of the boundary. Means over pools of networks, bars of one standard error."
    )
    figure = draw.axes(
        "networks n in an ensemble",
        ("error less its limit", "distance of the boundary delta"),
        log="xy",
        panels=("error", "boundary"),
        ticks=own["size"].values,
        caption=caption,
    )
    n = own["size"].values
    spread = own.error.std("seed", ddof=1).values / own.sizes["seed"] ** 0.5
    above = excess(n, own.error.mean("seed").values)
    draw.points(figure, n, above, "error", error=spread, mode="lines+markers", panel=1)
    draw.guide(figure, n, -1.0, (float(n[0]), float(above[0])), panel=1)
    apart = own.distance.mean("seed").values
    error = own.distance.std("seed", ddof=1).values / own.sizes["seed"] ** 0.5
    draw.points(figure, n, apart, "distance", error=error, mode="lines+markers", panel=2)
    draw.guide(figure, n, -0.5, (float(n[0]), float(apart[0])), panel=2)
    return figure


FIGURES = {"Ensembles against their size": _errors}
