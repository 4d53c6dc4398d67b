"""What is refused, in one sentence that names the argument and its type and prints no tensor."""

import pytest
import torch

from regimes import data, flow, nets

DATA = data.stripe(n_train=8, n_test=4, d=3, seed=0, dtype=torch.float64)
NET = nets.FullyConnected(3, 5, seed=0, dtype=torch.float64)
MANY = torch.zeros(40, 3)

FLOW = {
    "network": (MANY, "a function from a seed to a network, got Tensor of shape"),
    "data": ((DATA.x_train, DATA.y_train), "a Dataset or a list of them.*got Tensor of shape"),
    "alpha": (MANY, "alpha must be a finite number"),
    "ensemble": (1.5, "ensemble must be an integer"),
    "n_train": ([], "n_train must be an integer or a list"),
    "until": (3, "unknown event 3"),
    "events": (3, "events must be a list of events or of their names, got int 3"),
    "t_end": (MANY, "t_end must be .* got Tensor of shape"),
    "subtract_init": ("no", "subtract_init must be True or False, got str 'no'"),
    "divide_by": (MANY, "unknown divide_by Tensor of shape"),
    "tolerances": (0.1, "tolerances must be a flow.Tolerances, got float 0.1"),
    "rule": (MANY, "rule must be a flow.StepRule, got Tensor of shape"),
    "momentum": (0.9, "momentum must be a flow.Momentum"),
    "method": (MANY, "unknown method Tensor"),
    "observe": ([1], "observe must be a dict from names to flow.Observer"),
    "max_steps": (MANY, "max_steps must be .* got Tensor of shape"),
    "memory": (MANY, "memory must be .* got Tensor of shape"),
    "checkpoint": (3, "checkpoint must have due, save and load.*got 3"),
}
DESCENT = {
    "rate": ("fast", "rate must be a finite number"),
    "optimiser": (torch.optim.SGD, "unknown optimiser"),
    "schedule": (3, "schedule must be a function"),
    "batch_size": (MANY, "batch_size must be .* got Tensor of shape"),
    "weight_decay": (MANY, "weight_decay must be .* got Tensor of shape"),
}
K, Y = torch.eye(4, dtype=torch.float64), torch.tensor([1.0, -1, 1, -1], dtype=torch.float64)
UPPER = torch.ones(4, 4, dtype=torch.float64).triu()
GRAMS = {
    "negative": (-K, Y, "positive trace, got -4"),
    "zero": (0 * K, Y, "positive trace, got 0"),
    "indefinite": (K.flip(0) + 0.1 * K, Y, "positive semi-definite, but has the eigenvalue -0.9"),
    "one member of two": (torch.stack([K, K.flip(0) + K / 2]), Y, "gram of member 1 must be pos"),
    "asymmetric": (K + UPPER, Y, "gram must be symmetric"),
    "no points": (K[:0, :0], Y[:0], "at least one point"),
    "no members": (K[None][:0], Y, "at least one point"),
    "array": (K.numpy(), Y, "gram must be a tensor, got ndarray of shape"),
    "list": (K, Y.tolist(), "y_train must be a tensor, got list"),
    "integers": (K.long(), Y, "real floating-point numbers, got torch.int64"),
}


def refused(call, sentence, **arguments):
    with pytest.raises(ValueError, match=sentence) as caught:
        call(**arguments)
    assert "tensor(" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", FLOW)
def test_flow_names_what_it_does_not_take(name):
    value, sentence = FLOW[name]
    refused(flow.gradient_flow, sentence, **{"network": NET, "data": DATA, name: value})


@pytest.mark.parametrize("name", DESCENT)
def test_descent_names_what_it_does_not_take(name):
    value, sentence = DESCENT[name]
    refused(flow.descend, sentence, **{"network": NET, "data": DATA, "rate": 0.1, name: value})


@pytest.mark.parametrize("name", GRAMS)
def test_a_kernel_that_is_none_is_refused(name):
    gram, y, sentence = GRAMS[name]
    refused(flow.kernel_flow, sentence, gram=gram, y_train=y)


def test_a_kernel_known_to_rounding_is_taken():
    x = torch.linspace(0, 1, 30)[:, None]
    gram = torch.exp(-((x - x.mT) ** 2))  # of rank 6 in float32: the other eigenvalues are rounding
    assert torch.linalg.eigvalsh(gram).min() < 0
    run = flow.kernel_flow(gram, torch.ones(30))
    assert run.status == (flow.Status.FITTED,)


@pytest.mark.parametrize(("divide_by", "alpha"), [("alpha^2", 1e-300), ("1", 1e-300)])
def test_a_unit_of_time_beyond_the_precision_is_refused(divide_by, alpha):
    for call, own in ((flow.gradient_flow, {}), (flow.descend, {"rate": 0.1})):
        with pytest.raises(ValueError, match="use divide_by='alpha'"):
            call(NET, DATA, alpha=[1.0, alpha], divide_by=divide_by, **own)
    run = flow.gradient_flow(NET, DATA, alpha=alpha, divide_by="alpha", max_steps=5)
    assert run.status == (flow.Status.OUT_OF_STEPS,)


def test_observers_and_schedules_say_what_they_need():
    refused(flow.Observer, "measure must be a function of a snapshot, got int 3", measure=3)
    refused(flow.Observer, "when must be a schedule", measure=len, when="t_star")
    refused(flow.AnyOf, "schedules must be a tuple of schedules, got int 3", schedules=3)
    refused(flow.AnyOf, "schedules must be a schedule such as", schedules=(flow.LogTimes,))
