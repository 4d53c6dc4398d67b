"""Descent that rescales its features, on noisy regression [Baratin 2021, fig. 5]."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Array, Axis, Point, TrialResult, study

MODES = ("off", "contract", "keep_top")


@dataclass(frozen=True)
class Params:
    """Scanned: how the noise lies; stacked: seed, a draw of the data. Fixed: the rest."""

    orthogonal: tuple[bool, ...] = (False, True)
    seed: tuple[int, ...] = (0, 1, 2)
    n_train: int = 50
    d: int = 10
    sigma2: float = 0.1
    n_test: int = 200
    rate: float = 0.9  # of 1/lambda_1
    steps: int = 20
    every: int = 10  # steps between kept errors


@study(
    "alignment/supernat",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(seed=tuple(range(100)), n_test=1000, steps=400),
        "paper": Params(seed=tuple(range(1000)), n_test=1000, steps=400),
    },
    axes=["orthogonal", Axis("seed", stacked=True)],
)
class SuperNat:
    """A linear model learns one useful feature among ten that only fit noise.

    Gradient descent in the end fits the noise along the useless features. SuperNat rescales the
    features after every step so that the next steps are short in the norm that bounds complexity:
    directions with nothing left to learn freeze.

    The paper: [Baratin 2021, sec. 4.1.2, fig. 5].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """All draws side by side, with three rescalings."""
        import torch

        from regimes import data, measure

        sets = [
            data.noisy_regression(
                params.n_train,
                params.d,
                params.sigma2,
                seed,
                n_test=params.n_test,
                orthogonal=point.orthogonal,
                dtype=torch.float64,
            ).to(torch.float64, point.device)
            for seed in point.seed
        ]
        phi, y, x_test, y_test = (
            torch.stack([getattr(each, name) for each in sets])
            for name in ("x_train", "y_train", "x_test", "y_test")
        )
        top = torch.linalg.matrix_norm(phi, 2) ** 2
        arrays = {}
        for mode in MODES:
            run = measure.supernat(
                phi, lambda f: f - y, eta=params.rate / top, steps=params.steps, rescale=mode
            )
            weights = run.weights[:: params.every]
            errors = (torch.einsum("rtp,srp->srt", x_test, weights) - y_test).square().mean(2)
            arrays[f"error_{mode}"] = Array(("seed", "kept"), errors.T)
            train = (torch.einsum("rtp,srp->srt", phi, weights[-1:]) - y).square().mean(2)
            arrays[f"train_{mode}"] = Array("seed", train[0])
        return TrialResult(
            arrays={"kept": Array("kept", range(0, params.steps + 1, params.every)), **arrays}
        )
