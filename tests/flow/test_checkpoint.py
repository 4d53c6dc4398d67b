"""Runs that are stopped and go on: every field equal, bit for bit, to the undisturbed run."""

import copy
import functools
import json
import warnings

import pytest
import torch

from regimes import data, flow, nets
from regimes.flow._layout import pack, unpack


class PowerCutError(Exception):
    """What a power cut is to a process."""


class Memory:
    """A checkpoint in memory that saves every `every` steps and can stop the run at a save."""

    def __init__(self, every=1, stop_at=None, saved=None):
        self.every, self.stop_at, self.saved = every, stop_at, saved
        self.steps, self.kept = 0, []

    def due(self, *, ended):
        self.steps += 1
        return self.steps % self.every == 0

    def save(self, tensors, about):
        # what is kept must be plain: copies of tensors, and JSON whose keys any store may sort
        copies = {name: value.clone() for name, value in sorted(tensors.items())}
        self.saved = copies, json.dumps(about, sort_keys=True, allow_nan=False)
        self.kept.append(self.saved)
        if len(self.kept) == self.stop_at:
            raise PowerCutError

    def load(self):
        return None if self.saved is None else (self.saved[0], json.loads(self.saved[1]))


def stripes(dtype, p=40, members=4):
    return [data.stripe(n_train=p, n_test=20, d=3, seed=i, dtype=dtype) for i in range(members)]


def shallow(dtype):
    return lambda seed: nets.FullyConnected(
        3, 20, parametrization="mean_field", bias=True, seed=seed, dtype=dtype
    )


def smooth(dtype, depth=2):
    return nets.FullyConnected(3, 12, depth, activation="softplus_5", seed=0, dtype=dtype)


def watched():
    """One observer that looks often, one at an event, values of different shapes."""
    often = flow.Observer(lambda s: s.predictions.mean((1, 2)), flow.EverySteps(3))
    event = flow.AnyOf((flow.OnEvent("halved"), flow.LogTimes(5)))
    return {"a/b": often, "outputs": flow.Observer(lambda s: s.predictions[:, :5], event)}


ENDS = {"until": flow.loss_below(0.7), "max_steps": 60}
ALPHAS = [1e-2, 0.1, 1.0, 10.0]


def hinge_flow(dtype, **options):
    return flow.gradient_flow(
        shallow(dtype),
        stripes(dtype),
        alpha=[0.01, 0.1, 1.0, 1.0],
        ensemble=[0, 1, 2, 3],
        n_train=[40, 30, 6, 3],
        divide_by="alpha",
        observe=watched(),
        **{**ENDS, **options},
    )


def smooth_flow(dtype, **options):
    return flow.gradient_flow(
        smooth(dtype),
        stripes(dtype, members=1)[0],
        loss="softhinge_20",
        alpha=ALPHAS,
        n_train=[40, 20, 4, 2],
        rule=flow.StepRule(floor=1e-3),
        tolerances=flow.Tolerances(output=0.3, gradient=1e-2),
        **{"observe": watched(), **ENDS, **options},
    )


def momentum_flow(dtype, **options):
    return hinge_flow(dtype, momentum=flow.Momentum(memory=2.0), t_end=100.0, **options)


def heun_flow(dtype, **options):
    return smooth_flow(dtype, method="heun", **options)


def general_flow(dtype, **options):
    """By automatic differentiation, three members at a time."""
    options = {"max_steps": 30, **options}
    return flow.gradient_flow(
        stacked_general(dtype), stripes(dtype, members=1)[0], loss="mse", until=None, t_end=30.0,
        alpha=ALPHAS, memory="1MB", **options,
    )  # fmt: skip


def stacked_general(dtype):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            draws = torch.Generator().manual_seed(0)
            made = torch.randn(8, 3, generator=draws, dtype=torch.float64).to(dtype)
            self.first = torch.nn.Parameter(made)
            self.last = torch.nn.Parameter(made[:, :1].clone())

        def forward(self, x):
            return torch.sin(x @ self.first.T) @ self.last

    return Net()


def kernel(dtype, **options):
    x = torch.linspace(-1, 1, 16, dtype=dtype)
    gram = torch.exp(-(x[:, None] - x).abs())
    grams = torch.stack([gram, 2 * gram, gram**2])
    often = flow.Observer(lambda s: s.dual.abs().mean((1, 2)), flow.EverySteps(2))
    return flow.kernel_flow(
        grams, torch.sign(x), grams, observe={"dual": often}, until="fitted", **options
    )


def descent(**how):
    def run(dtype, **options):
        own = {"max_steps": 40, "check_every": 4, "loss": "qhinge", "until": "fitted"}
        return flow.descend(
            smooth(dtype),
            stripes(dtype),
            ensemble=[0, 1, 2, 3],
            observe=watched(),
            n_train=[40, 30, 10, 8],
            **{**own, **how, **options},
        )

    return run


RUNS = {
    "hinge": hinge_flow,
    "smooth": smooth_flow,
    "momentum": momentum_flow,
    "heun": heun_flow,
    "general": general_flow,
    "kernel": kernel,
    "gd": descent(rate=[0.5, 1.0, 1.0, 2.0], weight_decay=1e-3),
    "sgd": descent(rate=0.5, batch_size=7, optimiser="momentum"),
    "adam": descent(rate=0.2, batch_size=3, optimiser="adam", schedule=flow.linear_decay(40)),
    "until-none": descent(rate=0.1, until=None, optimiser="adam", check_every=11),
}


def bits(value):
    """A run's field so that equality means equal bits, strides included."""
    if isinstance(value, torch.Tensor):
        return tuple(value.shape), value.stride(), value.dtype, value.numpy().tobytes()
    if isinstance(value, flow.Recording):
        return bits(value.times), bits(value.values)
    if isinstance(value, dict):
        return {name: bits(each) for name, each in value.items()}
    return tuple(map(bits, value)) if isinstance(value, tuple) else value


def fields(run):
    left = {"seconds", "networks"}  # wall time, and the parameters once more
    return {name: bits(value) for name, value in vars(run).items() if name not in left}


@functools.cache
def undisturbed(name, dtype):
    return RUNS[name](dtype)


def resumed(run, dtype, saved, stops):
    """Goes on from what was saved, is stopped at several saves, each time goes on from there."""
    for stop in stops:
        checkpoint = Memory(stop_at=stop, saved=saved)
        with pytest.raises(PowerCutError):
            run(dtype, checkpoint=checkpoint)
        saved = checkpoint.saved
    return run(dtype, checkpoint=Memory(saved=saved))


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_was_stopped_ends_like_one_that_was_not(name, dtype):
    run = RUNS[name]
    expected = fields(undisturbed(name, dtype))
    watching = Memory()
    assert fields(run(dtype, checkpoint=watching)) == expected  # saving changes nothing
    saves = len(watching.kept)
    assert saves > 6
    for first, *stops in ([1], [2, 3], [saves // 2, 1, 2], [saves - 1]):
        # a run that is stopped at its first save leaves what the watched one saved there
        assert fields(resumed(run, dtype, watching.kept[first - 1], stops)) == expected
    # the last save is of a run that has ended: nothing is left to do
    again = Memory(saved=watching.saved)
    assert fields(run(dtype, checkpoint=again)) == expected
    assert again.steps == 0


def test_members_of_these_runs_end_at_different_times(dtype):
    """Otherwise the test above would not try what it should."""
    for name in ("hinge", "smooth", "momentum", "kernel", "sgd", "adam"):
        run = undisturbed(name, dtype)
        assert len(set((run.steps + run.refused).tolist())) > 1, name
    assert len(set(undisturbed("hinge", dtype).status)) > 1


def test_an_observer_that_fails_loses_only_what_came_after_the_last_save():
    calls = []

    def measure(snapshot):
        calls.append(float(snapshot.readings.step.max()))
        if len(calls) == 12:
            raise PowerCutError
        return snapshot.predictions[:, 0]

    def run(**options):
        watch = flow.Observer(measure, flow.EverySteps(1))
        return smooth_flow(torch.float64, observe={"x": watch}, **options)

    checkpoint = Memory(every=5)
    with pytest.raises(PowerCutError):
        run(checkpoint=checkpoint)
    resumed = run(checkpoint=Memory(5, saved=checkpoint.saved))
    assert calls[12] > 1  # it did not begin again
    assert fields(resumed) == fields(run())


def test_seconds_count_on():
    checkpoint = Memory(stop_at=10)
    with pytest.raises(PowerCutError):
        hinge_flow(torch.float64, checkpoint=checkpoint)
    tensors, about = checkpoint.saved
    tensors["books/seconds"] += 1000.0
    resumed = hinge_flow(torch.float64, checkpoint=Memory(saved=(tensors, about)))
    assert 1000.0 < resumed.seconds < 1100.0
    late = hinge_flow(torch.float64, max_seconds=1e4, checkpoint=Memory(every=10**9))
    assert flow.Status.OUT_OF_TIME not in late.status


CHANGED = {
    "tolerances": {"tolerances": flow.Tolerances(0.2, 1e-2)},
    "max_steps": {"max_steps": 61},
    "observe": {"observe": {}},
    "alpha": {"alpha": [1e-2, 0.1, 1.0, 11.0]},
}


@pytest.mark.parametrize("what", CHANGED)
def test_a_checkpoint_of_another_run_is_refused(what):
    def run(**options):
        chosen = {
            "loss": "softhinge_20",
            "alpha": ALPHAS,
            "observe": watched(),
            "tolerances": flow.Tolerances(0.3, 1e-2),
        }
        net, ds = smooth(torch.float64), stripes(torch.float64, members=1)[0]
        return flow.gradient_flow(net, ds, **{**ENDS, **chosen, **options})

    checkpoint = Memory(stop_at=10)
    with pytest.raises(PowerCutError):
        run(checkpoint=checkpoint)
    with pytest.warns(RuntimeWarning, match=f"starts anew: its {what} was"):
        found = run(checkpoint=Memory(saved=checkpoint.saved), **CHANGED[what])
    assert fields(found) == fields(run(**CHANGED[what]))


def test_other_data_or_weights_are_another_run():
    def run(seed, **options):
        ds = stripes(torch.float64)[seed]
        return flow.descend(smooth(torch.float64), ds, rate=0.1, max_steps=20, **options)

    checkpoint = Memory(stop_at=10)
    with pytest.raises(PowerCutError):
        run(0, checkpoint=checkpoint)
    with pytest.warns(RuntimeWarning, match="its members started with another"):
        found = run(1, checkpoint=Memory(saved=checkpoint.saved))
    assert fields(found) == fields(run(1))


def test_another_format_or_torch_is_refused():
    checkpoint = Memory(stop_at=10)
    with pytest.raises(PowerCutError):
        kernel(torch.float64, checkpoint=checkpoint)
    for name in ("format", "torch", "device"):
        tensors, text = copy.deepcopy(checkpoint.saved)
        about = json.loads(text)
        about["run"][name] = "something else"
        with pytest.warns(RuntimeWarning, match=f"its {name} was something else"):
            kernel(torch.float64, checkpoint=Memory(saved=(tensors, json.dumps(about))))


def test_members_are_split_as_before_whatever_memory_is_free_now(monkeypatch):
    from regimes.flow import _checkpoint, _gradient_flow, _tiles

    asked = []

    def free(memory, device):
        asked.append(memory)
        return memory if isinstance(memory, int) else 30_000 * (1 + len(asked))

    for module in (_checkpoint, _gradient_flow, _tiles):
        monkeypatch.setattr(module, "parse_bytes", free, raising=False)
    net, ds = stacked_general(torch.float64), stripes(torch.float64, members=1)[0]
    how = {"loss": "mse", "rate": 0.1, "ensemble": None, "alpha": ALPHAS, "max_steps": 10}
    checkpoint = Memory(stop_at=3)
    with pytest.raises(PowerCutError):
        flow.descend(net, ds, checkpoint=checkpoint, **how)
    budgets = [each for each in asked if each is not None]
    flow.descend(net, ds, checkpoint=Memory(saved=checkpoint.saved), **how)
    assert [each for each in asked if each is not None] == budgets * 2


def test_tensors_lie_as_they_lay():
    base = torch.arange(60.0).view(3, 4, 5)
    tensors = {
        "z": base,
        "transposed": base.mT,
        "part": base[..., 1:4],
        "last": base[..., -1],
        "spread": base[:1].expand(6, 4, 5),
        "nothing": base[:0],
        "one": torch.tensor(3.0),
        "truth": base > 3,
        "bytes": torch.arange(9, dtype=torch.uint8)[1:],
    }
    packed, layouts = pack(tensors)
    assert all(value.is_contiguous() for value in packed.values())
    shuffled = dict(sorted(packed.items()))
    found = unpack(shuffled, json.loads(json.dumps(layouts)), torch.device("cpu"))
    assert list(found) == list(tensors)
    for name, value in tensors.items():
        assert torch.equal(found[name], value)
        assert (found[name].stride(), found[name].dtype) == (value.stride(), value.dtype)
        assert found[name].data_ptr() % 64 == value.data_ptr() % 64 or value.numel() == 0


def test_without_a_checkpoint_nothing_is_asked_or_said():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert hinge_flow(torch.float64).notes == ()
