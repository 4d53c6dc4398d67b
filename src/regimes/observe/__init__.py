"""Observe the tangent kernel of a network while any loop trains it.

    watch = KernelObserver(network, {"train": (x, y), "test": (x_test, y_test)})
    ...
        watch.step()                     # after every step of the optimiser
    record = watch.finish()              # numbers at log-spaced steps

A Lightning trainer takes `lightning_callback(...)`, one of Hugging Face
`transformers_callback(...)`, and a flow or descent of this library `on_flow(...)`.
"""

from regimes import _door
from regimes.observe._capacity import (
    capacity_measures,
    fisher_rao,
    margin_percentile,
    path_norm_of,
)
from regimes.observe._lightning import lightning_callback
from regimes.observe._log_steps import LogSteps
from regimes.observe._numbers import Wanted, kernel_numbers
from regimes.observe._observer import KernelObserver, Sink
from regimes.observe._on_flow import on_flow
from regimes.observe._path import Path
from regimes.observe._record import Record, load_record
from regimes.observe._sinks import TensorBoard, WandB
from regimes.observe._transformers import transformers_callback

__all__ = [
    "KernelObserver",
    "LogSteps",
    "Path",
    "Record",
    "Sink",
    "TensorBoard",
    "WandB",
    "Wanted",
    "capacity_measures",
    "fisher_rao",
    "kernel_numbers",
    "lightning_callback",
    "load_record",
    "margin_percentile",
    "on_flow",
    "path_norm_of",
    "transformers_callback",
]

_door.keep(globals())
