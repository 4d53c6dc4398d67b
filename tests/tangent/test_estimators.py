"""Estimators of scikit-learn against ridge regression on the Gram."""

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import estimator_checks_generator

from regimes import nets
from regimes.kernels import kernel_ridge, posterior
from regimes.tangent import TangentKernel, TangentKernelClassifier, TangentKernelRegressor


def small(features):
    layers = [torch.nn.Linear(a, b, device="meta") for a, b in ((features, 8), (8, 1))]
    layers = [layer.to_empty(device="cpu").double() for layer in layers]
    net = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1])
    return nets.initialise(net, "lecun", torch.Generator().manual_seed(0))


def task(n=40, outputs=1):
    draws = np.random.default_rng(0)
    X = draws.normal(size=(n, 3))
    y = np.sin(X @ draws.normal(size=(3, outputs)))
    return X, y[:, 0] if outputs == 1 else y


CHECKS = [
    pytest.param(estimator, check, id=f"{type(estimator).__name__}-{check.func.__name__}")
    for made in (TangentKernelClassifier(small), TangentKernelRegressor(small))
    for estimator, check in estimator_checks_generator(made)
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_what_scikit_learn_asks_of_an_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("outputs", [1, 2])
def test_a_regressor_is_ridge_regression_and_a_gaussian_process(outputs):
    X, y = task(outputs=outputs)
    model = TangentKernelRegressor(small, ridge=0.01).fit(X[:30], y[:30])
    kernel = TangentKernel(small(3))
    x, new = torch.tensor(X[:30]), torch.tensor(X[30:])
    ridge = 0.01 * float(kernel(x).diagonal().mean())
    fit = kernel_ridge(kernel, x, torch.tensor(y[:30]), ridge, new)
    values, deviations = model.predict(X[30:], return_std=True)
    np.testing.assert_allclose(values, fit.outputs_test, atol=1e-9)
    belief = posterior(kernel(x), torch.tensor(y[:30]), ridge, kernel(new, x), kernel.diagonal(new))
    np.testing.assert_allclose(deviations**2, belief.variance, atol=1e-9)
    np.testing.assert_allclose(values, belief.mean, atol=1e-8)


def test_parts_add_up_to_the_whole():
    X, y = task()
    whole = TangentKernelRegressor(small).fit(X, y)
    parts = TangentKernelRegressor(small)
    for some in np.array_split(np.arange(40), 3):
        parts.partial_fit(X[some], y[some])
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), atol=1e-9)
    labels = np.array(["a", "b", "c"])[np.digitize(y, [-0.3, 0.3])]
    whole = TangentKernelClassifier(small).fit(X, labels)
    parts = TangentKernelClassifier(small).partial_fit(X[:5], labels[:5], classes=["c", "a", "b"])
    parts.partial_fit(X[5:], labels[5:])
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-9)
    assert parts.score(X, labels) > 0.8
    with pytest.raises(ValueError, match=r"labels \['d'\] are not among the classes"):
        parts.partial_fit(X[:2], ["d", "a"])


def test_a_trained_network_is_the_start_of_a_biased_model():
    X, y = task()
    net = nets.MLP(3, 8, 2, 1, init="lecun", seed=1, dtype=torch.float64)
    stiff = TangentKernelRegressor(net, ridge=1e9, biased=True).fit(X, y)
    with torch.no_grad():
        np.testing.assert_allclose(stiff.predict(X), net(torch.tensor(X))[:, 0], atol=1e-6)
    with pytest.raises(ValueError, match="adds the network's 1 outputs to 2 target columns"):
        TangentKernelRegressor(net, biased=True).fit(X, np.stack([y, y], 1))


def test_images_several_outputs_and_a_search_over_ridges():
    draws = np.random.default_rng(1)
    X = draws.normal(size=(40, 64)).astype(np.float32)
    labels = (X[:, 0] > 0).astype(int) + 5
    net = nets.LeNet5((1, 8, 8), 2, features=(2, 3, 8, 6))
    model = TangentKernelClassifier(net, in_shape=(1, 8, 8), ridge=1e-2).fit(X, labels)
    assert model.score(X, labels) > 0.9
    assert set(model.classes_) == {5, 6}
    traced = TangentKernel(net)(torch.tensor(X).view(-1, 1, 8, 8), outputs="trace")
    assert torch.allclose(model.gram_, traced, atol=1e-5)
    search = GridSearchCV(clone(model), {"ridge": [1e-3, 10.0]}, cv=2).fit(X, labels)
    assert search.best_params_["ridge"] in (1e-3, 10.0)


def test_bad_input_is_told():
    X, y = task()
    with pytest.raises(ValueError, match=r"ridge must be a finite number in \(0"):
        TangentKernelRegressor(small, ridge=0.0).fit(X, y)
    with pytest.raises(
        ValueError, match=r"in_shape=\(3, 3\) has 9 entries, but X has \d+ features"
    ):
        TangentKernelRegressor(small, in_shape=(3, 3)).fit(X, y)
    with pytest.raises(ValueError, match=r"in_shape must be a shape, .* got 64"):
        TangentKernelRegressor(small, in_shape=64).fit(X, y)
    with pytest.raises(ValueError, match="a function from the number of features"):
        TangentKernelRegressor("mlp").fit(X, y)
