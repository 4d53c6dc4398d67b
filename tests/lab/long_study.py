"""A study whose trial is two flows that leave checkpoints, and that dies or fails when asked to."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import torch

from regimes import data, flow, nets
from regimes.lab import Array, Axis, Point, TrialResult, study


@dataclass(frozen=True)
class Params:
    seed: tuple[int, ...] = (0, 1, 2)
    folder: str = ""  # `steps` in it gets a line for every step, `lives` one for every start
    die_at: tuple[int, ...] = ()  # step at which the first life ends, the second, ...
    how: str = "kill"  # or "raise"


@study("toy/long", version=1, sizes={"smoke": Params()}, axes=[Axis("seed", stacked=True)])
class Long:
    """Two flows."""

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        lives = note(params.folder, "lives", "begun")
        end = dict(enumerate(params.die_at, 1)).get(lives)

        def look(snapshot):
            step = int(snapshot.readings.step.max())
            note(params.folder, "steps", f"{step} of life {lives}")
            if step == end and params.how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if step == end:  # or when a test has made the kill harmless
                raise RuntimeError("stopped")
            return snapshot.predictions[:, 0]

        ds = data.stripe(n_train=30, n_test=10, d=3, seed=0, dtype=getattr(torch, point.dtype))
        made = nets.FullyConnected(3, 10, 2, activation="softplus_5", dtype=ds.x_train.dtype)
        first = flow.gradient_flow(
            made,
            ds,
            ensemble=list(point.seed),
            loss="softhinge_20",
            alpha=[1.0, 10.0, 100.0],
            until=flow.loss_below(0.5),
            max_steps=25,
            observe={"outputs": flow.Observer(look, flow.EverySteps(1))},
            checkpoint=point.checkpoint(),
        )
        second = flow.descend(
            made, ds, rate=0.1, batch_size=7, max_steps=8, checkpoint=point.checkpoint("second")
        )
        return TrialResult(
            {"seconds_of_flow": first.seconds},
            arrays={
                "outputs": Array(("seed", "point"), first.outputs_test[..., 0]),
                "steps": Array("seed", first.steps),
                "seen": Array("look", first.recordings["outputs"].values[2][:, 0]),
                "second": Array("point", second.outputs_test[0, :, 0]),
            },
        )


def note(folder: str, name: str, line: str) -> int:
    """Add a line to a file; how many there are now."""
    if not folder:
        return 0
    path = Path(folder) / name
    with path.open("a") as file:
        file.write(f"{line}\n")
    return len(path.read_text().splitlines())
