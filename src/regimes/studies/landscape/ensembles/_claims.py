"""Verdicts on ensembles of n networks: the identity, and three power laws."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, judge

claim = judge.Claims()
LEAST = 4  # pools


def _pools(dataset: Data) -> Data:
    own = judge.need(dataset, "error").dropna("seed", how="all", subset=["error"])
    if own.sizes["seed"] < LEAST or own.sizes["size"] < 3:
        raise judge.Missing(
            f"{own.sizes['seed']} pools and {own.sizes['size']} sizes of ensembles have run, "
            f"{LEAST} and 3 are needed"
        )
    return own


def limit(sizes: np.ndarray, error: np.ndarray) -> tuple[float, float, float]:
    """eps_bar, c and R^2 of `eps_n = eps_bar + c/n`."""
    c, eps = np.polyfit(1 / sizes, error, 1)
    rest = np.square(error - eps - c / sizes).sum()
    return float(eps), float(c), float(1 - rest / np.square(error - error.mean()).sum())


def excess(sizes: np.ndarray, error: np.ndarray) -> np.ndarray:
    """eps_n - eps_bar, with eps_bar from the fit."""
    found = error - limit(sizes, error)[0]
    if (found <= 0).any():
        raise judge.Missing("an ensemble is better than the limit of its own fit")
    return np.asarray(found)


def _slope(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def _about(own: Data) -> str:
    return (
        f"{own.sizes['seed']} pools; N = {float(own.parameters[0]):g}; "
        f"{100 * float(own.fitted.mean()):.0f} % of the networks fit"
    )


@claim("LAND-49", "mean |f_i - y|^2 - |f_bar - y|^2 = mean |f_i - f_bar|^2", exact=True)
def identity(dataset: Data) -> judge.Parts:
    own = judge.need(dataset, "identity_gap")
    yield judge.below(
        "largest gap / mean square error", (own.identity_gap / own.alone).max(), 1e-10
    )
    return f"{own.sizes['seed']} ensembles"


@claim("LAND-50", "eps_n - eps_bar falls as 1/n")
def errors(dataset: Data) -> judge.Parts:
    own = _pools(dataset)
    n, error = own["size"].values, own.error.transpose("seed", "size").values
    whole = float(own.parameters[0]) > 1e4  # the paper's networks
    low, high = (-1.15, -0.85) if whole else (-1.3, -0.7)
    yield judge.within(
        "exponent", judge.jackknifed(error, lambda e: _slope(n, excess(n, e.mean(0)))), low, high
    )
    yield judge.above("R^2", judge.jackknifed(error, lambda e: limit(n, e.mean(0))[2]), 0.95)
    yield judge.above("c", judge.jackknifed(error, lambda e: limit(n, e.mean(0))[1]), 0.0)
    if whole:
        found = judge.jackknifed(error, lambda e: limit(n, e.mean(0))[0])
        yield judge.within("eps_bar", found, 0.018, 0.026)
    eps, c, _ = limit(n, error.mean(0))
    shown = ", ".join(f"{100 * each:.2f}" for each in error.mean(0))
    return f"errors {shown} %, eps_bar {100 * eps:.2f} %, c {100 * c:.2f} %; {_about(own)}"


@claim("LAND-51", "delta_n falls as n^-1/2")
def distances(dataset: Data) -> judge.Parts:
    own = _pools(dataset)
    n, apart = own["size"].values, own.distance.transpose("seed", "size").values
    found = judge.jackknifed(apart, lambda each: _slope(n, each.mean(0)))
    yield judge.within("exponent", found, -0.6, -0.38)
    return f"delta {', '.join(f'{each:.3g}' for each in apart.mean(0))}; {_about(own)}"


@claim("LAND-52", "eps_n - eps_bar grows as delta_n^2")
def quadratic(dataset: Data) -> judge.Parts:
    own = _pools(dataset)
    n = own["size"].values
    both = np.stack([own[k].transpose("seed", "size").values for k in ("error", "distance")], 1)

    def exponent(drawn: np.ndarray) -> float:
        error, apart = drawn.mean(0)
        return _slope(apart, excess(n, error))

    yield judge.within("exponent", judge.jackknifed(both, exponent), 1.4, 2.7)
    return _about(own)
