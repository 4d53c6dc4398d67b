"""Learning curves of a user's arrays, data sets and teachers."""

import math

import numpy as np
import pytest
import torch
from sklearn.svm import SVC

import regimes as rg
from regimes.curves import LearningCurve, Pool, Teacher, learning_curve, learning_curves
from regimes.kernels import Gaussian, Laplace, Matern, regression, teacher_error

SIZES = (20, 40, 80)


def arrays(n=200, d=4, seed=0):
    draws = np.random.default_rng(seed)
    x = draws.standard_normal((n, d))
    return x, np.sign(x[:, 0] + 0.3 * x[:, 1])


def test_errors_are_those_of_each_size_on_its_own():
    x, y = arrays()
    curve = learning_curve((x, y), Laplace(2.0), SIZES, 3, n_test=50, seed=7)
    pool = Pool(torch.from_numpy(x), torch.from_numpy(y), None, None, 0)
    for repeat in range(3):
        drawn = pool.drawn(80, 50, 7, repeat)
        for column, n in enumerate(SIZES):
            alone = regression(Laplace(2.0)(drawn.x[:n]), drawn.y[:n])
            outputs = alone.predict(Laplace(2.0)(drawn.x_test, drawn.x[:n]))
            expected = float((outputs - drawn.y_test).square().mean())
            assert curve.errors[repeat, column] == pytest.approx(expected, rel=1e-8)
            assert curve.residual[repeat, column] < 1e-10
            assert curve.condition[repeat, column] == pytest.approx(alone.condition, rel=1e-6)
    assert (curve.quantity, curve.jitter, curve.duplicates) == ("mse", 0.0, 0)
    assert (curve.rank == SIZES).all()
    assert "mse" in repr(curve)
    assert "n = 20 to 80, 3 repeats" in repr(curve)


def test_repeats_share_no_draw_and_train_no_test_point():
    pool = Pool(torch.arange(100.0)[:, None], torch.zeros(100), None, None, 0)
    draws = [pool.drawn(40, 30, 0, repeat) for repeat in range(2)]
    for drawn in draws:
        both = torch.cat([drawn.x, drawn.x_test]).flatten().tolist()
        assert len(set(both)) == 70
    assert draws[0].x.tolist() != draws[1].x.tolist()
    assert pool.drawn(40, 30, 0, 1).x.tolist() == draws[1].x.tolist()
    assert pool.drawn(40, 30, 1, 1).x.tolist() != draws[1].x.tolist()
    assert pool.drawn(20, 30, 0, 1).x.tolist() == draws[1].x[:20].tolist()  # nested


def test_machines_classify_as_scikit_learn_does():
    x, y = arrays()
    curve = learning_curve((x, y), Laplace(2.0), SIZES, 2, machine="svm", n_test=60, penalty=10.0)
    pool = Pool(torch.from_numpy(x), torch.from_numpy(y), None, None, 0)
    for repeat in range(2):
        drawn = pool.drawn(80, 60, 0, repeat)
        for column, n in enumerate(SIZES):
            K, k = Laplace(2.0)(drawn.x[:n]), Laplace(2.0)(drawn.x_test, drawn.x[:n])
            peer = SVC(C=10.0, kernel="precomputed").fit(K.numpy(), drawn.y[:n].numpy())
            wrong = np.mean(peer.predict(k.numpy()) != drawn.y_test.numpy())
            assert abs(curve.errors[repeat, column] - wrong) <= 1 / 60 + 1e-9
    assert curve.quantity == "error"
    assert float(curve.residual.max()) < 1e-3
    assert np.isnan(curve.condition).all()


def test_a_tangent_kernel_is_a_kernel_like_others():
    x, y = arrays(120)
    net = rg.nets.FullyConnected(4, 16, depth=2, seed=0, dtype=torch.float64)
    tangent = rg.tangent.TangentKernel(net)
    found = learning_curves((x, y), {"tangent": tangent, "Laplace": Laplace(2.0)}, (20, 60), 2,
                            n_test=30)  # fmt: skip
    drawn = Pool(torch.from_numpy(x), torch.from_numpy(y), None, None, 0).drawn(60, 30, 0, 0)
    K = tangent(drawn.x)
    outputs = regression((K + K.T) / 2, drawn.y).predict(tangent(drawn.x_test, drawn.x))
    expected = float((outputs - drawn.y_test).square().mean())
    assert found["tangent"].errors[0, 1] == pytest.approx(expected, rel=1e-5)
    assert not np.allclose(found["tangent"].errors, found["Laplace"].errors)


def test_a_data_set_is_tested_on_its_own_test_points():
    ds = rg.data.digits(400, 300).pipe(rg.data.flatten(), rg.data.parity())
    curve = learning_curve(ds, Laplace(3.0), (50, 100, 200), 2, n_test=300)
    assert 0.3 < -curve.fit().exponent < 1.2
    with pytest.raises(ValueError, match=r"301 test points .* has 300; say n_test=300"):
        learning_curve(ds, Laplace(3.0), (50, 100), n_test=301)


@pytest.mark.parametrize("manifold", ["sphere", "torus", "cloud"])
def test_a_teacher_is_averaged_over_its_fields(manifold):
    task = Teacher(Matern(1.0, 1.0), 2, manifold)
    curve = learning_curve(task, Laplace(1.0), (16, 64), 3, n_test=40, seed=5)
    for repeat in range(3):
        x, x_test = task.points(64, 40, 5, repeat)
        expected = teacher_error(task.kernel, Laplace(1.0), x, x_test, (16, 64))
        assert np.allclose(curve.errors[repeat], expected.numpy(), rtol=1e-9)
    assert curve.quantity == "teacher average"
    assert (curve.mean[1] < curve.mean[0]).all()


def test_a_rough_field_on_the_circle_is_learned_as_one_over_n():
    curve = learning_curve(Teacher(Laplace(1.0), 1), Laplace(1.0), (32, 64, 128, 256), 6)
    assert abs(-curve.fit(center="median").exponent - 1.0) < 0.15


def known(exponent=-0.4, repeats=5):
    sizes = np.array([128, 256, 512, 1024])
    spread = np.exp(0.05 * np.linspace(-1, 1, repeats))[:, None]
    errors = 2.0 * sizes**exponent * spread
    whole = np.ones_like(errors)
    return LearningCurve("known", "mse", sizes, errors, whole, whole, whole, 0.0, 0)


def test_fits_slopes_and_centres_of_a_known_law():
    curve = known()
    fit = curve.fit((128, 512))
    assert fit.exponent == pytest.approx(-0.4)
    assert fit.range == (128, 512)
    assert fit.error < 1e-9  # repeats that only shift the curve do not move its slope
    middles, slopes = curve.slopes()
    assert np.allclose(slopes, -0.4)
    assert np.allclose(middles, curve.sizes[:-1] * 2**0.5)
    assert np.allclose(curve.median, curve.errors[2])
    assert np.allclose(curve.standard_error, curve.errors.std(0, ddof=1) / 5**0.5)
    assert np.isnan(known(repeats=1).standard_error).all()
    assert known(repeats=1).fit().exponent == pytest.approx(-0.4)


def test_plots_show_every_curve_and_the_foretold_one():
    task = arrays(300)
    curves = learning_curves(task, {"a": Laplace(2.0), "b": Gaussian(2.0)}, SIZES, 2, n_test=50)
    tail = rg.curves.spectral_tail(task, Laplace(2.0), 200, top=80)
    figure = curves["a"].plot(curves["b"], tail=tail)
    names = [trace.name for trace in figure.data]
    assert names[:2] == ["a", "b"]
    assert "tail of the spectrum" in names
    assert np.allclose(figure.data[0].y, curves["a"].mean)
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"


def test_duplicates_of_the_pool_are_left_out_and_reported():
    x, y = arrays(100)
    doubled = np.concatenate([x, x[:30]]), np.concatenate([y, y[:30]])
    curve = learning_curve(doubled, Laplace(2.0), (20, 60), 2, n_test=40)
    assert curve.duplicates == 30
    told = r"the largest size is 61, but there are 60 .* 40 to test \(30 repeated ones were left"
    with pytest.raises(ValueError, match=told):
        learning_curve(doubled, Laplace(2.0), (20, 61), n_test=40)


def test_a_kernel_that_cannot_tell_points_apart_says_which():
    x, y = arrays(100)
    with pytest.raises(ValueError, match=r"rows \d+ and \d+.* the same point to this kernel"):
        learning_curve((x, y), lambda u, v: torch.ones(len(u), len(v)), (5, 10), n_test=10)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"sizes": (40, 20)}, "sizes must be increasing"),
        ({"sizes": ()}, "sizes must be increasing"),
        ({"sizes": (500,)}, "the largest size is 500, but there are 150 different points"),
        ({"repeats": 0}, "repeats"),
        ({"n_test": 0}, "n_test"),
        ({"jitter": -1.0}, "jitter must not be negative, got -1.0"),
        ({"jitter": math.nan}, "jitter"),
        ({"machine": "tree"}, "machine .*'tree'"),
        ({"task": "mnist"}, r"task must be \(points, targets\), a Dataset or a Teacher"),
        ({"task": (np.ones((5, 2)), np.ones(4))}, r"targets must have shape \(5,\)"),
        ({"task": (np.full((5, 2), np.nan), np.ones(5))}, "points holds NaN"),
        ({"task": (np.ones((0, 2)), np.ones(0))}, "points must be a non-empty array"),
        ({"task": (np.array([["a"], ["b"]]), np.ones(2))}, "points must be an array of numbers"),
        ({"task": Teacher(Laplace(1.0), 1), "machine": "svm"}, "a Teacher has real targets"),
        ({"kernels": {}}, "kernels must be a mapping"),
        ({"kernels": Laplace(1.0)}, "kernels must be a mapping"),
        ({"penalty": 0.0}, "penalty"),
    ],
)
def test_bad_input_is_told(change, told):
    given = {"task": arrays(), "kernels": {"a": Laplace(1.0)}, "sizes": SIZES, "repeats": 2}
    with pytest.raises(ValueError, match=told):
        learning_curves(**{**given, "n_test": 50, **change})


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((Laplace(1.0), 1, "disk"), "manifold"),
        ((Laplace(1.0), 0), "d must be an integer >= 1, got 0"),
        (("Laplace", 1), "must be a covariance, such as .* got 'Laplace'"),
    ],
)
def test_a_teacher_is_checked_where_it_is_made(given, told):
    with pytest.raises(ValueError, match=told):
        Teacher(*given)


def test_only_curves_and_tails_are_drawn():
    x, y = arrays(100)
    curve = learning_curve((x, y), Laplace(2.0), (20, 60), 2, n_test=40)
    with pytest.raises(ValueError, match="must be a LearningCurve, got str 'x'"):
        curve.plot("x")
    with pytest.raises(ValueError, match="tail must be what spectral_tail returns"):
        curve.plot(tail=curve)


def test_labels_of_machines_must_be_two_signs():
    x, y = arrays()
    with pytest.raises(ValueError, match=r"labels must be \+1 and -1, .*choose two groups"):
        learning_curve((x, y + 1), Laplace(1.0), SIZES, machine="svm", n_test=50)
