"""What is read off the networks of one architecture and one P."""

from __future__ import annotations

from typing import Any

import numpy as np

import regimes as rg
from regimes.studies._types import Ensemble, FullyConnected, Tensor
from regimes.studies.landscape import _tasks
from regimes.studies.landscape._runs import SMOOTH, Trained

TAUS = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6)
GAPS, OVERLAPS = (1e-2, 0.5), (0.05, 2.0)  # windows of the exponents, LAND-28 and LAND-29
SHOWN = (1e-6, 1e2)  # of their histograms, ten bins in a decade
SIGN = 1e-9  # eigenvalues of H below minus this times the largest count as negative
KEPT = 2  # seeds whose eigenvalues are kept whole
FRESH = 10_000  # added to a seed for points that were not trained on
BINS, REACH = 301, 1.5  # of pre-activations in units of their root mean square

Found = dict[str, tuple[tuple[str, ...], Any]]  # name -> dimensions after that of P, values


def of_group(trained: Trained, group: int, polished: int, newton_steps: int) -> Found:
    """Everything of the networks with one P."""
    import torch

    size = len(trained.seeds)
    at = list(range(group * size, (group + 1) * size))
    x, y = (torch.stack(each).double() for each in zip(*map(trained.points_of, at), strict=True))
    ends = _double(trained.ensemble.select(at))
    start = _double(trained.start.select(at))
    loss = rg.flow.quadratic_hinge(trained.margin)
    with torch.no_grad():
        f = ends(x, member_inputs=True)[..., 0]
    found = _spectra(ends, x, y, loss)
    for name, slopes in (("start", against_label), ("start_weighed", loss)):
        parts = rg.curvature.hessian(start, x, y, slopes, own=True)
        found |= {f"{name}_{k}": v for k, v in _bent(parts.spectrum("network")).items()}
    found |= _polished(ends, x, y, loss, [s < polished for s in trained.seeds], newton_steps)
    found |= _margins(f, y, trained.margin, _active(ends, x))
    found |= _kinks(ends, x, _fresh(trained, x))
    return found


def against_label(f: Tensor, y: Tensor) -> Tensor:
    """A loss of slope -y wherever the output is: all points weigh alike in its Hp."""
    return -y * f


def _polished(
    ensemble: Ensemble, x: Tensor, y: Tensor, loss: Any, chosen: list[bool], steps: int
) -> Found:
    """Spectra of the chosen networks after Newton's method; NaN for the others."""
    names = ("h_negative", "hp_negative", "hp_trace", "gradient", "end_loss")
    found = {name: np.full(len(chosen), np.nan) for name in names}
    at = np.flatnonzero(chosen).tolist()
    if not steps:
        return {}
    if at:
        x, y = x[at], y[at]
        end = rg.curvature.newton(ensemble.select(at), x, y, loss, steps=steps, own=True)
        again = _spectra(end.ensemble, x, y, loss)
        again |= {"gradient": (("seed",), end.gradient.cpu())}
        again |= {"end_loss": (("seed",), end.loss.cpu())}
        for name in names:
            found[name][at] = np.asarray(again[name][1])
    return {f"polished_{name}": (("seed",), values) for name, values in found.items()}


def _spectra(ensemble: Ensemble, x: Tensor, y: Tensor, loss: Any) -> Found:
    """Of the Hessian of the mean loss and its two parts."""
    import torch

    parts = rg.curvature.hessian(ensemble, x, y, loss, own=True)
    h0, hp, h = (parts.spectrum(name).cpu() for name in ("gauss_newton", "network", "total"))
    signs = [rg.measure.mode_counts(row, cutoff=1e-10) for row in h0]
    cut = [rg.measure.mode_counts(row, cutoff=SIGN) for row in h]
    size = h.shape[1]
    seeds = ("seed",)
    found: Found = {
        "h0_rank": (seeds, [each.rank for each in signs]),
        "h0_step": (seeds, [each.gap for each in signs]),
        "h0_least": (seeds, [_least(row, each.rank) for row, each in zip(h0, signs, strict=True)]),
        "h_negative": (seeds, [each.negative / size for each in cut]),
    }
    kept = torch.stack([h0, hp, h], 1)[:KEPT].float()
    found["eigenvalues"] = (("kept", "part", "eigenvalue"), kept.numpy())
    return found | _bent(hp)


def _least(spectrum: Tensor, rank: int) -> float:
    """The smallest eigenvalue that is not zero, of decreasing ones."""
    return float(spectrum[rank - 1]) if rank else float("nan")


def _bent(hp: Tensor) -> Found:
    """Signs and moments of a spectrum of Hp."""
    hp = hp.cpu()
    sizes = hp.abs()
    zeros = [rg.measure.mode_counts(row, cutoff=1e-6) for row in hp]
    signs = [rg.measure.mode_counts(row, cutoff=SIGN) for row in hp]
    seeds, total = ("seed",), hp.shape[1]
    return {
        "hp_share": (seeds, [each.negative_share for each in signs]),
        "hp_negative": (seeds, [each.negative / total for each in signs]),
        "hp_zeros": (seeds, [each.zero for each in zeros]),
        "hp_skew": (seeds, (hp**3).sum(1) / (sizes**3).sum(1)),
        "hp_trace": (seeds, hp.sum(1) / sizes.sum(1)),
        "hp_spread": (seeds, hp.std(1)),
    }


def _active(ensemble: Ensemble, x: Tensor) -> Tensor | None:
    """Whether a gradient of the weights reaches a point; None where all have one."""
    import torch

    net = ensemble.template
    assert isinstance(net, rg.nets.FullyConnected)
    if net.activation.name in SMOOTH:
        return None
    with torch.no_grad():
        _, layers = net.layers_stacked(ensemble.parameters, x, member_inputs=True)
    return rg.measure.active_points(layers[:-1])


def _margins(f: Tensor, y: Tensor, margin: float, active: Tensor | None) -> Found:
    """Sums for the exponents of gaps and overlaps, and histograms of both."""
    import torch

    pairs = rg.measure.gaps_and_overlaps(f, y, margin=margin, active=active)
    found: Found = {}
    bins = 10 * round(np.log10(SHOWN[1] / SHOWN[0]))
    edges = np.geomspace(*SHOWN, bins + 1)
    for name, drawn, window in (
        ("gap", pairs.gaps, GAPS),
        ("overlap", pairs.overlaps, OVERLAPS),
    ):
        samples = [each[np.isfinite(each) & (each > 0)] for each in drawn]
        sums = rg.measure.tail_sums(samples, window)
        counts = [np.histogram(each, edges)[0] for each in samples]
        found[f"{name}_count"] = (("seed",), sums.counts)
        found[f"{name}_sum"] = (("seed",), sums.sums)
        found[f"{name}_bins"] = (("seed", "decade"), np.asarray(counts, dtype=np.int32))
    loss = torch.clamp(margin - y * f, min=0).square().mean(1) / 2
    return found | {"end_loss": (("seed",), loss.cpu())}


def _kinks(ensemble: Ensemble, x: Tensor, fresh: Tensor) -> Found:
    """Pre-activations at zero, on the points of training and on others of the same law."""
    import torch

    net = ensemble.template
    assert isinstance(net, rg.nets.FullyConnected)
    found: Found = {}
    for name, points in (("train", x), ("fresh", fresh)):
        with torch.no_grad():
            _, layers = net.layers_stacked(ensemble.parameters, points, member_inputs=True)
        hidden = layers[:-1]
        counts = rg.measure.cusp_count(hidden, taus=TAUS, scale=1.0).counts
        # with the dimensions of all P and seeds last
        found[f"{name}_kinks"] = (("seed", "layer", "tau"), counts.transpose(0, 1).cpu().float())
        seen = [_density(z.cpu()) for z in hidden]
        found[f"{name}_bulk"] = (("layer", "bin"), torch.stack(seen).float())
    return found


def _density(z: Tensor) -> Tensor:
    """Of all values over their root mean square, in bins around zero."""
    import torch

    counts = torch.histc(z / z.square().mean().sqrt(), BINS, -REACH, REACH)
    return counts / z.numel() / (2 * REACH / BINS)


def _fresh(trained: Trained, x: Tensor) -> Tensor:
    """As many points of each member that it was not trained on."""
    import torch

    p = x.shape[1]
    first = trained.data[0]
    if first.x_test is not None and len(first.x_test):
        return torch.stack([each.x_test[:p] for each in trained.data]).double()
    net = _net(trained)
    draws = tuple(seed + FRESH for seed in trained.seeds)
    made = _tasks.tasks("random", draws, p, d=net.in_dim, device=str(x.device))
    return torch.stack([each.x_train for each in made]).double()


def _double(ensemble: Ensemble) -> Ensemble:
    return ensemble.moved_to({name: w.double() for name, w in ensemble.parameters.items()})


def _net(trained: Trained) -> FullyConnected:
    net = trained.start.template
    assert isinstance(net, rg.nets.FullyConnected)
    return net
