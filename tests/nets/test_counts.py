"""Numbers of parameters, against the networks and the numbers that the papers print."""

import pytest

from regimes import nets
from regimes.nets import n_total, n_weights, width_for


@pytest.mark.parametrize("depth", [0, 1, 2, 4])
def test_counts_are_those_of_the_network(depth):
    net = nets.FullyConnected(
        5, 7, depth, parametrization="standard", bias=bool(depth), output_bias=True
    )
    weights = sum(p.numel() for name, p in net.named_parameters() if name.endswith("weight"))
    assert n_weights(5, 7, depth) == weights
    assert n_total(5, 7, depth) == net.n_params


@pytest.mark.parametrize(
    ("d", "h", "depth", "count"),
    [(51, 51, 3, 7854), (10, 14, 5, 938), (10, 57, 5, 13623), (10, 1265, 5, 6414815)],
)
def test_counts_are_those_that_the_papers_print(d, h, depth, count):
    assert n_weights(d, h, depth) == count
    assert width_for(count, depth, None if d == h else d) == h


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("d", [None, 4])
def test_no_other_width_is_nearer(d, depth):
    for wanted in (1, 50, 333, 1000.5):
        away = [abs(n_weights(d or h, h, depth) - wanted) for h in range(1, 400)]
        found = width_for(wanted, depth, d)
        assert away[found - 1] == min(away)


def test_bad_input():
    with pytest.raises(ValueError, match="L must be an integer >= 1"):
        width_for(100, 0)
    with pytest.raises(ValueError, match="N must be a finite number"):
        width_for(-3, 2)
    with pytest.raises(ValueError, match="h must be an integer"):
        n_total(3, 0, 2)
