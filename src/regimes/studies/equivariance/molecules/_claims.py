"""Verdicts on energies of molecules."""

from __future__ import annotations

from typing import Any

from regimes.lab import Data, judge

claim = judge.Claims()

PAPER = 1_000_000  # parameters from which a network is the paper's
MOLECULES = "7101 of 7165 molecules in random splits"


def _of(dataset: Data, name: str, block: str, **place: Any) -> Any:
    """Values over seeds, of trials that ran."""
    from regimes.lab import rows

    found = rows(dataset, block, **place)
    values = judge.need(found, name)[name].values.astype(float)
    values = values[values == values]
    if not len(values):
        raise judge.Missing(f"no finished trial has {name}")
    return values


def _mean(values: Any) -> judge.Measured:
    return judge.mean_of(values) if len(values) > 1 else judge.Measured(float(values[0]))


@claim("EQU-20", "counts of atoms: RMSE 19.1 +- 0.5 by least squares; perceptron at most 1 more")
def _counts(dataset: Data) -> judge.Parts:
    linear = _mean(_of(dataset, "rmse", "baselines", model="linear"))
    mlp = _mean(_of(dataset, "rmse", "baselines", model="mlp"))
    yield judge.near("RMSE by least squares", linear, 19.1, 0.5)
    yield judge.below("RMSE of the perceptron", mlp, linear.value + 1)
    return f"kcal/mol; {MOLECULES}; the paper's about 19"


@claim("EQU-21", "RBF ridge on sorted Coulomb matrices: RMSE in [9, 14]")
def _coulomb(dataset: Data) -> judge.Parts:
    found = _of(dataset, "rmse", "baselines", model="rbf")
    yield judge.within("RMSE of RBF, sorted", _mean(found), 9.0, 14.0)
    told = []
    for model, name in (("rbf_random", "RBF, random order"), ("laplace", "Laplace, sorted")):
        try:
            told.append(f"{name} {_mean(_of(dataset, 'rmse', 'baselines', model=model))}")
        except judge.Missing:
            continue
    return "; ".join([*told, "the paper's RBF 12.59 sorted, 11.40 random", MOLECULES])


@claim("EQU-22", "spherical: at most 0.93 of the RMSE of counts; turned < 5 % of it, order <= 1e-4")
def _spherical(dataset: Data) -> judge.Parts:
    found = _of(dataset, "rmse", "spherical")
    counts = _of(dataset, "rmse_composition", "spherical")
    size = _of(dataset, "parameters", "spherical").max()
    if size > PAPER:
        yield judge.near("RMSE", _mean(found), 8.5, 1.5)
    yield judge.below("RMSE / that of the counts", _mean(found / counts), 0.93)
    turned = _mean(_of(dataset, "turned", "spherical"))
    yield judge.below("change when turned / RMSE", turned, 0.05)
    mixed = float(_of(dataset, "mixed", "spherical").max())
    yield judge.below("largest change with the order of atoms / RMSE", mixed, 1e-4)
    return (
        f"RMSE {_mean(found)}, of counts {_mean(counts)}; {size:.0f} parameters; the paper's 8.47 "
        "with 1.4 million on 5732 molecules"
    )
