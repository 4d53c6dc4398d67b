"""A budget is kept, or refused with the least that would do."""

import re
import weakref

import pytest
import torch
from torch import nn

from regimes._memory import parse_bytes
from regimes.tangent import TangentKernel, _engine
from tests.tangent.zoo import build, gram, jacobian


def asked(error):
    """The bytes that a refusal says would do, rounded up as it prints them."""
    found = re.search(r"at least ([0-9.]+ \w+) is needed", str(error.value))
    return int(parse_bytes(found[1], torch.device("cpu")) * 1.06)


def wide():
    network = nn.Sequential(nn.Linear(6, 300), nn.Tanh(), nn.Linear(300, 2))
    return network, torch.linspace(-1, 1, 60).view(10, 6)


def test_features_that_do_not_fit_are_refused_with_what_they_take():
    with torch.random.fork_rng():
        network, x = wide()
    take = 10 * 2 * 2702 * 4  # samples, outputs, parameters, bytes
    with pytest.raises(ValueError, match=r"features of 10 samples.*matvec") as error:
        TangentKernel(network, memory=take).features(x)
    assert take < asked(error) < 2 * take
    tight = TangentKernel(network, memory=asked(error)).features(x)
    torch.testing.assert_close(tight, TangentKernel(network).features(x))


@pytest.mark.parametrize("name", ["tied embedding and layer", "bare parameters", "nothing known"])
def test_features_in_parts_are_those_of_the_whole(name):
    network, x = build(name)
    true = jacobian(network, x)
    with pytest.raises(ValueError, match="at least") as error:
        TangentKernel(network, memory=1).features(x)
    tight = TangentKernel(network, memory=asked(error)).features(x)
    torch.testing.assert_close(tight, true, rtol=1e-9, atol=1e-9 * float(true.abs().max()))


def test_eigenpairs_form_the_gram_only_where_diagonalising_it_fits():
    with torch.random.fork_rng():
        network = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()
    x = torch.linspace(-1, 1, 600, dtype=torch.float64).view(200, 3).sin()
    tight = TangentKernel(network, memory="600KiB")
    with pytest.raises(ValueError, match=r"at least 1\.2 MiB is needed; method='lanczos'"):
        tight.top_eigenpairs(x, 3, method="dense")
    with pytest.raises(ValueError, match=r"at least 1\.2 MiB is needed$"):
        tight.top_eigenpairs(x, 200)  # all of them, which products cannot give
    found = tight.top_eigenpairs(x, 3)
    true = TangentKernel(network).top_eigenpairs(x, 3, method="dense")
    assert bool(found.converged.all())
    torch.testing.assert_close(found.values, true.values)


def test_a_gram_in_blocks_holds_one_block_of_rows_and_one_of_columns(monkeypatch):
    with torch.random.fork_rng():
        network = nn.Sequential(nn.Linear(6, 500), nn.Tanh(), nn.Linear(500, 1)).double()
    x = torch.linspace(-1, 1, 600, dtype=torch.float64).view(100, 6)
    made, most = [], []
    collect = _engine.collect

    def counted(*arguments):
        most.append(sum(left() is not None for left in made))
        factors = collect(*arguments)
        made.append(weakref.ref(next(iter(factors.values())).left))
        return factors

    monkeypatch.setattr(_engine, "collect", counted)
    with pytest.raises(ValueError, match="at least") as error:
        TangentKernel(network, memory=1)(x)
    found = TangentKernel(network, memory=int(1.5 * asked(error)))(x)
    assert len(made) > 3  # several blocks
    assert max(most) == 1  # the rows' alone, while the columns' are made
    true = gram(jacobian(network, x))
    torch.testing.assert_close(found, true, rtol=1e-9, atol=1e-9 * float(true.abs().max()))
