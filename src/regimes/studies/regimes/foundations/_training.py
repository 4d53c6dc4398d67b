"""Training in small: parametrisations, particles, steps and ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Point, TrialResult
from regimes.studies._types import Dataset, FullyConnected, Tensor
from regimes.studies.regimes._runs import hidden_layers
from regimes.studies.regimes._setting import network
from regimes.studies.regimes._training import train
from regimes.studies.regimes.foundations._networks import data_of, distances, networks_of

FORM_STEPS = 30  # of descent, after which the two forms of one class are compared
SLOW = 100.0  # alpha of the networks that move less and less as they are wider (REG-70)


@dataclass(frozen=True)
class MaximalUpdate:
    """A seed is a network; eps is what a step may change the gradient by."""

    images: str = "digits"
    points: int = 8
    widths: tuple[int, ...] = (8, 16)
    seed: tuple[int, ...] = (0, 1)
    eps: float = 0.1
    max_steps: int = 20_000


def maximal_update(params: MaximalUpdate, point: Point) -> TrialResult:
    """REG-70: one class in two forms, and how far each layer moves at several widths."""
    depth, seeds, width = 3, point.seed, params.widths[0]
    data = data_of(params, point)
    d = data.x_train.shape[1]
    outputs = []
    for form in (rg.nets.ABC.mean_field(depth), rg.nets.ABC.maximal_update(depth)):
        net = network(d, width, depth, seeds[0], device=point.device, parametrization=form)
        run = rg.flow.descend(
            net,
            data,
            rate=0.1 * float(width) ** -form.c,
            loss="softhinge_20",
            subtract_init=True,
            divide_by="1",
            max_steps=FORM_STEPS,
            check_every=FORM_STEPS,
        )
        outputs.append(run.outputs_train)
    gap = (outputs[0] - outputs[1]).abs().max() / outputs[0].abs().max()

    moved = np.empty((2, len(params.widths), depth, len(seeds)))
    reached = []
    for k, width in enumerate(params.widths):
        mean_field, _ = networks_of(point, data, width, [1.0], depth, parametrization="mean_field")
        slow, alpha = networks_of(point, data, width, [SLOW * width**0.5], depth)
        forms = ((mean_field, [1.0] * len(seeds), "alpha"), (slow, alpha, "alpha^2"))
        for i, (start, scale, unit) in enumerate(forms):
            run = train(
                start, data, scale, eps=params.eps, max_steps=params.max_steps, divide_by=unit
            )
            for layer, (now, then) in enumerate(hidden_layers(start, run, data.x_train)):
                moved[i, k, layer] = rg.measure.preact_change(now, then).cpu()
            reached.append(float(run.fitted.double().mean()))
    return TrialResult(
        {
            "form_gap": float(gap),
            "form_outputs": float(outputs[0].abs().max()),
            "move_fitted": float(np.mean(reached)),
        },
        arrays={
            "move_width": Array("move_step", params.widths),
            "moved": Array(("move_form", "move_step", "move_layer", "move_seed"), moved),
        },
    )


@dataclass(frozen=True)
class SmallSteps:
    """A seed is a network; the first is also that of the orders of the points."""

    images: str = "digits"
    points: int = 12
    width: int = 10
    steps: tuple[int, ...] = (20, 40, 80)
    orders: int = 3
    seed: tuple[int, ...] = (0, 1)


def small_steps(params: SmallSteps, point: Point) -> TrialResult:
    """REG-71: distance of descent with fewer and more steps from the flow, at one time."""
    data = data_of(params, point)
    start, alpha = networks_of(point, data, params.width, [10.0])
    common: dict[str, Any] = {"loss": "softhinge_20", "alpha": alpha}
    rule = rg.flow.StepRule(first="weights")
    first = rg.flow.gradient_flow(
        start,
        data,
        until="halved",
        rule=rule,
        **common,
        tolerances=rg.flow.Tolerances(gradient=1e-3),
    )
    end = float(first.event_times["halved"].max())  # enough for every network to have learnt
    exact = rg.flow.gradient_flow(
        start,
        data,
        until=None,
        t_end=end,
        method="rk4",
        rule=rule,
        tolerances=rg.flow.Tolerances(output=0.05, gradient=1e-4),
        **common,
    )
    common |= {"subtract_init": True, "divide_by": "alpha^2", "events": ()}

    way = distances(exact.parameters, start.parameters)
    steady = []
    for steps in params.steps:
        run = rg.flow.descend(
            start, data, rate=end / steps, max_steps=steps, check_every=steps, **common
        )
        steady.append((distances(run.parameters, exact.parameters) / way).cpu().numpy())

    one = start.select([0] * params.orders)
    goal = {name: value[:1] for name, value in exact.parameters.items()}
    common["alpha"] = alpha[0]
    random, middle = [], []
    for steps in params.steps:
        run = rg.flow.descend(
            one,
            data,
            rate=end / steps,
            batch_size=max(1, params.points // 10),
            seed=point.seed[0],
            max_steps=steps,
            check_every=steps,
            **common,
        )
        random.append((distances(run.parameters, goal) / way[0]).cpu().numpy())
        mean = {name: value.mean(0, keepdim=True) for name, value in run.parameters.items()}
        middle.append(float(distances(mean, goal)[0] / way[0]))
    return TrialResult(
        {
            "step_end": end,
            "step_loss": float(exact.losses[:, -1].mean() / exact.losses[:, 0].mean()),
        },
        arrays={
            "step_count": Array("step_rate", params.steps),
            "descent_distance": Array(("step_rate", "step_seed"), np.array(steady)),
            "sgd_distance": Array(("step_rate", "order"), np.array(random)),
            "sgd_mean_distance": Array("step_rate", middle),
        },
    )


@dataclass(frozen=True)
class MeanField:
    """A seed is a network; eps is what a step may change the gradient by."""

    images: str = "digits"
    points: int = 6
    n_test: int = 100
    widths: tuple[int, ...] = (10, 20)
    seed: tuple[int, ...] = (0, 1, 2, 3)
    eps: float = 0.1
    max_steps: int = 20_000


def mean_field(params: MeanField, point: Point) -> TrialResult:
    """REG-73: the potential of a neuron, neurons in twos, fluctuations after training."""
    data, seeds = data_of(params, point, params.n_test), point.seed
    variance, left_out, ends = [], [], []
    for width in params.widths:
        start, alpha = networks_of(point, data, width, [0.1], depth=1)
        run = train(start, data, alpha, eps=params.eps, max_steps=params.max_steps)
        f = run.test_predictions
        variance.append(_variance(f))
        others = [[k for k in range(len(seeds)) if k != out] for out in range(len(seeds))]
        left_out.append([_variance(f[kept]) for kept in others])
        ends.append(float(run.fitted.double().mean()))
    return TrialResult(
        {
            "potential_gap": potential_gap(data, seed=seeds[0]),
            "twin_gap": twin_gap(data, seed=seeds[0] + 1),
            "field_fitted": float(np.mean(ends)),
        },
        arrays={
            "field_width": Array("field_step", params.widths),
            "field_variance": Array("field_step", variance),
            "field_left_out": Array(("field_step", "field_seed"), left_out),
        },
    )


def _variance(f: Tensor) -> float:
    """Over networks; of a single one it is not known."""
    return float(rg.measure.ensemble_variance(f)) if len(f) > 1 else float("nan")


def potential_gap(data: Dataset, width: int = 50, *, seed: int = 0) -> float:
    """Largest relative gap of `h dR/dtheta_i` and `2 grad Psi(theta_i)` [Geiger 2020, eq. 4].

    R is the mean square loss of the mean-field network, by automatic differentiation of the whole
    network; Psi = V + int U rho is the potential of one neuron among all, written out.
    """
    import torch

    x, y = data.x_train.cpu(), data.y_train.cpu()
    d = x.shape[1]
    net = _biased(d, width, seed)
    names = ("layers.0.weight", "layers.0.bias", "layers.1.weight")
    own = dict(net.named_parameters())
    risk = (y - net(x)[:, 0]).square().mean()
    whole = torch.autograd.grad(risk, [own[name] for name in names])

    def s(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        """`s(x, theta)` of every point and neuron, (P, h)."""
        return c * net.activation(x @ a.T / d**0.5 + b)

    rho = [own[name].detach() for name in names]
    rho[2] = rho[2][0]
    others = s(*rho).detach()
    theta = [value.clone().requires_grad_() for value in rho]
    here = s(*theta)
    attraction = -(y[:, None] * here).mean(0)  # V, (h,)
    crowd = (here.T @ others / len(x)).mean(1)  # int U rho, (h,)
    potential = torch.autograd.grad((attraction + crowd).sum(), theta)
    gaps = [
        (width * one.reshape(two.shape) - 2 * two).abs().max() / (2 * two).abs().max()
        for one, two in zip(whole, potential, strict=True)
    ]
    return float(torch.stack(gaps).max())


def twin_gap(data: Dataset, width: int = 50, *, steps: int = 50, seed: int = 1) -> float:
    """How much the function path changes when every neuron is doubled, rates times the width."""
    import torch

    cpu = data.to(torch.float64, "cpu")
    d = cpu.x_train.shape[1]
    single, double = _biased(d, width, seed), _biased(d, 2 * width, seed)
    with torch.no_grad():
        source = dict(single.named_parameters())
        for name, value in double.named_parameters():
            value.copy_(torch.cat([source[name]] * 2, 1 if name == "layers.1.weight" else 0))
    paths = []
    for net, h in ((single, width), (double, 2 * width)):
        outputs = rg.flow.Observer(lambda seen: seen.predictions[..., 0], rg.flow.EverySteps(1))
        run = rg.flow.descend(
            net,
            cpu,
            rate=0.2 * h,
            loss="mse",
            subtract_init=False,
            divide_by="1",
            max_steps=steps,
            observe={"f": outputs},
        )
        paths.append(run.recordings["f"].values[0])
    return float((paths[0] - paths[1]).abs().max() / paths[0].abs().max())


def _biased(d: int, width: int, seed: int) -> FullyConnected:
    """The mean-field network of one hidden layer with biases [Geiger 2020, eq. 1]."""
    return network(d, width, 1, seed, parametrization="mean_field", bias=True)
