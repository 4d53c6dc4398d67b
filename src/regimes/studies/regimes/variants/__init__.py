"""What changes the picture of lazy and feature training, and what does not.

Data sets, the trainer, depth, the loss, the offset of the predictor, biases
[Geiger 2020, figs. 6, 7, 15 and 16].
"""

from dataclasses import replace

import numpy as np

import regimes as rg
from regimes.lab import Array, Axis, Data, Point, TrialResult, study
from regimes.studies.regimes import _runs
from regimes.studies.regimes.variants._settings import (
    COMPARED,
    Params,
    counted,
    setting_of,
    task_of,
    trained,
)

CPU = Params(
    variant=(
        *COMPARED,
        "flow:mnist",
        "flow:fashion_mnist",
        "flow:kmnist",
        "flow:cifar10",
        "adam:cifar10",
    ),
    seed=tuple(range(8)),
    images="mnist",
    pca_images="mnist",
    shrink=2,
    shrink_cifar10=4,
    n_test=5000,
    n_kernel=100,
    n_sample=200,
    scale=(0.1, 1.0, 10.0, 1e3),
    alpha=(1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0),
    p=100,
    deep=6,
    width=60,
    p_offset=64,
    width_offset=50,
    p_sets=200,
    depth_sets=3,
    eps=1e-3,
    eps_deep=3e-3,
    max_steps=40_000,
    rate=1e-3,
    adam_steps=20_000,  # the row's 6000 leave 5 % of the points unfitted at 0.1
)
PAPER = replace(
    CPU,
    variant=(*COMPARED, "flow:mnist", "flow:fashion_mnist", "flow:cifar10", "adam:cifar10"),
    seed=tuple(range(10)),
    images="fashion_mnist",
    components=None,
    shrink=1,
    shrink_cifar10=1,
    n_test=50_000,
    n_kernel=1000,
    scale=tuple(float(f"{a}e{k}") for k in range(-4, 8) for a in ("1", "3.2")),
    alpha=tuple(float(f"1e{k}") for k in range(-6, 7)),
    p=10_000,
    depth=3,
    deep=9,
    width=100,
    p_offset=10_000,
    width_offset=100,
    p_sets=10_000,
    eps=1e-4,
    eps_deep=1e-4,
    max_steps=50_000,
    adam_steps=100_000,
)


@study(
    "regimes/variants",
    version=1,
    sizes={"smoke": Params(), "cpu": CPU, "paper": PAPER},
    axes=["variant", Axis("seed", stacked=True)],
    units={"error": "fraction", "ensemble_error": "fraction", "variance": "1"},
    stored={"scale": "at"},
)
class Variants:
    """The same scan over the scale of the output, with one thing changed at a time.

    Lazy training (a large scale `sqrt(h) alpha`) beats feature training of fully connected
    networks once seeds are averaged, by gradient flow as by Adam; depth makes networks fluctuate
    more; a softer loss with memory and biases change next to nothing; training `alpha f` instead of
    `alpha (f - f0)` hurts when alpha is large.

    The paper: [Geiger 2020, sec. 7, apps. I and J].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train every (scale, seed) of one variant."""
        setting = setting_of(params, point.variant)
        data = task_of(params, setting, point.device)
        start, run = trained(params, setting, data, point.seed, point.device)
        both = (setting.scale, point.seed)
        outputs = _runs.grid(run.test_predictions, *both)
        kept = _runs.grid(counted(setting, run), *both)
        changes = _runs.kernel_changes(start, run, data.x_test[: params.n_kernel])
        found = vars(rg.measure.ensemble_outcomes(outputs, data.y_test.cpu().numpy(), kept)) | {
            "kept": kept,
            "steps": _runs.grid(run.steps, *both).astype(float),
            "kernel_change": _runs.grid(changes, *both),
            "unfitted": 1.0 - _runs.grid(run.history["satisfied"][:, -1], *both),
        }
        dims = ("scale", "seed")
        arrays = {name: Array(dims[: values.ndim], values) for name, values in found.items()}
        arrays["alpha"] = Array("scale", np.array(setting.scale) / setting.width**0.5)
        arrays["sample"] = Array((*dims, "point"), outputs[:, :, : params.n_sample])
        sizes = {"p": setting.p, "depth": setting.depth, "width": setting.width}
        return TrialResult({**sizes, "d": data.x_train[0].numel()}, arrays)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Products of a step; Adam takes batches and needs more steps."""
        setting = setting_of(params, point.variant)
        d = 200 if setting.components is None else setting.components
        layers = d + (setting.depth - 1) * setting.width
        points = 40 if setting.adam else setting.p
        return float(len(setting.scale) * points * setting.width * layers)

    @staticmethod
    def upgrade(dataset: Data) -> Data:
        """Older summaries hold the scales of each variant, which alpha and width tell."""
        return dataset.drop_vars("scale", errors="ignore")
