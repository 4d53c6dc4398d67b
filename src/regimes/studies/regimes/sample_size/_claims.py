"""Verdict on the gap between feature and lazy training as the training set grows."""

from regimes.lab import Data, judge
from regimes.studies.regimes._remarks import numbers

claim = judge.Claims()


def finished(dataset: Data) -> Data:
    """The training sets that have been learned, from small to large."""
    return judge.where_ran(dataset, "n_train", "error").sortby(["n_train", "scale"])


@claim(
    "REG-30", "error at scale 1 less error at scale 1000 shrinks with the training set", report=True
)
def _gap(dataset: Data) -> judge.Parts:
    done = finished(dataset)
    if min(done.sizes["n_train"], done.sizes["scale"]) < 2 or done.sizes["seed"] < 3:
        raise judge.Missing("needs two training sets, two scales and three seeds")
    gap = done.error.isel(scale=0) - done.error.isel(scale=-1)
    change = judge.mean_of(gap.isel(n_train=-1) - gap.isel(n_train=0))  # the same networks: paired
    yield judge.within("change of the gap", change, -1.0, 0.0)
    gaps = [(int(p), judge.mean_of(100 * gap.sel(n_train=p))) for p in gap.n_train]
    told = ", ".join(f"{each.value:.2f} ± {each.error:.2f} % at {p}" for p, each in gaps)
    ensembles = done.ensemble_error.isel(scale=0) - done.ensemble_error.isel(scale=-1)
    of_means = numbers(100 * ensembles, ".2f")
    unfitted = int((done.fitted < 1).sum())
    return f"gaps {told}; of ensembles {of_means} %; {unfitted} runs ended unfitted"
