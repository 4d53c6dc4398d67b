"""Frozen-kernel flow: dual weights, margins, scale of time, members."""

import pytest
import torch

from regimes import flow
from regimes._random import generator


def problem(n=20, members=None, dtype=torch.float64):
    shape = (n, 3) if members is None else (members, n, 3)
    x = torch.randn(shape, generator=generator(0, "x"), dtype=torch.float64)
    K = torch.exp(-torch.cdist(x, x))
    y = torch.where(x[..., 0] > 0, 1.0, -1.0).double()
    return K.to(dtype), y.to(dtype)


def test_outputs_are_the_kernel_times_the_dual_weights(dtype, tolerance):
    K, y = problem(dtype=dtype)
    run = flow.kernel_flow(K, y, K[:5], y_test=y[:5])
    assert run.status == (flow.Status.FITTED,)
    torch.testing.assert_close(
        run.outputs_train[0], K @ run.parameters["dual"][0], rtol=tolerance, atol=tolerance
    )
    torch.testing.assert_close(
        run.outputs_test[0], run.outputs_train[0, :5], rtol=tolerance, atol=tolerance
    )
    assert (run.outputs_train[0, :, 0] * y >= 1).all()
    assert run.test_errors.item() == 0
    assert run.fitted.tolist() == [True]
    torch.testing.assert_close(run.test_predictions, run.outputs_test[..., 0])
    with pytest.raises(ValueError, match="outputs_test is None"):
        _ = flow.kernel_flow(K, y, max_steps=1).test_predictions


def test_scale_of_the_kernel_is_the_scale_of_time():
    K, y = problem()
    one = flow.kernel_flow(K, y, rule=flow.StepRule(first=0.1, shrink=2.0))
    two = flow.kernel_flow(4 * K, y, rule=flow.StepRule(first=0.025, shrink=2.0))
    assert one.times[0, -1] == pytest.approx(4 * two.times[0, -1].item(), rel=1e-9)
    torch.testing.assert_close(one.outputs_train, two.outputs_train, rtol=1e-9, atol=1e-9)


def test_members_with_their_own_kernels_equal_members_alone():
    K, y = problem(members=3)
    together = flow.kernel_flow(K, y, K)
    for i in range(3):
        alone = flow.kernel_flow(K[i], y[i], K[i])
        torch.testing.assert_close(
            alone.outputs_test[0], together.outputs_test[i], rtol=1e-9, atol=1e-9
        )


def test_shared_kernel_with_several_labellings_and_outputs():
    K, _ = problem()
    labels = torch.where(torch.randn(2, 20, generator=generator(1, "y")) > 0, 1.0, -1.0).double()
    together = flow.kernel_flow(K, labels)
    alone = flow.kernel_flow(K, labels[1])
    torch.testing.assert_close(
        alone.outputs_train[0], together.outputs_train[1], rtol=1e-9, atol=1e-9
    )
    classes = torch.arange(20) % 3
    run = flow.kernel_flow(K, classes, K, loss="cross_entropy", outputs=3, until="correct")
    assert run.status == (flow.Status.REACHED,)
    assert (run.outputs_test[0].argmax(-1) == classes).all()


def test_steps_of_given_lengths_are_those_of_the_flow():
    K, y = problem()
    watch = {"steps": flow.Observer(lambda seen: seen.predictions[:, 0, 0], flow.EverySteps())}
    run = flow.kernel_flow(K, y, loss="softhinge_20", max_steps=50, observe=watch)
    dual = flow.kernel_steps(K, y, run.recordings["steps"].times[0], "softhinge_20")
    torch.testing.assert_close(dual, run.parameters["dual"][0, :, 0], rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="shape"):
        flow.kernel_steps(K[:3], y, torch.arange(3.0))


def test_hard_margin_flow_ends_near_the_support_vector_machine():
    from sklearn.svm import SVC

    K, y = problem(40)
    run = flow.kernel_flow(
        K, y, K, tolerances=flow.Tolerances(output=0.01, gradient=None), max_steps=10**6
    )
    machine = SVC(kernel="precomputed", C=1e8).fit(K.numpy(), y.numpy())
    decision = torch.from_numpy(machine.decision_function(K.numpy()))
    agree = (decision.sign() == run.outputs_test[0, :, 0].sign()).double().mean()
    assert agree == 1.0


def test_bad_input():
    K, y = problem()
    with pytest.raises(ValueError, match=r"gram must have shape \(n, n\)"):
        flow.kernel_flow(K[:5], y)
    with pytest.raises(ValueError, match="one label per training point"):
        flow.kernel_flow(K, y[:5])
    with pytest.raises(ValueError, match=r"gram_test is K\(test, train\)"):
        flow.kernel_flow(K, y, K[:, :5])
    with pytest.raises(ValueError, match="one row per label"):
        flow.kernel_flow(K, y, K[:5], y_test=y)
    with pytest.raises(ValueError, match="NaN"):
        flow.kernel_flow(K / 0, y)
    with pytest.raises(ValueError, match="dual weights"):
        flow.kernel_flow(K, y, tolerances=flow.Tolerances(weight=0.1))
    with pytest.raises(ValueError, match="different numbers of members"):
        flow.kernel_flow(K.expand(2, 20, 20), y.expand(3, 20))
