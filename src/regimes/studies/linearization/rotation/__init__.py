"""How the kernel turns towards its target, and what the turned kernel learns."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from regimes.lab import Array, Axis, Data, Point, Results, TrialResult, collect, study
from regimes.studies._types import Module, Tensor
from regimes.studies.linearization import _tasks, _training

LABELS = -1  # the index that stands for the labels of the images themselves
TOP = 50  # eigenvectors that a target's energy is looked for on
MODELS = ("initial", "trained", "matched")  # kernels of the linear models


@dataclass(frozen=True)
class Params:
    """Scanned: images, network and seed; side by side indices. Fixed: the rest."""

    images: tuple[str, ...] = ("digits",)
    network: tuple[str, ...] = ("mlp",)
    seed: tuple[int, ...] = (0, 1)
    index: tuple[int, ...] = (LABELS, 20, 50)
    n_train: int = 200
    n_test: int | None = 60
    epochs: int = 4
    epochs_resnet: int | None = None  # of the residual network, if fewer
    modes: int = 60  # eigenfunctions of the start whose alignment is followed
    base: int = 64
    precision: str = "float32"  # of the Grams


@study(
    "linearization/rotation",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=tuple(range(12)),
            index=(LABELS, 20, 50, 100),
            n_train=1500,
            n_test=297,
            epochs=100,
            modes=400,
        ),
        "paper": Params(
            images=("cifar10",),
            network=("mlp", "lenet", "resnet"),
            seed=(0, 1),
            index=(LABELS, 100, 400),
            n_train=8000,
            n_test=2000,
            epochs=100,
            epochs_resnet=20,
            modes=1000,
            precision="tf32",
        ),
    },
    axes=["images", "network", "seed", Axis("index", stacked=True)],
    units={"accuracy_network": "fraction", "accuracy": "fraction"},
    dtype="float32",
)
class Rotation:
    """Training turns the tangent kernel towards its target, and hardly any other eigenfunction.

    A network learns the sign of one eigenfunction of its kernel at the start. At the end that
    eigenfunction is better aligned with the kernel than its neighbours are. Linear models then
    learn the same target with the kernel of the start, with that of the end, and with that of the
    end scaled to the trace it had at the start, which leaves of the change only the rotation.

    The paper: [Ortiz-Jimenez 2021, secs. 4.2 and 4.3, figs. 7, 8, 14 and 15].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One network at its start, trained on each target, and the kernels after that."""
        import torch

        import regimes as rg

        data = _tasks.task(point.images, params.n_train, params.n_test, point.seed, point.dtype)
        data, net = _tasks.start(data, params.base, point)
        x, n = torch.cat([data.x_train, data.x_test]), data.n_train
        gram = _tasks.kernel(net, params.precision, len(x))(x)
        top = min(len(x), max(params.modes, *point.index) + 1)
        phi = rg.measure.gram_eigs(gram, top, method="dense").vectors
        labels = torch.cat([data.y_train, data.y_test])
        targets = torch.stack(
            [labels if j == LABELS else _tasks.signs(phi[j]) for j in point.index]
        )
        epochs = _epochs(params, point)
        protocol = _training.Protocol(epochs, seed=point.seed)
        sets = [dataclasses.replace(data, y_train=y[:n], y_test=y[n:]) for y in targets]
        found, kept = _training.train_networks(
            net, sets, protocol, keep=(epochs,), checkpoint=point.checkpoint()
        )
        followed = phi[: params.modes]
        before = rg.measure.target_alignment(gram, followed, normalise="rayleigh")
        rows = [
            _after(params, x, n, gram, y, followed, mine[epochs], protocol)
            for y, mine in zip(targets, kept, strict=True)
        ]
        arrays = {
            name: Array(dims, np.stack([np.asarray(row[name]) for row in rows]))
            for name, dims in (
                ("alignment_after", ("index", "mode")),
                ("trace_ratio", ("index",)),
                ("share", ("index", "when")),
                ("loss", ("index", "model")),
                ("until_low", ("index", "model")),
                ("accuracy", ("index", "model")),
                ("course", ("index", "model", "each_epoch")),
            )
        }
        arrays["until_low"] = Array(
            ("index", "model"), np.ma.masked_invalid(arrays["until_low"].values)
        )
        own = {
            "mode": Array("mode", np.arange(len(followed))),
            "alignment_before": Array("mode", before.float().cpu()),
            "accuracy_network": Array("index", found.accuracy),
            "loss_network": Array("index", found.loss),
            "course_network": Array(("index", "each_epoch"), found.course.float()),
        }
        return TrialResult(arrays=arrays | own)

    @staticmethod
    def summarise(results: Results) -> Data:
        """The grid, with the names of the linear models' kernels."""
        dataset = collect(results)
        return dataset.assign_coords(model=list(MODELS)) if "model" in dataset.dims else dataset

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Passes of the network."""
        return {"mlp": 1.0, "lenet": 10.0, "resnet": 300.0}[point.network] * _epochs(params, point)


def _epochs(params: Params, point: Point) -> int:
    resnet = params.epochs_resnet if point.network == "resnet" else None
    return resnet or params.epochs


def _after(
    params: Params,
    x: Tensor,
    n: int,
    gram: Tensor,
    y: Tensor,
    followed: Tensor,
    trained: Module,
    protocol: _training.Protocol,
) -> dict[str, object]:
    """What one trained network's kernel is aligned with, and how linear models do with it."""
    import torch

    import regimes as rg

    turned = _tasks.kernel(trained, params.precision, len(x))(x)
    ratio = float(turned.diagonal().double().mean() / gram.diagonal().double().mean())
    kernels = {"initial": gram, "trained": turned, "matched": turned / ratio}
    models = [_training.train_linear(kernels[m], y[None], n, protocol) for m in MODELS]
    tops = [
        rg.measure.gram_eigs(K[:n, :n].contiguous(), min(n, TOP)).vectors for K in (gram, turned)
    ]
    share = [rg.measure.energy_concentration(v, y[:n], len(v)).value for v in tops]
    return {
        "alignment_after": rg.measure.target_alignment(
            turned, followed, normalise="rayleigh"
        ).cpu(),
        "trace_ratio": ratio,
        "share": torch.stack(share).cpu(),
        "loss": [float(m.loss[0]) for m in models],
        "until_low": [float(m.until_low[0]) for m in models],
        "accuracy": [float(m.accuracy[0]) for m in models],
        "course": torch.stack([m.course[0] for m in models]).float(),
    }
