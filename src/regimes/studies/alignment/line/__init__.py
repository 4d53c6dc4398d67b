"""Modes of random deep networks on a line [Baratin 2021, fig. 8]."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Array, Axis, Point, TrialResult, study

SHOWN = (0, 5, 20)  # eigenvectors that are drawn, counted from 0


@dataclass(frozen=True)
class Params:
    """Scanned: initialisation; stacked: seed. Fixed: the rest."""

    init: tuple[str, ...] = ("torch_default", "kaiming_biases")
    seed: tuple[int, ...] = (0, 1)
    points: int = 20
    width: int = 16
    depth: int = 6  # weight matrices


@study(
    "alignment/line",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(seed=tuple(range(20)), points=50, width=256),
        "paper": Params(seed=tuple(range(100)), points=50, width=256),
    },
    axes=["init", Axis("seed", stacked=True)],
    units={"values": "1"},
)
class Line:
    """Eigenvectors of the kernel of a random deep network on a line are waves, slow ones first.

    Fifty equally spaced points of [0, 1]. Biases are random: without them a ReLU network of one
    input is linear on either side of 0 and its kernel has rank two.

    The paper: [Baratin 2021, sec. 2, app. A.5.2, fig. 8].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Spectrum and Fourier modes of all seeds' kernels, centred and as they are."""
        import torch

        from regimes import data, measure, nets
        from regimes.nets._initialisers import Initialiser, initialiser
        from regimes.tangent import stacked_gram

        init = point.init
        if init == "kaiming_biases":  # weights of variance 2/fan_in, biases as torch draws them
            uniform = initialiser("torch_default").bias
            init = Initialiser(init, initialiser("kaiming").weight, uniform)
        dtype = getattr(torch, point.dtype)
        x = data.line1d(params.points, dtype=dtype).x_train.to(point.device)
        members = nets.stack(
            lambda seed: nets.FullyConnected(
                1,
                params.width,
                depth=params.depth - 1,
                parametrization="standard",
                init=init,
                bias=True,
                seed=seed,
                dtype=dtype,
                device=point.device,
            ),
            point.seed,
        )
        found: dict[str, list[torch.Tensor]] = {}
        for gram in stacked_gram(members, x):
            for name, K in (("centred", measure.center(gram)), ("plain", gram)):
                modes = measure.fourier_decomposition(K)
                found.setdefault(f"values_{name}", []).append(modes.values)
                found.setdefault(f"peak_{name}", []).append(modes.peak_frequency)
                found.setdefault(f"mean_{name}", []).append(modes.mean_frequency)
        arrays = {name: Array(("seed", "rank"), torch.stack(rows)) for name, rows in found.items()}
        first = measure.center(stacked_gram(members.select(slice(1)), x)[0])
        modes, pairs = (
            measure.fourier_decomposition(first),
            measure.gram_eigs(first, method="dense"),
        )
        arrays["magnitudes"] = Array(("frequency", "rank"), modes.magnitudes.float())
        kept = [k for k in SHOWN if k < params.points]
        arrays["vectors"] = Array(("shown", "place"), pairs.vectors[kept].float())
        return TrialResult(arrays=arrays)
