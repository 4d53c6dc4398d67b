"""Networks that have learned other images before, against those that start from scratch."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.deformations import _networks, _tasks, _training

# [Petrini 2021, app. E.1]: how weights that were learned elsewhere are tuned; the rate of the last
# layer is ten times that of the others, and both fall by this factor every epoch
TUNED: dict[str, Any] = {"rate": 1e-3, "weight_decay": 1e-3}
FASTER, FALL = 10.0, 0.975
STARTS = ("scratch", "tuned", "tuned_fast")


@dataclass(frozen=True)
class Params:
    """Scanned: seed. Fixed: the rest."""

    seed: tuple[int, ...] = (0, 1)
    before: str = "digits"  # the images learned first
    images: str = "digits"
    network: str = "mini8"
    n_before: int = 60
    n_train: int = 40
    n_test: int = 40
    probes: int = 30
    steps: int = 6
    enlarge: int = 2


@study(
    "deformations/transfer",
    version=1,
    dtype="float32",
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=(0, 1, 2, 3, 4, 5),
            before="mnist",
            images="fashion_mnist",
            n_before=20_000,
            n_train=1000,
            n_test=2000,
            probes=400,
            steps=250,
            enlarge=1,
        ),
    },
    axes=[Axis("seed")],
    units={"error": "fraction"},
)
class Transfer:
    """Does a network that has learned digits learn clothes from few images better, and stabler?

    A small ResNet learns MNIST and then 1,000 images of Fashion-MNIST, slowly, as the paper tunes
    networks that come from ImageNet, or at the rate of a fresh start. Beside it another one starts
    from scratch. All get the same number of steps on Fashion-MNIST.

    The paper: [Petrini 2021, fig. 5 and app. E.1].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One network from scratch, and one tuned in two ways."""
        from regimes import flow

        place = {"seed": point.seed, "device": point.device, "enlarge": params.enlarge}
        made = _tasks.task(params.images, params.n_train, params.n_test, **place)
        elsewhere = _tasks.task(params.before, params.n_before, params.n_test, **place)
        scratch = _networks.network(params.network, made, point.seed)
        learned = copy.deepcopy(scratch)

        def learn(net: Any, images: Any, name: str, **options: Any) -> Any:
            return _training.train(
                params.network,
                net,
                images,
                steps=params.steps,
                point=point,
                checkpoint=name,
                **options,
            )

        first = learn(learned, elsewhere, "before")
        epoch = max(1, params.n_train // 128)
        drops = flow.drops([epoch * k for k in range(1, params.steps // epoch + 1)], FALL)
        last = [name for name, _ in learned.named_parameters()][-1].rpartition(".")[0]
        options: dict[str, dict[str, Any]] = {
            "scratch": {},
            "tuned": {**TUNED, "schedule": drops, "rates": {last: FASTER}},
            "tuned_fast": {},
        }
        found = []
        for start in STARTS:
            net = scratch if start == "scratch" else copy.deepcopy(learned)
            run = learn(net, made, start, **options[start])
            three = _training.three(net, made.x_test[: params.probes], point.seed)
            found.append({"error": run.test_error, "train_loss": run.train_loss, **three})
        names = ("error", "train_loss", *_training.THREE)
        return TrialResult(
            {"error_before": first.test_error, "points": params.n_train},
            {name: Array("start", [each[name] for each in found]) for name in names},
        )
