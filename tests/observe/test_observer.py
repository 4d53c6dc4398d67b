"""The observer of any loop: it measures what the kernel says, and leaves the training alone."""

import pytest
import torch
from torch import nn

from regimes import data, flow, measure, nets, observe
from regimes.tangent import TangentKernel


def convolutional(dropout=0.5):
    torch_state = torch.get_rng_state()
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Dropout(dropout),
        nn.Flatten(),
        nn.Linear(144, 10),
    )
    torch.set_rng_state(torch_state)
    return net


@pytest.fixture
def digits():
    return data.digits(n_train=60, n_test=30)


@pytest.fixture(autouse=True)
def _own_state():
    """Dropout draws from torch's own state, as in a user's loop."""
    state = torch.get_rng_state()
    yield
    torch.set_rng_state(state)


def trained(net, ds, steps=12, each=lambda: None, momentum=0.9):
    torch.manual_seed(1)
    optimiser = torch.optim.SGD(net.parameters(), 0.05, momentum=momentum)
    net.train()
    for step in range(steps):
        part = slice(10 * (step % 6), 10 * (step % 6) + 10)
        optimiser.zero_grad()
        nn.functional.cross_entropy(net(ds.x_train[part]), ds.y_train[part]).backward()
        optimiser.step()
        each()
    return net


def test_training_is_the_same_bit_for_bit(digits):
    """Weights, momentum's effect, batch-norm statistics, gradients and random numbers after it."""
    alone = trained(convolutional(), digits)
    drawn_alone = torch.rand(3)
    net = convolutional()
    hooked = []
    torch.manual_seed(7)
    watch = observe.KernelObserver(
        net,
        {
            "train": (digits.x_train[:20], digits.y_train[:20]),
            "test": (digits.x_test[:20], digits.y_test[:20]),
        },
        when=observe.LogSteps(1, 1.5),
        refresh=2,
        also={"random": lambda copy: hooked.append(torch.rand(1)) or 0.0},
    )
    observed = trained(net, digits, each=watch.step)
    drawn = torch.rand(3)
    record = watch.finish()
    assert len(record.steps) > 4
    assert hooked
    assert torch.equal(drawn, drawn_alone)
    for (name, mine), theirs in zip(
        observed.state_dict().items(), alone.state_dict().values(), strict=True
    ):
        assert torch.equal(mine, theirs), name
    for mine, theirs in zip(observed.parameters(), alone.parameters(), strict=True):
        assert torch.equal(mine.grad, theirs.grad)
    assert observed.training
    assert all(module.training for module in observed.modules())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_numbers_are_those_of_the_kernel_at_that_step(digits, dtype):
    ds = digits.to(dtype)
    net = convolutional().to(dtype)
    probe = ds.x_test[:20], ds.y_test[:20]
    watch = observe.KernelObserver(
        net, {"test": probe}, when=observe.LogSteps(4, 2.0), wanted=observe.Wanted(eigenvalues=3)
    )
    kept = []

    def each():
        watch.step()
        kept.append({k: v.clone() for k, v in net.state_dict().items()})

    trained(net, ds, each=each)
    record = watch.finish()
    assert record.steps.tolist() == [0, 4, 8, 12]
    for row, step in enumerate(record.steps.tolist()):
        if step == 0:
            continue
        other = convolutional().to(dtype).eval()
        other.load_state_dict(kept[step - 1])
        grams = TangentKernel(other, precision="float64").by_layer(probe[0].double())
        K = sum(grams.values())
        lam = measure.spectrum(measure.center(K))
        truth = {
            "max": lam[0],
            "mean": lam.mean(),
            "effective_rank": measure.effective_rank(lam),
            "trace_ratio_40": measure.trace_ratio(lam, 40),
            "trace": torch.einsum("iaia->", K),
            "alignment": measure.label_alignment(K, probe[1]),
            "alignment_uncentred": measure.label_alignment(K, probe[1], None),
            "eigenvalues": lam[:3],
            "layer_trace": torch.stack([torch.einsum("iaia->", g) for g in grams.values()]),
            "layer_alignment": torch.stack(
                [measure.label_alignment(g, probe[1]) for g in grams.values()]
            ),
        }
        tolerance = 1e-3 if dtype == torch.float32 else 1e-9
        for name, value in truth.items():
            found = record[f"test/{name}"][row]
            assert torch.allclose(found, value.double(), rtol=tolerance, atol=tolerance), name
    assert record.layers == ("0", "1", "5")


def test_all_layers_come_from_one_pass_a_probe(digits):
    net = convolutional().eval()
    watch = observe.KernelObserver(net, (digits.x_train[:20], digits.y_train[:20]), path=False)
    passes = []
    watch._copy.register_forward_hook(lambda *_: passes.append(1))
    watch.step()
    watch.finish()
    # and not one a layer; those of the comparison with autograd are few samples
    assert len(passes) <= 2


def test_path_is_the_sum_over_all_steps(digits):
    """Against weights kept at every step, and traces by a plain sum of squared gradients."""
    net = nets.FullyConnected(64, 5, out_dim=10, parametrization="standard", dtype=torch.float64)
    ds = digits.to(torch.float64).pipe(data.flatten())
    x, y = ds.x_train[:8], ds.y_train[:8]
    watch = observe.KernelObserver(net, (x, y), refresh=1)
    seen = [[p.detach().clone() for p in net.parameters()]]
    traces = [_trace(net, x)]

    def each():
        watch.step()
        seen.append([p.detach().clone() for p in net.parameters()])
        traces.append(_trace(net, x))

    trained(net, ds, steps=7, each=each)
    record = watch.finish()
    value = length = 0.0
    for before, after, trace in zip(seen, seen[1:], traces, strict=False):
        step = sum((a - b).square().sum() for a, b in zip(after, before, strict=True)) ** 0.5
        length += float(step)
        value += float(step) * trace**0.5
    assert record["path_length"][-1].item() == pytest.approx(length, rel=1e-9)
    assert record["complexity"][-1].item() == pytest.approx(value, rel=1e-9)


def _trace(net, x):
    total = 0.0
    for out in net(x).flatten():
        grads = torch.autograd.grad(out, list(net.parameters()), retain_graph=True)
        total += float(sum(g.square().sum() for g in grads))
    return total


def test_path_agrees_with_the_measure_of_a_kept_path():
    w = torch.randn(5, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    traces = torch.tensor([1.0, 4.0, 9.0, 16.0], dtype=torch.float64)
    path = observe.Path([w[0]])
    for here, trace in zip(w[1:], traces, strict=True):
        path.trace(float(trace), samples=1)
        path.step([here])
    found = measure.flow_complexity(w, traces)
    assert float(path.numbers()["complexity"]) == pytest.approx(found.value)
    assert float(path.numbers()["path_length"]) == pytest.approx(found.path_length)


class Clock:
    """Time that passes when it is told to."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """Looks cost 1 second, as is expected of them, and every step of the path 0.05."""
    from regimes.observe import _budget, _observer

    clock = Clock()
    step = observe.Path.step

    def dear(path, parameters):
        clock.now += 0.05
        step(path, parameters)

    monkeypatch.setattr(_budget.Budget.__init__, "__defaults__", (clock,))
    monkeypatch.setattr(_observer, "expected_seconds", lambda *_: 1.0)
    monkeypatch.setattr(observe.Path, "step", dear)
    return clock


def test_budget_leaves_out_log_points_and_says_so(digits, clock):
    """Steps of 0.2 seconds: 5 % lets one look pass in 20 seconds, and less beside the path."""

    def dear(copy):
        clock.now += 0.95  # and 0.05 for the path
        return 0.0

    net = nets.FullyConnected(64, 4, out_dim=10)
    x, y = digits.x_train[:10], digits.y_train[:10]
    watch = observe.KernelObserver(net, (x, y), also={"dear": dear}, budget=0.05)
    for step in range(1, 1001):
        clock.now += 0.2
        watch.step()
        assert watch._budget.spent <= 0.05 * clock.now or step < 20
    record = watch.finish()
    spent, elapsed = watch._budget.spent, clock.now
    assert spent == pytest.approx(elapsed - 1000 * 0.2)  # all that was not training
    assert spent <= 0.05 * elapsed
    assert 4 <= len(record.steps) < 42  # some were left out, and not all
    assert record.steps[0] == 0  # the start, though looked at late
    left, followed = watch._budget.left_out, watch._budget.path_kept
    assert record.told.startswith(f"{len(record.steps)} of {len(record.steps) + left} log points")
    assert "budget 0.05" in record.told
    assert 50 < followed < 200
    assert f"the path is that of {followed} of 1000 steps" in record.told


def test_a_path_that_is_followed_now_and_then_is_straight_in_between(digits, clock):
    """Weights that move along a line: the length is the same, whatever steps are left out."""
    net = nets.FullyConnected(64, 4, out_dim=10, dtype=torch.float64)
    probe = digits.x_train[:10].double(), digits.y_train[:10]
    start = next(net.parameters()).detach().clone()
    watch = observe.KernelObserver(net, probe, budget=0.05)
    for _ in range(500):
        clock.now += 0.2
        with torch.no_grad():
            next(net.parameters()).add_(0.01)
        watch.step()
    record = watch.finish()
    assert watch._budget.path_left_out > 300
    distance = float((next(net.parameters()).detach() - start).norm())
    assert record["path_length"][-1].item() == pytest.approx(distance, rel=1e-12)


def test_a_training_too_short_for_its_budget_is_looked_at_once_and_says_so(digits, clock):
    def dear(copy):
        clock.now += 1.0
        return 0.0

    net = nets.FullyConnected(64, 4, out_dim=10)
    x, y = digits.x_train[:10], digits.y_train[:10]
    watch = observe.KernelObserver(net, (x, y), also={"dear": dear}, path=False, budget=0.05)
    for _ in range(50):
        clock.now += 0.2
        watch.step()
    assert watch._budget.kept == 0
    assert watch.finish().steps.tolist() == [50]
    assert "1 of" in watch.told
    assert "more than the budget of so short a training" in watch.told


def test_a_start_that_is_looked_at_late_has_its_own_weights(digits):
    net = nets.FullyConnected(64, 4, out_dim=10, parametrization="standard")
    x, y = digits.x_train[:10], digits.y_train[:10]
    first = observe.KernelObserver(net, (x, y)).record()["train/trace"][0]
    watch = observe.KernelObserver(net, (x, y), budget=0.5)
    with torch.no_grad():
        next(net.parameters()).mul_(2.0)
    watch._budget.spent = -10.0  # there is room now
    watch.step()
    assert watch.record()["train/trace"][0] == first
    assert watch.record().steps.tolist() == [0]


def test_record_is_kept_and_read_back(digits, tmp_path):
    net = nets.FullyConnected(64, 4, depth=2, out_dim=10)
    probes = {
        name: (digits.x_train[k : k + 10], digits.y_train[k : k + 10])
        for name, k in (("easy", 0), ("difficult", 10))
    }
    watch = observe.KernelObserver(net, probes, when=observe.LogSteps(1))
    trained(net, digits, steps=3, each=watch.step)
    record = watch.finish()
    read = observe.load_record(record.save(tmp_path / "run"))
    assert read.easy_layer_alignment.dims == ("step", "layer")
    assert read.layer.values.tolist() == list(record.layers)
    assert torch.equal(torch.tensor(read.easy_trace.values), record["easy/trace"])
    ratio = record["easy/alignment"] / record["difficult/alignment"]
    assert torch.equal(record["easy_difficult_ratio"], ratio)
    series = record.series()
    assert series["easy_layer_alignment"].dims == ("layer", "time")
    assert series["easy_trace"].times.tolist() == [0, 1, 2, 3]
    assert len(record.figure().data) == 2 + 2 + 3
    with pytest.raises(ValueError, match="there are complexity"):
        record["no such"]
    with pytest.raises(ValueError, match="holds no record"):
        observe.load_record(tmp_path)


def test_log_steps_are_those_of_the_papers_programs():
    found = [step for step in range(310_000) if observe.LogSteps().due(step)]
    truth = sorted({0, *(5 * int(1.15**k) for k in range(90))})
    assert found == [step for step in truth if step < 310_000]


def test_layers_that_are_dead_are_not_a_number(digits):
    zero = {"": torch.zeros(10, 2, 10, 2)}
    with pytest.raises(ValueError, match="zero"):
        observe.kernel_numbers(zero, digits.y_train[:10] % 2)
    grams = {"dead": zero[""], "live": torch.eye(20).reshape(10, 2, 10, 2)}
    found = observe.kernel_numbers(
        grams, digits.y_train[:10] % 2, observe.Wanted(layer_spectra=True)
    )
    assert found["layer_alignment"].isnan().tolist() == [True, False]
    assert found["layer_effective_rank"].isnan().tolist() == [True, False]


def test_flows_of_this_library_are_observed_too():
    ds = data.stripe(n_train=20, n_test=10, d=2)
    net = nets.FullyConnected(2, 6)
    watch = {
        "rank": observe.on_flow(ds.x_train, ds.y_train, "effective_rank"),
        "layers": observe.on_flow(ds.x_train, ds.y_train, "layer_alignment"),
    }
    run = flow.gradient_flow(net, ds, ensemble=2, max_steps=5, observe=watch)
    gram = TangentKernel(run.networks.member(1))(ds.x_train)
    lam = measure.spectrum(measure.center(gram))
    assert float(run.recordings["rank"].last[1]) == pytest.approx(
        float(measure.effective_rank(lam)), rel=1e-4
    )
    assert run.recordings["layers"].last.shape == (2, 2)


def test_bad_arguments_are_told(digits):
    net = nets.FullyConnected(64, 4, out_dim=10)
    x, y = digits.x_train[:10], digits.y_train[:10]
    for call, told in (
        (lambda: observe.KernelObserver("net", (x, y)), "torch.nn.Module"),
        (lambda: observe.KernelObserver(net, [x, y]), "pair"),
        (lambda: observe.KernelObserver(net, {"train": x}), "pair"),
        (lambda: observe.KernelObserver(net, (x, y), budget=2.0), "budget"),
        (lambda: observe.KernelObserver(net, {"train": x}), r"got Tensor of shape \(10, 1, 8, 8\)"),
        (lambda: observe.KernelObserver(net, (x, y), when=5), r"a method due\(step\), .*got 5"),
        (lambda: observe.KernelObserver(net, (x, y), wanted="trace"), "wanted must be a Wanted"),
        (lambda: observe.KernelObserver(net, (x, y), also={"e": 3}), "names to functions"),
        (lambda: observe.KernelObserver(net, (x, y), also=len), "names to functions"),
        (
            lambda: observe.KernelObserver(net, (x, y), also={"e": lambda net: torch.ones(3)}),
            r"also\['e'\] must return one number, but it returned Tensor of shape \(3,\)",
        ),
        (lambda: observe.KernelObserver(net, (x, y), also={"e": lambda net: "low"}), "'low'"),
        (lambda: observe.KernelObserver(net, (x, y), sinks=["log"]), "a sink must have write"),
        (lambda: observe.KernelObserver(net, (x, y), sinks=3), "must be a list of sinks, got 3"),
        (
            lambda: observe.KernelObserver(nn.Flatten(), (x, y)),
            "no parameter of the network requires",
        ),
        (lambda: observe.Wanted(ratios=40), "several k, .* got 40"),
        (lambda: observe.Wanted(centering="rows"), "centering"),
        (lambda: observe.Wanted(layers=False, layer_spectra=True), "layers=True"),
        (lambda: observe.KernelObserver(net, (x, y), budget=0.5).record(), "nothing was observed"),
    ):
        with pytest.raises(ValueError, match=told):
            call()
