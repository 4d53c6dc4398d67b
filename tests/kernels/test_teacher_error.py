"""The error averaged over fields: against drawn fields, and against teachers known on paper."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes.data import gaussian_field, sphere_points
from regimes.kernels import Gaussian, Laplace, Matern, regression, teacher_error


def points(n, d=2, seed=0):
    x = sphere_points(n + 50, d, seed)
    return x[:n], x[n:]


@given(st.integers(0, 10**6), st.sampled_from([Laplace(1.0), Matern(2.0, 1.5)]))
def test_it_is_the_sum_of_the_three_terms(seed, teacher):
    x, x_test = points(30, seed=seed)
    student = Laplace(2.0)
    found = teacher_error(teacher, student, x, x_test, (10, 30))
    for error, n in zip(found, (10, 30), strict=True):
        W = torch.linalg.solve(student(x[:n]), student(x[:n], x_test))
        cross = (W * teacher(x[:n], x_test)).sum(0)
        expected = 1 - 2 * cross + (W * (teacher(x[:n]) @ W)).sum(0)
        assert float(error) == pytest.approx(float(expected.mean()), rel=1e-7)


def test_it_is_the_mean_error_on_many_drawn_fields():
    x, x_test = points(60)
    teacher, student = Laplace(1.0), Matern(1.0, 1.5)
    Z = gaussian_field(torch.cat([x, x_test]), teacher, 4000, seed=3)
    outputs = regression(student(x), Z[:, :60].T).predict(student(x_test, x))
    each = (outputs - Z[:, 60:].T).square().mean(0)
    expected = float(teacher_error(teacher, student, x, x_test, (60,)))
    assert float(each.mean()) == pytest.approx(expected, abs=4 * float(each.std()) / 4000**0.5)


def test_errors_far_below_the_variance_keep_their_digits():
    """A teacher of two features x_1, x_2 on the circle: the error is |x - W X|^2."""
    x, x_test = points(1200, 1)
    student = Laplace(2.0)
    found = teacher_error(lambda u, v: u @ v.T, student, x, x_test, (300, 1200))
    for error, n in zip(found, (300, 1200), strict=True):
        W = torch.linalg.solve(student(x[:n]), student(x[:n], x_test))
        expected = (x_test - W.T @ x[:n]).square().sum(1).mean()
        assert float(error) == pytest.approx(float(expected), rel=1e-4)
    assert float(found[1]) < 1e-9  # where 1 - 2 + 1 has no digits left


def test_a_student_of_the_teachers_kind_has_the_variance_of_the_posterior():
    x, x_test = points(40)
    kernel = Laplace(1.0)
    reduced = (kernel(x_test, x) * torch.linalg.solve(kernel(x), kernel(x, x_test)).T).sum(1)
    found = float(teacher_error(kernel, kernel, x, x_test, (40,)))
    assert found == pytest.approx(float((1 - reduced).mean()), rel=1e-9)


def test_singular_students_and_jitter():
    x, x_test = points(150)
    smooth = teacher_error(Gaussian(3.0), Gaussian(3.0), x, x_test, (20, 150))
    assert 0 <= float(smooth[1]) < float(smooth[0]) < 1
    plain, ridged = (
        float(teacher_error(Laplace(1.0), Laplace(1.0), x, x_test, (150,), jitter=jitter))
        for jitter in (0.0, 1.0)
    )
    assert ridged > plain  # no ridge is the best for a field of its own kind


def test_bad_sizes_are_told():
    x, x_test = points(20)
    with pytest.raises(ValueError, match="the largest size is 21, but there are 20"):
        teacher_error(Laplace(1.0), Laplace(1.0), x, x_test, (21,))
