"""The crossover with the widths and points of the ledger's rows; verdicts: test_phase_diagram."""

from regimes.lab import find
from regimes.studies.regimes._crossover import COMPARED, FAR, NEAR, POINTS, ROW


def test_the_size_is_that_of_the_rows():
    study = find("regimes/crossover")
    params = study.parameters("cpu")
    assert (params.n_train, params.depth, params.eps) == (POINTS, 2, 1e-3)
    inside = [width for width in params.width if ROW[0] <= width <= ROW[1]]
    assert (inside[0], inside[-1]) == ROW
    assert {width for width, _ in (*COMPARED, NEAR, FAR)} <= set(params.width)
    assert study.judges == ("REG-14", "REG-54", "REG-55")
