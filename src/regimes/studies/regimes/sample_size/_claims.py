"""Verdict on the gap between feature and lazy training as the training set grows."""

from regimes.lab import Data
from regimes.lab.judge import Claims, Missing, Parts, mean_of, where_ran, within
from regimes.studies.regimes._remarks import numbers

claim = Claims()


def finished(dataset: Data) -> Data:
    """The training sets that have been learned, from small to large."""
    return where_ran(dataset, "n_train", "error").sortby(["n_train", "scale"])


@claim(
    "REG-30", "error at scale 1 less error at scale 1000 shrinks with the training set", report=True
)
def _gap(dataset: Data) -> Parts:
    done = finished(dataset)
    if min(done.sizes["n_train"], done.sizes["scale"]) < 2 or done.sizes["seed"] < 3:
        raise Missing("needs two training sets, two scales and three seeds")
    gap = done.error.isel(scale=0) - done.error.isel(scale=-1)
    change = mean_of(gap.isel(n_train=-1) - gap.isel(n_train=0))  # the same networks: paired
    yield within("change of the gap", change, -1.0, 0.0)
    gaps = [(int(p), mean_of(100 * gap.sel(n_train=p))) for p in gap.n_train]
    told = ", ".join(f"{each.value:.2f} ± {each.error:.2f} % at {p}" for p, each in gaps)
    ensembles = done.ensemble_error.isel(scale=0) - done.ensemble_error.isel(scale=-1)
    of_means = numbers(100 * ensembles, ".2f")
    unfitted = int((done.fitted < 1).sum())
    return f"gaps {told}; of ensembles {of_means} %; {unfitted} runs ended unfitted"
