"""Simple models against what is known of them."""

import numpy as np
import pytest

from regimes.lab import Point
from regimes.studies.landscape.references import _linear
from regimes.studies.landscape.references._sizes import Labels, Regression


def test_random_labels_fit_as_often_as_cover_says():
    params = Labels(labelled=(8,), seed=tuple(range(300)), dims=4)
    found = _linear.labels(params, Point({"labelled": 8, "seed": params.seed}))
    assert found.scalars["chance"] == pytest.approx(0.5)
    assert found.arrays["fits"].values.mean() == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("inputs", [10, 40])
def test_the_least_norm_solves_least_squares(inputs):
    params = Regression(seed=(3,), n_train=20)
    found = _linear.regression(params, Point({"inputs": inputs, "seed": (3,)}))
    draw = _linear._normal("regression", 3, 20, inputs + 1).numpy()
    w = np.linalg.lstsq(draw[:, 1:], np.sign(draw[:, 0]), rcond=None)[0]
    assert found.arrays["square"].values[0] == pytest.approx(w @ w, rel=1e-9)
    gram = draw[:, 1:].T @ draw[:, 1:] / 20
    least = np.linalg.eigvalsh(gram)[-min(20, inputs)]
    assert found.arrays["inverse_least"].values[0] == pytest.approx(1 / least, rel=1e-9)
