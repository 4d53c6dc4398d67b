"""What a user may get wrong: each a sentence that helps."""

import pytest
import torch
from torch import nn

from regimes.tangent import TangentKernel, linearize
from tests.tangent import zoo


class Returns(nn.Module):
    """A linear layer whose output goes through a function."""

    def __init__(self, function):
        super().__init__()
        self.layer = nn.Linear(3, 2)
        self.function = function

    def forward(self, x):
        return self.function(self.layer(x))


def network(function=lambda y: y):
    state = torch.get_rng_state()
    made = Returns(function)
    torch.set_rng_state(state)
    return made


X = torch.tensor([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0], [0.0, 1.0, -2.0]])


def test_not_a_module():
    with pytest.raises(ValueError, match=r"expected a torch.nn.Module, got function"):
        TangentKernel(lambda x: x)


def test_integer_inputs():
    with pytest.raises(ValueError, match="integer inputs must be converted"):
        TangentKernel(network())(X.long())


def test_double_inputs_to_a_float_network():
    with pytest.raises(ValueError, match="precision='float64'"):
        TangentKernel(network())(X.double())
    assert TangentKernel(network(), precision="float64")(X).dtype == torch.float64


def test_empty_batch():
    with pytest.raises(ValueError, match="empty batch"):
        TangentKernel(network())(X[:0])


def test_no_tensor():
    with pytest.raises(ValueError, match="hold no tensor"):
        TangentKernel(network())([1.0])


def test_lengths_that_differ():
    net, x = zoo.build("two inputs")
    with pytest.raises(ValueError, match="disagree on the number of samples"):
        TangentKernel(net)((x[0], x[1][:2]))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_nan_inputs(value):
    x = X.clone()
    x[1, 0] = value
    with pytest.raises(ValueError, match="first in sample 1"):
        TangentKernel(network())(x)


def test_nan_gradient_names_the_layer():
    """sqrt has a finite value and an infinite gradient at zero."""
    net = network(lambda y: torch.sqrt((y - y.detach()).abs() + 0 * y))
    with pytest.raises(ValueError, match=r"NaN or infinity.*layer"):
        TangentKernel(net)(X)


@pytest.mark.parametrize(
    "call",
    [
        lambda kernel: kernel(X, X[:2]),
        lambda kernel: kernel(X, outputs=1),
        lambda kernel: kernel.by_layer(X),
        lambda kernel: kernel.diagonal(X),
        lambda kernel: kernel.features(X),
    ],
)
def test_nan_gradient_is_refused_everywhere(call):
    kernel = TangentKernel(network(lambda y: torch.sqrt((y - y.detach()).abs() + 0 * y)))
    with pytest.raises(ValueError, match=r"NaN or infinity.*layer"):
        call(kernel)


def test_a_gram_that_overflows_is_not_blamed_on_a_layer():
    """Gradients of 1e30 are numbers, though their squares are not in float32."""
    gram = TangentKernel(network(lambda y: 1e30 * y))(X)
    assert torch.isinf(gram).any()


def test_nan_output():
    with pytest.raises(ValueError, match="output contains NaN"):
        TangentKernel(network(lambda y: y / 0))(X)


@pytest.mark.parametrize("function", [lambda y: y.T, lambda y: y.sum()])
def test_outputs_without_a_row_for_every_sample(function):
    with pytest.raises(ValueError, match=r"must return \(samples, outputs\) = \([23], c\)"):
        TangentKernel(network(function))(X)


@pytest.mark.parametrize("make", [TangentKernel, linearize])
def test_several_outputs_and_no_word_which(make):
    says = r"one tensor, got tuple with 2: o\[0\] \(.*output=lambda o: o\[0\]"
    with pytest.raises(ValueError, match=says):
        make(network(lambda y: (y, y)))(X)
    with pytest.raises(ValueError, match="without a floating-point tensor"):
        make(network(lambda y: {"classes": y.argmax(1), "loss": y.sum()}))(X)
    with pytest.raises(ValueError, match="does not suit what the network returns, tuple"):
        make(network(lambda y: (y, y)), output=lambda o: o.logits)(X)
    with pytest.raises(ValueError, match="output must be a function"):
        make(network(), output="logits")


def test_wrong_input_size():
    with pytest.raises(ValueError, match="the network failed on inputs"):
        TangentKernel(network())(X[:, :2])


def test_nothing_to_train():
    net = network().requires_grad_(False)
    with pytest.raises(ValueError, match="no trainable parameter"):
        TangentKernel(net)


def test_batch_norm_in_training_mode():
    net = nn.Sequential(nn.BatchNorm1d(3), network())
    with pytest.raises(ValueError, match=r"BatchNorm1d '0'.*network.eval\(\)"):
        TangentKernel(net)
    TangentKernel(net.eval())(X)


def test_active_dropout():
    net = nn.Sequential(network(), nn.Dropout(0.5))
    with pytest.raises(ValueError, match=r"Dropout '1' is active.*network.eval\(\)"):
        TangentKernel(net)
    TangentKernel(net.eval())(X)


def test_samples_that_interact():
    with pytest.raises(ValueError, match="change each other's outputs"):
        TangentKernel(network(lambda y: y - y.mean(0)))(X)


def test_shape_changing_module():
    net = network(lambda y: y.repeat(1, len(y)))
    with pytest.raises(ValueError, match="change shape with the batch"):
        TangentKernel(net)(X)


def test_graph_that_changes_with_values():
    class Switch(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(3, 1), nn.Linear(3, 1)

        def forward(self, x):
            return self.a(x) if len(x) < 4 else self.b(x)

    state = torch.get_rng_state()
    net = Switch()
    torch.set_rng_state(state)
    with pytest.raises(ValueError, match="engine='jacobian'"):
        TangentKernel(net)(X.repeat(3, 1))


@pytest.mark.parametrize("memory", ["2 apples", -1, 0, "GiB"])
def test_memory_that_makes_no_sense(memory):
    with pytest.raises(ValueError, match="memory must be"):
        TangentKernel(network(), memory=memory)


def test_memory_too_small_says_the_least_that_would_do():
    net, x = zoo.build("lenet")
    with pytest.raises(ValueError, match=r"at least [\d.]+ KiB is needed"):
        TangentKernel(net, memory="10KiB")(x)


def test_unknown_words():
    with pytest.raises(ValueError, match="unknown engine 'jacobain'; use one of: jacobian"):
        TangentKernel(network(), engine="jacobain")
    with pytest.raises(ValueError, match="unknown precision"):
        TangentKernel(network(), precision="half")
    with pytest.raises(ValueError, match="needs a CUDA device"):
        TangentKernel(network(), precision="tf32")
    with pytest.raises(ValueError, match="on must be"):
        TangentKernel(network(), on="dask")
    kernel = TangentKernel(network())
    for outputs in ("sum", 2, -3, [1.0, 2.0, 3.0]):
        with pytest.raises(ValueError, match=r"outputs|output|weights"):
            kernel(X, outputs=outputs)


def test_products_engine_has_no_layers():
    with pytest.raises(ValueError, match="whole Gram only"):
        TangentKernel(network(), engine="products").by_layer(X)


def test_meta_device_is_another_device():
    with pytest.raises(ValueError, match="inputs are on meta but the network is on cpu"):
        TangentKernel(network())(X.to("meta"))
