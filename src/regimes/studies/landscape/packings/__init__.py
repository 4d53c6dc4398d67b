"""Packings of soft discs: the system in which jamming was first understood."""

from __future__ import annotations

from dataclasses import dataclass

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, study

FORCES, GAPS = (0.02, 0.5), (1e-3, 0.1)  # windows of the exponents, of few discs
MODES = (1e-6, 10.0)  # of the histogram of frequencies, ten bins in a decade


@dataclass(frozen=True)
class Params:
    """Scanned: energy per disc and seed. Fixed: the rest."""

    energy: tuple[float, ...] = (1e-16, 1e-10, 1e-8, 1e-6)
    seed: tuple[int, ...] = (0, 1, 2)
    discs: int = 12
    packings: int = 2  # of each seed


@study(
    "landscape/packings",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(seed=tuple(range(10)), discs=64, packings=8),
        "paper": Params(
            energy=(1e-16, 1e-12, 1e-10, 1e-8, 1e-6), seed=tuple(range(10)), discs=1024, packings=2
        ),
    },
    axes=["energy", Axis("seed")],
    units={"contacts": "pairs", "density": "fraction"},
)
class Packings:
    """Discs at the density where they begin to touch everywhere, and above it.

    Half of the discs are 1.4 times larger. At jamming there are just as many contacts as degrees of
    freedom and one more: packings are isostatic, where networks are hypostatic. Each contact is a
    constraint, with an overlap for Delta; the second part of the Hessian is never positive, as
    discs that are pushed sideways come apart.

    The paper: [Geiger 2019, secs. II and VI, fig. 2].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Some packings at one energy."""
        import numpy as np
        import torch

        found = rg.theory.jammed_discs(
            params.discs, params.packings, point.seed, energy=point.energy
        )
        h0, hp = rg.theory.packing_hessian(found)
        bent = torch.linalg.eigvalsh(hp)
        kept = ~found.rattlers.repeat_interleave(2, 1)
        edges = np.geomspace(*MODES, 10 * round(np.log10(MODES[1] / MODES[0])) + 1)
        modes = []
        for whole, own in zip(h0 + hp, kept, strict=True):
            values = torch.linalg.eigvalsh(whole[own][:, own])
            modes.append(np.histogram(values.clamp_min(0).sqrt().numpy(), edges)[0])
        forces, gaps = rg.theory.packing_gaps(found)
        arrays = {
            name: Array("packing", values.double().numpy())
            for name, values in {
                "contacts": found.contacts,
                "freedom": found.freedom,
                "rattlers": found.rattlers.sum(1),
                "density": found.density,
                "overlap_energy": found.energy,
                "converged": found.converged,
                "hp_top": bent[:, -1],
                "hp_spread": bent.std(1),
            }.items()
        }
        arrays["modes"] = Array(("packing", "frequency"), modes)
        for name, samples, window in (("force", forces, FORCES), ("gap", gaps, GAPS)):
            drawn = [each[each > 0].numpy() for each in samples]
            sums = rg.measure.tail_sums(drawn, window)
            arrays[f"{name}_count"] = Array("packing", sums.counts.astype(float))
            arrays[f"{name}_sum"] = Array("packing", sums.sums)
        return TrialResult({"discs": params.discs}, arrays)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """The nearer to jamming, the more steps of the density."""
        return float(params.packings * params.discs**3 * (1 if point.energy > 1e-12 else 3))
