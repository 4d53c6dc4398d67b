"""Studies for the tests: quick ones, and ones that misbehave in every way the lab must survive."""

import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regimes.lab import Array, Axis, Claim, Point, Series, TrialResult, rows, study
from regimes.lab.judge import Claims, below, mean_of, near


@dataclass(frozen=True)
class EchoParams:
    width: tuple[int, ...] = (1, 2)
    alpha: tuple[float, ...] = (0.5, 1.0, 2.0)
    seed: tuple[int, ...] = (0, 1)
    scale: float = 1.0


@study(
    "toy/echo",
    version=1,
    sizes={"smoke": EchoParams(), "cpu": EchoParams(width=(1, 2, 3))},
    axes=["width", Axis("alpha", unit="1"), Axis("seed", stacked=True)],
    units={"value": "m"},
    watch={"value": "min"},
    judges=("TOY-1", "TOY-2"),
)
class Echo:
    """Returns a formula of its point: scalars, arrays and series, all known beforehand."""

    @staticmethod
    def trial(params: EchoParams, point: Point) -> TrialResult:
        members = np.array(point.seed, dtype=point.dtype) + params.scale * point.alpha
        steps = point.width + 1  # series of different lengths
        return TrialResult(
            {"product": point.width * point.alpha, "name": f"w{point.width}"},
            arrays={
                "value": Array("seed", members),
                "spectrum": Array(("seed", "rank"), members[:, None] / np.array([1.0, 2.0])),
                "rank": Array("rank", [1, 2]),
            },
            series={"loss": Series(np.arange(steps), np.ones(steps) * point.alpha)},
        )

    @staticmethod
    def cost(params: EchoParams, point: Point) -> float:
        return float(point.width)

    @staticmethod
    def figures(dataset):
        import plotly.graph_objects as go

        figure = go.Figure(go.Scatter(x=dataset.alpha.values, y=dataset["product"].values[0]))
        return {"Product <b>": figure.update_layout(meta={"caption": "A </script> caption."})}

    @staticmethod
    def claims(dataset):
        largest = float(dataset["product"].max())
        return [
            Claim.between("TOY-1", largest, 0, 100, statement="It is small"),
            Claim.holds("TOY-2", largest < 0, "negative", why=f"{largest}", statement="Below 0"),
        ]


class MuteError(Exception):
    """Raises when it is asked what happened."""

    def __str__(self):
        raise KeyboardInterrupt("not even this")


def fork(seconds):
    """Start a child that holds every descriptor of the worker."""
    child = os.fork()
    if child == 0:
        time.sleep(seconds)
        os._exit(0)
    return child


def interrupt():
    raise KeyboardInterrupt


def mute():
    raise MuteError


def die_with_a_child():
    fork(3600)
    os.kill(os.getpid(), signal.SIGKILL)


def leave_a_child():
    return TrialResult({"child": fork(3600)})


def come_back_twice():
    os.fork()
    return TrialResult({"x": 1.0})


def die_after_a_long_speech():
    os.lseek(1, 400 * 2**20, os.SEEK_SET)  # as if so much had been printed
    os.write(1, b"last words\n")
    os.kill(os.getpid(), signal.SIGKILL)


MISDEEDS = {
    "huge integer": lambda: TrialResult({"x": 10**5000}),
    "long double": lambda: TrialResult(arrays={"x": Array("k", np.ones(2, np.longdouble))}),
    "reserved name": lambda: TrialResult(arrays={"__metadata__": Array("k", [1.0])}),
    "no name": lambda: TrialResult(arrays={3: Array("k", [1.0])}),
    "unwatchable": lambda: TrialResult({"x": "a text"}),
    "masked": lambda: TrialResult(arrays={"x": Array("k", np.ma.masked_equal([1, 2], 2))}),
    "interrupt": interrupt,
    "exit": lambda: sys.exit(3),
    "mute": mute,
    "input": lambda: TrialResult({"x": input("a number, please: ")}),
    "hang": lambda: time.sleep(3600),
    "die with a child": die_with_a_child,
    "leave a child": leave_a_child,
    "come back twice": come_back_twice,
    "die after a long speech": die_after_a_long_speech,
}


@dataclass(frozen=True)
class DrawParams:
    seed: tuple[int, ...] = (0, 1, 2, 3)
    limit: float = 10.0


@dataclass(frozen=True)
class FormulaParams:
    factor: float = 2.0


draw = Claims()


@draw("DRAW-1", "draws are small")
def _small(dataset):
    yield below("mean", mean_of(rows(dataset, "draws").drawn[0]), 2.0)


@draw("DRAW-2", "the recorded seeds are lucky")
def _lucky(dataset):
    yield below("least seed", float(rows(dataset, "draws").seed.min()), 2.5)


@draw("DRAW-3", "the formula holds")
def _formula(dataset):
    yield near("root", float(rows(dataset, "formula").formula[0]), 2**0.5, 0.1)


@draw("DRAW-4", "draws are negative")
def _negative(dataset):
    yield below("mean", mean_of(rows(dataset, "draws").drawn[0]), -1.0)


@study(
    "toy/draws",
    version=1,
    sizes={
        "smoke": {"draws": DrawParams(), "formula": FormulaParams()},
        "cpu": {"draws": DrawParams(seed=(0, 1, 2, 3, 4)), "formula": FormulaParams()},
    },
    axes={"draws": [Axis("seed", stacked=True)], "formula": []},
)
class Draws:
    """One block draws from its seeds, the other has nothing to draw."""

    claims = draw

    @staticmethod
    def trial(params, point: Point) -> TrialResult:
        if point.block == "formula":
            return TrialResult({"formula": params.factor**0.5})
        drawn = [np.random.default_rng(seed).uniform() for seed in point.seed]
        return TrialResult(arrays={"drawn": Array("seed", drawn)})


@dataclass(frozen=True)
class TroubleParams:
    kind: tuple[str, ...] = ("fine",)
    i: tuple[int, ...] = (0, 1, 2, 3)
    seconds: float = 0.0
    folder: str = ""  # a file appears in it for every trial that begins


@study("toy/trouble", version=1, sizes={"smoke": TroubleParams()}, axes=["kind", "i"])
class Trouble:
    """Misbehaves as its axis `kind` says."""

    @staticmethod
    def trial(params: TroubleParams, point: Point) -> TrialResult:
        mark = f"{point.kind}-{point.i}"
        first = not params.folder or not list(Path(params.folder).glob(f"{mark}-*"))
        if params.folder:
            (Path(params.folder) / f"{mark}-{os.getpid()}-{time.time_ns()}").touch()
        began = time.monotonic()
        time.sleep(params.seconds)
        if point.kind == "raise" and point.i % 2:
            raise RuntimeError(f"number {point.i} does not like it")
        if point.kind == "die" or (point.kind == "die-once" and first):
            os.write(1, b"last words\n")
            os.kill(os.getpid(), signal.SIGKILL)
        if point.kind == "starve" or (point.kind == "starve-once" and first):
            raise MemoryError("others have it all")
        if point.kind in ("starve-once", "timed"):
            return TrialResult({"began": began, "ended": time.monotonic()})
        if point.kind in MISDEEDS and point.i == 1:
            return MISDEEDS[point.kind]()
        if point.kind == "wrong":
            return {"x": 1}
        if point.kind == "environment":
            names = ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES")
            return TrialResult({name: os.environ.get(name, "") for name in names})
        return TrialResult({"x": float("nan") if point.kind == "nan" and point.i == 1 else 1.0})
