"""What the scans say: how runs ended, N* by two rules, outputs past it, jammed runs near it."""

from dataclasses import dataclass

import numpy as np

import regimes as rg
from regimes.lab import Data, judge
from regimes.studies.regimes.jamming._training import LABELS, TRAINERS

FALLING = 0.01  # fall of the loss over the last tenth of a run that has not converged
LOW_LOSS = {"random": 2e-3, "parity": 5e-3}  # for LAND-03 and LAND-26, at margin 1/2


def whole(dataset: Data) -> Data:
    """The scan with all labels and trainers; those that were not asked for count as not run."""
    ran = judge.need(dataset, "unfitted")
    return ran.reindex(labels=list(LABELS), trainer=list(TRAINERS)).sortby(["n_train", "width"])


def outcomes(dataset: Data) -> Data:
    """Runs by `measure.run_classes`: `fit`, `dead`, `jammed` (0 or 1) and `share` = N_Delta/N.

    Runs that still fall count as jammed here. All are NaN where nothing ran.
    """
    import xarray as xr

    names = ("unfitted", "parameters", "loss", "far", "reached")
    classes = xr.apply_ufunc(rg.measure.run_classes, *(dataset[name] for name in names))
    told = {
        "fit": classes.isin([rg.measure.RunClass.SAT, rg.measure.RunClass.PRECISION]),
        "dead": classes == rg.measure.RunClass.DEAD,
        "jammed": classes == rg.measure.RunClass.JAMMED,
    }
    ran = classes != rg.measure.RunClass.NOT_RUN
    return dataset.assign(
        {name: flags.astype(float).where(ran) for name, flags in told.items()}
        | {"share": dataset.unfitted / dataset.parameters}
    )


def cut(dataset: Data, labels: str, p: float, trainer: str = "fast") -> Data:
    """The widths that ran for these labels and points, told apart, from narrow to wide."""
    chosen = dataset.sel(labels=labels, n_train=p, trainer=trainer).drop_vars("negative")
    return outcomes(chosen.dropna("width", how="all", subset=["unfitted"]))


@dataclass(frozen=True)
class Stars:
    """N* at some P: between the last width that jams and the next."""

    p: np.ndarray  # (n,)
    low: np.ndarray  # N of the last width that jams
    high: np.ndarray  # N of the next

    @property
    def middle(self) -> np.ndarray:
        """sqrt(N1 N2)."""
        return np.sqrt(self.low * self.high)


def n_star(dataset: Data, labels: str) -> Stars:
    """N* by the 0.1 N rule, at each P whose scan holds a last width that jams.

    From wide to narrow, the first width of whose runs at least half, dead ones left out, end with
    N_Delta > 0.1 N.
    """
    found = []
    for p in dataset.n_train.values:
        scan = cut(dataset, labels, p)
        if not scan.sizes["width"]:
            continue
        living = scan.jammed.where(scan.dead == 0).transpose("seed", "width")
        star = rg.measure.n_star(scan.parameters.values, living.values)
        if star is not None:
            found.append((float(p), *star.bracket))
    return Stars(*np.array(found, dtype=float).reshape(-1, 3).T)


@dataclass(frozen=True, eq=False)
class Norms:
    """Median output of the runs at a constant rate (LAND-39), and where half of them fit."""

    p: float
    weights: np.ndarray  # (n,), N
    square: np.ndarray  # (n,), median over seeds of |f|^2 on test points
    error: np.ndarray  # (n,), standard error of its logarithm
    fit: np.ndarray  # (n,), share of runs that fit
    dead: int
    star: float  # N*, the 50 % point of `fit`, between the two widths below
    bracket: tuple[float, float]

    def at(self, n: float) -> judge.Measured:
        """|f|^2 at N = n, it and its error interpolated on logarithmic axes."""
        logs = np.log(self.square), self.error
        level, error = (np.interp(np.log(n), np.log(self.weights), each) for each in logs)
        return judge.Measured(np.exp(level), np.exp(level) * error)

    def window(self, star: float) -> np.ndarray:
        """The widths with 0.1 < N/N* - 1 < 3."""
        excess = self.weights / star - 1
        return (excess > 0.1) & (excess < 3)

    def exponent(self, star: float) -> tuple[float, float]:
        """Slope of log |f| in log(N/N* - 1) over the window, and its error from the scatter."""
        window = self.window(star)
        fit = rg.measure.power_law(self.weights[window] / star - 1, np.sqrt(self.square[window]))
        return fit.exponent, fit.error


def norms(dataset: Data) -> Norms:
    """Outputs against N where the scan at a constant rate holds its N* (LAND-63)."""
    asked = judge.need(whole(dataset), "unfitted", labels="parity", trainer="constant")
    p = float(asked.unfitted.dropna("n_train", how="all").n_train.values[-1])
    scan = cut(whole(dataset), "parity", p, "constant")
    alive = scan.dead == 0
    scan = scan.where(alive).assign(parameters=scan.parameters)
    scan = scan.isel(width=np.flatnonzero(alive.any("seed").values))
    weights = scan.parameters.values.astype(float)
    star = (
        rg.measure.n_half(weights, scan.fit.transpose("seed", "width").values)
        if len(weights)
        else None
    )
    if star is None:
        raise judge.Missing(
            "no scan at a constant rate that reaches from widths that do not fit to such that do"
        )
    logs = 2 * np.log(scan.output_norm.transpose("seed", "width"))
    count = scan.output_norm.notnull().sum("seed").values
    spread = logs.std("seed", ddof=1).fillna(0.0).values if scan.sizes["seed"] > 1 else 0 * weights
    return Norms(
        p,
        weights,
        np.exp(logs.median("seed").values),
        1.25 * spread / np.sqrt(count),  # of a median
        scan.fit.mean("seed").values,
        int((~alive).sum()),
        star.n,
        star.bracket,
    )


def jump(dataset: Data, labels: str) -> Data:
    """The jammed runs of small loss at every P (LAND-03, LAND-26), along `run`.

    Their losses are those of a margin 1/2. `excess` is rank(H0) less N_Delta; `clean` runs have
    N_Delta < N and an active unit for every unfitted point. Of all runs, `between` counts those
    that converged with 0.02 < N_Delta/N < 0.25, `left_out` the dead ones.
    """
    stacked = outcomes(dataset.sel(labels=labels, trainer="fast"))
    stacked = stacked.drop_vars("negative")
    stacked = stacked.stack(run=("n_train", "width", "seed"), create_index=False)
    runs = stacked.isel(run=np.flatnonzero(stacked.unfitted.notnull().values))
    runs = runs.assign(loss=runs.loss * (0.5 / runs.margin) ** 2)
    odd = (runs.dead == 0) & (runs.fit == 0) & (runs.falling < FALLING)
    odd = odd & (runs.share > 0.02) & (runs.share < 0.25)
    near = runs.isel(run=np.flatnonzero((runs.jammed == 1) & (runs.loss < LOW_LOSS[labels])))
    return near.assign(
        excess=near["rank"] - near.unfitted,
        clean=(near.share < 1) & (near.unreached == 0),
        between=odd.sum(),
        left_out=runs.dead.sum(),
    )
