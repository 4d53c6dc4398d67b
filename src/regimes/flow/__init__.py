"""How parameters move: gradient flow, frozen-kernel flow and descent of many networks at once.

    gradient_flow   dw/dt = -grad, steps accepted only within tolerances
    kernel_flow     the same in function space under a kernel that does not move
    descend         gradient descent, SGD, momentum, Adam

These take the same losses, events and observers, train stacked members side by side, and return a
`Run` that says what happened to each. Models that are linear in their parameters train faster:

    kernel_descent  SGD by a Gram alone, many targets at once
    descend_linear  the linearisation of a network, by its Gram, stored features or products

Image networks with batch norm and dropout, one at a time and in place:

    train_images    SGD or Adam on random batches with augmentation, on a CPU or a GPU
"""

from regimes import _door
from regimes.flow._checkpoint import Checkpoint
from regimes.flow._control import StepRule, Tolerances
from regimes.flow._descend import descend
from regimes.flow._events import (
    Event,
    all_correct,
    fitted,
    fraction_fitted,
    loss_below,
    loss_halved,
    margin_above,
)
from regimes.flow._gradient_flow import gradient_flow
from regimes.flow._kernel_descent import LinearRun, kernel_descent
from regimes.flow._kernel_flow import kernel_flow, kernel_steps
from regimes.flow._linear_descent import descend_linear
from regimes.flow._losses import (
    CrossEntropy,
    FunctionLoss,
    Loss,
    MarginLoss,
    MeanSquare,
    binary_cross_entropy,
    hinge,
    loss_names,
    quadratic_hinge,
    soft_hinge,
)
from regimes.flow._momentum import Momentum
from regimes.flow._normalised_hinge import NormalisedHinge
from regimes.flow._observers import Observer, Recording
from regimes.flow._optimisers import SGD, Adam
from regimes.flow._rates import constant, cosine, drops, hold_then_lower, linear_decay
from regimes.flow._readings import Readings
from regimes.flow._run import Run
from regimes.flow._schedules import (
    AnyOf,
    EverySteps,
    EveryTime,
    LogTimes,
    Never,
    OnEvent,
    Schedule,
)
from regimes.flow._snapshots import KernelSnapshot, NetworkSnapshot
from regimes.flow._status import Status
from regimes.flow._step_changes import step_changes
from regimes.flow._train_images import ImageRun, train_images

__all__ = [
    "SGD",
    "Adam",
    "AnyOf",
    "Checkpoint",
    "CrossEntropy",
    "Event",
    "EverySteps",
    "EveryTime",
    "FunctionLoss",
    "ImageRun",
    "KernelSnapshot",
    "LinearRun",
    "LogTimes",
    "Loss",
    "MarginLoss",
    "MeanSquare",
    "Momentum",
    "NetworkSnapshot",
    "Never",
    "NormalisedHinge",
    "Observer",
    "OnEvent",
    "Readings",
    "Recording",
    "Run",
    "Schedule",
    "Status",
    "StepRule",
    "Tolerances",
    "all_correct",
    "binary_cross_entropy",
    "constant",
    "cosine",
    "descend",
    "descend_linear",
    "drops",
    "fitted",
    "fraction_fitted",
    "gradient_flow",
    "hinge",
    "hold_then_lower",
    "kernel_descent",
    "kernel_flow",
    "kernel_steps",
    "linear_decay",
    "loss_below",
    "loss_halved",
    "loss_names",
    "margin_above",
    "quadratic_hinge",
    "soft_hinge",
    "step_changes",
    "train_images",
]

_door.keep(globals())
