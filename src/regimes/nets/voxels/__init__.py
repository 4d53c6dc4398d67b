"""Networks on voxels that commute with rotations: 3D steerable CNNs [Weiler 2018].

Fields of scalars, vectors and tensors (`FieldType`), convolutions with steerable kernels
(`SteerableConv3d`), and layers between them that keep fields what they are:

>>> import torch
>>> from regimes.nets import voxels
>>> conv = voxels.SteerableConv3d((1,), (2, 1), padding=2).double()
>>> conv.draw_parameters(torch.Generator().manual_seed(0))
>>> field = torch.randn(1, 1, 9, 9, 9, generator=torch.Generator().manual_seed(1)).double()
>>> turn = voxels.cube_symmetries()[7]
>>> one = conv(conv.type_in.transform(field, turn))
>>> two = conv.type_out.transform(conv(field), turn)
>>> bool((one - two).abs().max() < 1e-12)
True
"""

from regimes import _door
from regimes._grids import cube_symmetries, move_grid
from regimes.nets.voxels._conv import SteerableConv3d
from regimes.nets.voxels._field_type import Fields, FieldType
from regimes.nets.voxels._harmonics import spherical_harmonics, three_j, wigner
from regimes.nets.voxels._kernels import cutoff_orders, kernel_basis
from regimes.nets.voxels._low_pass import LowPass, low_pass
from regimes.nets.voxels._network import MeanOverSpace, VoxelNetwork
from regimes.nets.voxels._nonlinear import Gated, NormRelu, ProductOfFields
from regimes.nets.voxels._norm import CapsuleDropout, EquivariantBatchNorm, fold_batch_norm
from regimes.nets.voxels._plain import (
    ShapesSteerable,
    SteerableCNN,
    TetrisCNN,
    TetrisSteerable,
    VoxelCNN,
)
from regimes.nets.voxels._residual import CathCNN, CathSteerable

__all__ = [
    "CapsuleDropout",
    "CathCNN",
    "CathSteerable",
    "EquivariantBatchNorm",
    "FieldType",
    "Fields",
    "Gated",
    "LowPass",
    "MeanOverSpace",
    "NormRelu",
    "ProductOfFields",
    "ShapesSteerable",
    "SteerableCNN",
    "SteerableConv3d",
    "TetrisCNN",
    "TetrisSteerable",
    "VoxelCNN",
    "VoxelNetwork",
    "cube_symmetries",
    "cutoff_orders",
    "fold_batch_norm",
    "kernel_basis",
    "low_pass",
    "move_grid",
    "spherical_harmonics",
    "three_j",
    "wigner",
]

_door.keep(globals())
