"""A network with one hidden layer that learns a noisy teacher."""

from __future__ import annotations

import regimes as rg
from regimes.lab import Array, Point, TrialResult
from regimes.studies._types import NetworkSnapshot, Tensor
from regimes.studies.landscape import _networks
from regimes.studies.landscape.references._sizes import Student


def student(params: Student, point: Point) -> TrialResult:
    """LAND-76: mean square error on test points at the end, and the least on the way."""
    import torch

    data = [
        rg.data.teacher(
            params.n_train,
            params.n_test,
            params.d,
            seed=seed,
            noise=params.noise,
            dtype=torch.float64,
        ).to(getattr(torch, point.dtype), point.device)
        for seed in point.seed
    ]
    place = {"dtype": point.dtype, "device": point.device}
    start = _networks.networks(params.d, point.width, 1, list(point.seed), **place)
    run = rg.flow.descend(
        start,
        data,
        rate=params.rate,
        optimiser="adam",
        loss="mse",
        subtract_init=False,
        divide_by="1",
        until=None,
        events=(),
        max_steps=params.steps,
        check_every=20,
        observe={
            "error": rg.flow.Observer(
                _square_error, rg.flow.AnyOf((rg.flow.LogTimes(20), rg.flow.EverySteps(1000)))
            )
        },
        checkpoint=point.checkpoint(),
    )
    seen = run.recordings["error"].values
    total = sum(value[0].numel() for value in start.parameters.values())
    return TrialResult(
        {"parameters": total, "n_train": params.n_train},
        {
            "error": Array("seed", [float(values[-1]) for values in seen]),
            "early_error": Array("seed", [float(values.min()) for values in seen]),
            "loss": Array("seed", run.losses[:, -1]),
        },
    )


def _square_error(seen: NetworkSnapshot) -> Tensor:
    outputs = seen.predict_test()[..., 0]
    return (outputs - seen.members.test.y).double().square().mean(1)
