"""Linear models by Gram, features and products: one path, that of torch's own optimisers."""

import pytest
import torch
import torch.nn.functional as F

from regimes import nets
from regimes.flow import SGD, descend_linear, kernel_descent, linear_decay
from regimes.flow._batches import Batches
from regimes.tangent import TangentKernel, linearize

STEPS, BATCH = 25, 8


def task(dtype=torch.float64, outputs=1):
    draws = torch.Generator().manual_seed(4)
    x = torch.randn(30, 1, 8, 8, generator=draws, dtype=torch.float64).to(dtype)
    net = nets.LeNet5((1, 8, 8), outputs, features=(2, 3, 8, 6), dtype=dtype)
    return net, x, x[:6].flip(0) + 0.3


def by_torch(net, x, loss, optimiser, biased):
    """The same steps of the linearised module by torch's optimiser."""
    lin = linearize(net, biased=biased)
    update = optimiser([p for p in lin.parameters() if p.requires_grad])
    batches = Batches(torch.tensor([len(x)]), BATCH, [3])
    for _ in range(STEPS):
        points = batches.next([0])[0]
        update.zero_grad()
        loss(lin(x[points]), points).backward()
        update.step()
    return lin


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("way", ["gram", "features", "products"])
def test_every_way_takes_the_steps_of_torch(way, biased):
    net, x, new = task()
    y = torch.stack([x[:, 0, 0, 0].sign(), x[:, 0, 1, 1].sign()])
    run = descend_linear(
        net, x, y, new, rate=0.05, batch_size=BATCH, max_steps=STEPS, way=way, biased=biased, seed=3
    )
    for target in (0, 1):
        lin = by_torch(
            net,
            x,
            lambda f, points, t=target: F.softplus(-y[t, points] * f[:, 0]).mean(),
            lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9),
            biased,
        )
        moved = torch.cat([d.detach().flatten() for d in lin.displacement().values()])
        theta = torch.cat([p.detach().flatten() for p in net.parameters()])
        with torch.no_grad():
            assert torch.allclose(run.outputs_test[target], lin(new)[:, 0], atol=1e-10)
            assert torch.allclose(run.outputs_train[target], lin(x)[:, 0], atol=1e-10)
        assert torch.allclose(run.displacement[target], moved.norm(), atol=1e-10)
        assert torch.allclose(run.change[target], moved @ theta, atol=1e-9)
    if way == "gram":
        assert run.dual.shape == (2, 30)
    else:
        assert torch.allclose(run.parameters[1], moved, atol=1e-10)


@pytest.mark.parametrize("way", ["gram", "features", "products"])
def test_several_outputs_and_the_softmax(way):
    net, x, new = task(outputs=3)
    y = torch.arange(30) % 3
    run = descend_linear(
        net, x, y, new, rate=0.05, batch_size=BATCH, max_steps=STEPS, way=way, seed=3
    )
    lin = by_torch(
        net,
        x,
        lambda f, points: F.cross_entropy(f, y[points]),
        lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9),
        False,
    )
    with torch.no_grad():
        assert torch.allclose(run.outputs_test[0], lin(new), atol=1e-10)


@pytest.mark.parametrize("way", ["features", "products"])
def test_adam_is_that_of_torch(way):
    net, x, new = task()
    y = x[:, 0, 0, 0].sign()
    run = descend_linear(
        net,
        x,
        y,
        new,
        rate=1e-3,
        batch_size=BATCH,
        max_steps=STEPS,
        way=way,
        optimiser="adam",
        seed=3,
    )
    lin = by_torch(
        net,
        x,
        lambda f, points: F.softplus(-y[points] * f[:, 0]).mean(),
        lambda p: torch.optim.Adam(p, lr=1e-3),
        False,
    )
    with torch.no_grad():
        assert torch.allclose(run.outputs_test[0], lin(new)[:, 0], atol=1e-6)


def test_the_cheapest_way_that_fits_is_taken_and_told():
    net, x, _ = task(torch.float32)
    y = x[:, 0, 0, 0].sign()
    options = {"rate": 0.05, "batch_size": BATCH, "max_steps": 2}
    free = descend_linear(net, x, y, **options)
    many = descend_linear(net, x, y, **options | {"max_steps": 50})
    adam = descend_linear(net, x, y, **options | {"max_steps": 50}, optimiser="adam")
    tight = descend_linear(
        net, x, y, **options | {"max_steps": 50}, memory="40KiB", optimiser="adam"
    )
    assert "by products (gram" in free.way or "by gram (gram" in free.way
    assert "by gram (gram" in many.way
    assert "by features (features" in adam.way
    assert "by products (features" in tight.way
    assert "budget 40.0 KiB" in tight.way
    assert "1 target(s), 50 steps" in repr(many)


def test_full_steps_are_gradient_descent_on_the_gram():
    draws = torch.Generator().manual_seed(5)
    a = torch.randn(9, 20, generator=draws, dtype=torch.float64)
    K, y = a @ a.T / 20, torch.randn(9, generator=draws, dtype=torch.float64)
    run = kernel_descent(K, y, rate=0.5, optimiser="sgd", loss="mse", max_steps=40, check_every=10)
    outputs = torch.zeros(9).double()
    for _ in range(40):
        outputs = outputs - 0.5 * K @ (outputs - y) / 9
    assert torch.allclose(run.outputs_train[0], outputs, atol=1e-12)
    assert run.looks.tolist() == [0, 10, 20, 30, 40]
    assert bool((run.losses[0, 1:] < run.losses[0, :-1]).all())
    level = float(run.losses[0, 2])
    assert run.steps_until(level).tolist() == [20.0]
    assert bool(run.steps_until(1e-9).isnan().all())


def test_float32_agrees_with_float64():
    net, x, new = task()
    y = x[:, 0, 0, 0].sign()
    options = {"rate": 0.05, "max_steps": 20, "schedule": linear_decay(20), "way": "gram"}
    wide = descend_linear(net, x, y, new, **options)
    small = descend_linear(net.float(), x.float(), y.float(), new.float(), **options)
    assert torch.allclose(wide.outputs_test, small.outputs_test.double(), atol=1e-4)


def test_pushed_and_pulled_are_products_with_the_features():
    for outputs in (1, 3):
        net, x, _ = task(outputs=outputs)
        kernel = TangentKernel(net)
        J = kernel.features(x)
        u = torch.randn(2, J.shape[-1], generator=torch.Generator().manual_seed(0)).double()
        v = torch.randn(30, outputs, 2, generator=torch.Generator().manual_seed(1)).double()
        pushed = torch.einsum("ncp,kp->nck", J, u)
        pulled = torch.einsum("ncp,nck->kp", J, v)
        squeezed = (pushed[:, 0], v[:, 0]) if outputs == 1 else (pushed, v)
        assert torch.allclose(kernel.pushed(x, u), squeezed[0], atol=1e-10)
        assert torch.allclose(kernel.pushed(x, u[1]), squeezed[0][..., 1], atol=1e-10)
        assert torch.allclose(kernel.pulled(x, squeezed[1]), pulled, atol=1e-10)
        assert torch.allclose(kernel.pulled(x, squeezed[1][..., 1]), pulled[1], atol=1e-10)
        with torch.no_grad():
            assert torch.allclose(kernel.outputs(x), net(x), atol=1e-12)
    with pytest.raises(ValueError, match="directions must have shape"):
        kernel.pushed(x, u[:, 1:])


def test_bad_input_is_told():
    net, x, _ = task()
    y = x[:, 0, 0, 0].sign()
    K = TangentKernel(net)(x)
    with pytest.raises(ValueError, match="other rules are not linear"):
        kernel_descent(K, y, rate=0.1, optimiser="adam")
    with pytest.raises(ValueError, match="way='gram' takes plain steps"):
        descend_linear(net, x, y, rate=0.1, optimiser="adam", way="gram")
    with pytest.raises(ValueError, match=r"y must have shape \(30,\) or \(k, 30\)"):
        kernel_descent(K, y[:4], rate=0.1)
    with pytest.raises(ValueError, match="gram must be square"):
        kernel_descent(K[:, :4], y, rate=0.1)
    with pytest.raises(ValueError, match="its last axes must be"):
        kernel_descent(K, y, K[:, :4], rate=0.1)
    with pytest.raises(ValueError, match="the steps diverged: lower the rate"):
        kernel_descent(K, y, rate=1e30, loss="mse", optimiser=SGD(), max_steps=30)
    with pytest.raises(ValueError, match="unknown way 'grams'"):
        descend_linear(net, x, y, rate=0.1, way="grams")
