"""Names of what trials pass around, without importing the libraries they come from.

Modules with studies are imported whenever studies are listed, so they must not load torch. These
aliases stand for their classes in annotations, as those of the lab do; at run time they are plain
texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import torch

    from regimes import data, flow, kernels, measure, nets, theory

Tensor: TypeAlias = "torch.Tensor"
Module: TypeAlias = "torch.nn.Module"

Dataset: TypeAlias = "data.Dataset"
Points: TypeAlias = "data.Points"

Ensemble: TypeAlias = "nets.Ensemble"
FullyConnected: TypeAlias = "nets.FullyConnected"
MnasNetLike: TypeAlias = "nets.MnasNetLike"

Kernel: TypeAlias = "kernels.Kernel"
Learned: TypeAlias = "kernels.Learned"

Checkpoint: TypeAlias = "flow.Checkpoint"
Event: TypeAlias = "flow.Event"
NetworkSnapshot: TypeAlias = "flow.NetworkSnapshot"
Observer: TypeAlias = "flow.Observer"
Recording: TypeAlias = "flow.Recording"
Run: TypeAlias = "flow.Run"

ErrorSources: TypeAlias = "measure.ErrorSources"
JammingLine: TypeAlias = "measure.JammingLine"
LabelModes: TypeAlias = "measure.LabelModes"
PhaseBoundary: TypeAlias = "measure.PhaseBoundary"
PowerLaw: TypeAlias = "measure.PowerLaw"

FixedPoint: TypeAlias = "theory.FixedPoint"
