"""The closed form of gradient flow against matrix exponentials and the flow in steps."""

import pytest
import torch

from regimes.flow import kernel_flow
from regimes.kernels import exact_flow


def task(dtype=torch.float64):
    draws = torch.Generator().manual_seed(3)
    a = torch.randn(15, 12, generator=draws, dtype=torch.float64)
    joint = a @ a.T / 12
    y = torch.randn(10, 3, generator=draws, dtype=torch.float64)
    return joint[:10, :10].to(dtype), joint[10:, :10].to(dtype), y.to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_outputs_are_those_of_the_matrix_exponential(dtype):
    K, cross, y = task(dtype)
    times = torch.tensor([0.0, 0.5, 7.0, torch.inf], dtype=dtype)
    found = exact_flow(K, y, times, cross)
    eye = torch.eye(10).double()
    for i, t in enumerate(times[:3].tolist()):
        left = torch.matrix_exp(-t * K.double() / 10)
        train = (eye - left) @ y.double()
        assert torch.allclose(found.outputs_train[i].double(), train, atol=1e-5)
        test = cross.double() @ torch.linalg.solve(K.double(), train)
        assert torch.allclose(found.outputs_test[i].double(), test, atol=1e-3)
        losses = (train - y.double()).square().sum(0) / 20
        assert torch.allclose(found.losses[i].double(), losses, atol=1e-5)
    assert torch.allclose(found.outputs_train[3], y, atol=1e-4)
    single = exact_flow(K, y[:, 1], times, cross)
    assert torch.allclose(single.outputs_test, found.outputs_test[..., 1], atol=1e-5)
    assert single.losses.shape == (4,)


def test_the_flow_in_steps_comes_to_the_same():
    K, cross, y = task()
    run = kernel_flow(K, y[:, 0], cross, loss="mse", until=None, t_end=5.0, events=())
    found = exact_flow(K, y[:, 0], run.times[0, -1:], cross)
    assert torch.allclose(found.outputs_test[0], run.outputs_test[0, :, 0], atol=0.01)


def test_modes_without_an_eigenvalue_stay_where_they_are():
    K = torch.diag(torch.tensor([1.0, 0.0]))
    found = exact_flow(K, torch.ones(2), torch.tensor([torch.inf]), K)
    assert found.outputs_train.tolist() == [[1.0, 0.0]]
    assert found.dual.tolist() == [[1.0, 0.0]]


def test_bad_input_is_told():
    K, _, y = task()
    with pytest.raises(ValueError, match="gram must have shape"):
        exact_flow(K[:2], y, torch.ones(1))
    with pytest.raises(ValueError, match="numbers >= 0"):
        exact_flow(K, y, -torch.ones(1))
    with pytest.raises(ValueError, match=r"gram_test must have shape \(m, 10\)"):
        exact_flow(K, y, torch.ones(1), torch.ones(2, 3).double())
