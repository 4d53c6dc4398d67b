"""Networks of several widths side by side move as each would alone."""

import numpy as np
import pytest
import torch

from regimes.studies.landscape import _runs, _widths


@pytest.mark.parametrize(("inputs", "depth"), [((4, 4), 2), ((3, 6), 1), ((3, 6), 3)])
def test_widths_train_as_they_would_alone(inputs, depth):
    widths, seeds = (3, 6), [0, 5]
    together = _widths.train(inputs, widths, depth, 30, seeds, steps=150)
    for d, width, found in zip(inputs, widths, together, strict=True):
        alone = _runs.train(d, width, depth, [30], seeds, steps=150)
        assert found.weights == alone.weights
        for name, value in alone.run.parameters.items():
            torch.testing.assert_close(found.run.parameters[name], value, rtol=1e-7, atol=1e-10)
        ends, own = (_runs.ends(each) for each in (found, alone))
        for name in ("unfitted", "loss", "steps", "classes", "share"):
            np.testing.assert_allclose(ends[name].values, own[name].values, rtol=1e-6)
        moments = [50, 150]
        assert (_runs.unfitted_at(found, moments) == _runs.unfitted_at(alone, moments)).all()


def test_digits_have_test_points():
    together = _widths.train(
        (10, 10), (2, 4), 2, 20, [0], steps=20, labels="parity", images="digits", n_test=50
    )
    for width, found in zip((2, 4), together, strict=True):
        alone = _runs.train(
            10, width, 2, [20], [0], steps=20, labels="parity", images="digits", n_test=50
        )
        assert torch.equal(found.run.test_errors, alone.run.test_errors)
