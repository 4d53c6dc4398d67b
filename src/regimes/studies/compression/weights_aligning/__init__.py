"""Neurons turn to the informative directions, or do not: Figs 1 and 6 of spec `compression`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Axis, Claim, Point, TrialResult, study
from regimes.studies.compression._attractors import EDGES
from regimes.studies.compression._stripe import network, neurons, standard_error, train
from regimes.studies.compression.weights_aligning._arrows import Panel, draw

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

DIMENSION = {"stripe": 2, "cylinder": 3}  # d of Figs 1 and 6
INFORMATIVE = {"stripe": 1, "cylinder": 2}
START_DIMENSION = {"stripe": 5, "cylinder": 3}  # d at which Lambda(0) is asked for (COMP-16)
LAZY = 1.0  # alpha at and above which a run counts as lazy
PLANES = {"stripe": [(0, 1)], "cylinder": [(0, 1), (0, 2)]}


@dataclass(frozen=True)
class Params:
    """Scanned: model, alpha and seed. Fixed: the rest."""

    model: tuple[str, ...] = ("stripe", "cylinder")
    alpha: tuple[float, ...] = (1e-6, 1e4)
    seed: tuple[int, ...] = (0, 1)
    n_train: int = 60
    width: int = 60
    end_loss: float = 0.3  # a run ends when the mean loss is below
    max_steps: int = 20_000
    start_width: int = 2000  # of the untrained networks of COMP-16
    start_draws: int = 5
    shown_neurons: int = 50
    shown_points: int = 100
    frames: int = 12  # of the film, the last is the end of training


@study(
    "compression/weights-aligning",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=(0, 1, 2),
            n_train=1000,
            width=300,
            end_loss=0.03,
            start_draws=20,
            shown_points=250,
            frames=36,
        ),
        "paper": Params(
            seed=(0, 1, 2, 3, 4),
            n_train=1000,
            width=10_000,
            end_loss=0.01,
            max_steps=100_000,
            start_width=10_000,
            start_draws=20,
            shown_points=250,
            frames=36,
        ),
    },
    axes=[Axis("model"), Axis("alpha"), Axis("seed", stacked=True)],
    units={"t_star": "flow time", "frame_time": "t*", "film": "β w"},
    judges=("COMP-16", "COMP-31", "COMP-34"),
)
class WeightsAligning:
    """Neurons turn to the directions that decide the label, unless training is lazy.

    Every neuron of a one-hidden-layer network is an arrow, its weight vector times its output
    weight. With a small scale alpha of the predictor the arrows must grow a lot before the data are
    fitted, and the fastest growth is along the informative directions. With a large alpha the data
    are fitted before any arrow has moved.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train the networks of all seeds; film the first."""
        from regimes import flow, measure

        model, seeds = point.model, point.seed
        d, informative = DIMENSION[model], INFORMATIVE[model]
        make = getattr(rg.data, model)
        sets = [make(n_train=params.n_train, n_test=1000, d=d, seed=seed) for seed in seeds]
        film = flow.Observer(_arrows(params.shown_neurons), flow.LogTimes(25))
        at_t_star = flow.Observer(_state, flow.OnEvent("t_star"))
        end: Any = flow.loss_below(params.end_loss)
        run = train(
            sets,
            width=params.width,
            seeds=seeds,
            alpha=point.alpha,
            dtype=point.dtype,
            device=point.device,
            until=end,
            observe={"film": film, "state": at_t_star},
            max_steps=params.max_steps,
            checkpoint=point.checkpoint(),
        )
        weights, _, readout = neurons(run.parameters)
        start = run.recordings["state"].first
        then = run.recordings["state"].at(run.event_times["t_star"])
        x = [each.x_train.to(start) for each in sets]
        dead = [
            measure.dead_neurons(s[:, :d], s[:, d], points)
            for s, points in zip(start, x, strict=True)
        ]
        unmoved = (then == start).all(-1)
        times, arrows = _pick(run, params.frames)
        shown = sets[0]
        numbers = {
            "share_start": measure.informative_share(start[..., :d], start[..., -1], informative),
            "share_end": measure.informative_share(weights, readout, informative),
            "t_star": run.event_times["t_star"],
            "end_time": run.times[:, -1],
            "end_loss": run.losses[:, -1],
            "test_error": run.test_errors,
            "dead": [int(each.sum()) for each in dead],
            "unmoved": unmoved.sum(-1),
            "dead_or_unmoved_only": [
                int((a != b.to(a.device)).sum()) for a, b in zip(dead, unmoved, strict=True)
            ],
            "slow": _slow(start, then, d) - unmoved.sum(-1),
        }
        arrays = {name: Array("seed", values) for name, values in numbers.items()}
        arrays["amplification_start"] = Array("draw", _start_amplification(params, point))
        arrays["frame_time"] = Array("frame", times)
        arrays["film"] = Array(("frame", "neuron", "coordinate"), arrows)
        x_shown = shown.x_train[: params.shown_points].numpy().astype(np.float32)
        arrays["points"] = Array(("point", "coordinate"), x_shown)
        arrays["labels"] = Array("point", shown.y_train[: params.shown_points].numpy())
        scalars = {"width": params.width, "start_width": params.start_width}
        return TrialResult(scalars, arrays=arrays)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Lazy runs take more steps to the same loss."""
        return 2.0 if point.alpha >= LAZY else 1.0

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """A film and a still of each model."""
        made = {}
        for model, number in (("stripe", "Fig. 1"), ("cylinder", "Fig. 6")):
            if model in dataset.model.values:
                made[f"{number}: the {model}, before, during and after training"] = _still(
                    dataset, model
                )
                made[f"{number} moving: the {model}"] = _film(dataset, model)
        return made

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """Lambda starts at one; arrows align unless lazy; dead neurons are those that rest."""
        return [_start_claim(dataset), _align_claim(dataset), _dead_claim(dataset)]


def _arrows(count: int) -> Any:
    """Observer of beta w of the first neurons, (m, count, d)."""

    def measure(snapshot: Any) -> Any:
        weights, _, readout = neurons(snapshot.parameters)
        return (readout[..., None] * weights)[:, :count]

    return measure


def _state(snapshot: Any) -> Any:
    """Weights, bias and readout of every neuron, (m, h, d + 2)."""
    import torch

    weights, bias, readout = neurons(snapshot.parameters)
    return torch.cat([weights, bias[..., None], readout[..., None]], -1)


def _slow(start: Any, then: Any, d: int) -> Any:
    """Neurons whose weights have not doubled at t*, a seed, (R,)."""
    size, before = then[..., : d + 1].norm(dim=-1), start[..., : d + 1].norm(dim=-1)
    return (size < 2 * before).sum(-1)


def _pick(run: Any, frames: int) -> tuple[np.ndarray, np.ndarray]:
    """Times in units of t* and arrows of the first member: the start, a log grid, the end."""
    record, t_star = run.recordings["film"], float(run.event_times["t_star"][0])
    own = record.times[0].numpy()
    asked = t_star * np.geomspace(0.03, 30.0, frames - 2)
    chosen = [0, *np.abs(own[:, None] - asked).argmin(0), len(own) - 1]
    times = np.array([0.0, *np.minimum(asked, own[-1]), own[-1]]) / t_star
    return times, record.values[0].numpy()[chosen].astype(np.float32)


def _start_amplification(params: Params, point: Point) -> np.ndarray:
    """Lambda of untrained networks, (draws,)."""
    from regimes import measure

    d, informative = START_DIMENSION[point.model], INFORMATIVE[point.model]
    found = []
    for seed in range(params.start_draws):
        net = network(d, params.start_width, seed, dtype=point.dtype, device=point.device)
        weights = dict(net.named_parameters())["layers.0.weight"].detach()
        found.append(float(measure.amplification(weights, informative=informative)))
    return np.array(found)


def _start_claim(dataset: xr.Dataset) -> Claim:
    values = dataset.amplification_start.isel(alpha=0)
    width = int(dataset.start_width.max())
    tolerance = 0.05 if width < 10_000 else 0.02
    spread = values.std("draw", ddof=1)
    texts = [
        f"{model} (d={START_DIMENSION[str(model)]}) {float(values.sel(model=model).mean()):.4f}, "
        f"scatter {float(spread.sel(model=model)):.4f}"
        for model in dataset.model.values
    ]
    worst = values.mean("draw")
    model = worst.model.values[int(np.abs(worst.values - 1).argmax())]
    error = float(spread.sel(model=model)) / values.sizes["draw"] ** 0.5
    return Claim.near(
        "COMP-16",
        float(worst.sel(model=model)),
        1.0,
        tolerance if float(spread.max()) < tolerance else 0.0,
        error=error,
        why=(
            f"h={width}, mean over {values.sizes['draw']} draws and scatter of one draw: "
            f"{'; '.join(texts)}; the scatter must be below {tolerance} too"
        ),
    )


def _align_claim(dataset: xr.Dataset) -> Claim:
    feature, lazy = dataset.alpha < LAZY, dataset.alpha >= LAZY
    texts, fine = [], bool(feature.any()) and bool(lazy.any())
    for model in dataset.model.values:
        at = dataset.sel(model=model)
        share = INFORMATIVE[str(model)] / DIMENSION[str(model)]
        end = float(at.share_end.sel(alpha=feature).mean())
        start = float(at.share_start.sel(alpha=feature).mean())
        lazy_end = float(at.share_end.sel(alpha=lazy).mean())
        fine &= end > (0.95 if model == "stripe" else 0.9)
        fine &= abs(start - share) < 0.1 and abs(lazy_end - share) < 0.1
        texts.append(
            f"{model}: {start:.3f} at the start, {end:.4f} at the end, {lazy_end:.3f} at the end "
            f"of lazy training (isotropic: {share:.3f})"
        )
    last = dataset.share_end.sel(alpha=feature, model=dataset.model[0])
    return Claim.holds(
        "COMP-31",
        fine,
        "> 0.95 at the end (cylinder > 0.9); isotropic value ± 0.1 at the start and when lazy",
        measured=float(last.mean()),
        error=standard_error(last.values),
        why=(
            "; ".join(texts)
            + f". Weighted by (beta |w|)^2, h={int(dataset.width.max())}, mean over "
            f"{dataset.sizes['seed']} seeds; runs end at a mean loss of "
            f"{float(dataset.end_loss.max()):.3g}"
        ),
    )


def _dead_claim(dataset: xr.Dataset) -> Claim:
    wrong = int(dataset.dead_or_unmoved_only.sum())
    dead, unmoved = int(dataset.dead.sum()), int(dataset.unmoved.sum())
    total = int(dataset.width.max()) * dataset.dead.size
    slow = dataset.slow.where(dataset.alpha < LAZY)
    share = float(slow.mean()) / int(dataset.width.max())
    why = (
        f"{dead} of {total} neurons are dead at the start, {unmoved} have exactly their first "
        f"weights at t*, {wrong} are one and not the other; of all neurons trained with small "
        f"alpha {share:.0%} are alive but too slow to have doubled at t*"
    )
    if dead == 0:
        return Claim.unclear("COMP-34", "dead = unmoved", why=f"no neuron is dead; {why}")
    return Claim.holds(
        "COMP-34",
        wrong == 0 and dead == unmoved,
        "dead neurons at the start = neurons with unchanged weights at t*",
        measured=float(unmoved - dead),
        why=why,
    )


def _panel(
    dataset: xr.Dataset, model: str, alpha: float, plane: tuple[int, int], title: str
) -> Panel:
    at = dataset.sel(model=model, alpha=alpha)
    names = [f"x<sub>{i + 1}</sub>" for i in plane]
    film = at.film.values[..., list(plane)]
    points = at.points.values[:, list(plane)]
    axes = (names[0], names[1])
    return Panel(title, axes, points, at.labels.values, film, _boundary(model, plane))


def _boundary(model: str, plane: tuple[int, int]) -> tuple[dict[str, Any], ...]:
    """Where the label changes in the plane, as plotly shapes."""
    radius = rg.data.balanced_radius()
    if model == "cylinder" and plane == (0, 1):
        corners = {"x0": -radius, "y0": -radius, "x1": radius, "y1": radius}
        return ({"type": "circle", **corners},)
    edges = EDGES if model == "stripe" else (-radius, radius)
    return tuple({"type": "line", "x0": x, "x1": x, "y0": -3.0, "y1": 3.0} for x in edges)


def _side(model: str, plane: tuple[int, int]) -> str:
    if model == "stripe":
        return ""
    return ", along the axis" if plane == (0, 1) else ", from the side"


def _still(dataset: xr.Dataset, model: str) -> go.Figure:
    panels = []
    for alpha in dataset.alpha.values:
        name = "lazy" if alpha >= LAZY else "feature"
        times = dataset.frame_time.sel(model=model, alpha=alpha).values
        during = int(np.abs(times[1:-1] - 1.0).argmin()) + 1
        for plane in PLANES[model]:
            for frame, moment in ((0, "start"), (during, "t*"), (len(times) - 1, "end")):
                side = _side(model, plane)
                panel = _panel(dataset, model, alpha, plane, f"{name}{side}, {moment}")
                panels.append(replace(panel, arrows=panel.arrows[frame : frame + 1]))
    caption = (
        "Dots: training points by label; dotted: where the label changes. Arrows: β w of the same "
        "50 neurons, with one rescaling a picture: directions and relative sizes can be compared. "
        f"Small α ({_alphas(dataset)[0]:g}, feature learning): at t*, when a tenth of the points "
        "is fitted, the arrows that matter already lie "
        + (
            "along x1, the only direction that decides the label. "
            if model == "stripe"
            else "in the plane (x1, x2) that decides the label, and so they stay. "
        )
        + f"Large α ({_alphas(dataset)[-1]:g}, lazy): the arrows at the end are those of the start."
    )
    return draw(panels, columns=3, frame_names=[], caption=caption, moving=False)


def _film(dataset: xr.Dataset, model: str) -> go.Figure:
    panels = [
        _panel(dataset, model, alpha, plane, f"α = {alpha:g}{_side(model, plane)}")
        for plane in PLANES[model]
        for alpha in dataset.alpha.values
    ]
    times = dataset.frame_time.sel(model=model).values
    asked = np.geomspace(0.03, 30.0, times.shape[1] - 2)
    names = ["start", *(f"{time:.2g} t*" for time in asked), "end"]
    caption = (
        "Press ▶ or move the slider. Each arrow is a neuron, β w; time is in units of t*, at which "
        "a tenth of the training points is fitted, so both networks are as far in training. Left, "
        "small α: arrows turn to the informative directions long before t*, then move about to "
        "fit the points near the interfaces. Right, large α: nothing is seen to move."
    )
    return draw(panels, columns=2, frame_names=names, caption=caption, moving=True)


def _alphas(dataset: xr.Dataset) -> np.ndarray:
    return np.sort(dataset.alpha.values)
