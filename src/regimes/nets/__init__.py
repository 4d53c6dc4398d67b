"""Networks: parametrised functions from (n, ...) to (n, c), seeded, stackable, by name.

Every network takes `seed`, `dtype` and `device`, draws its parameters from its own
generator in float64, and leaves torch's global random state alone.
"""

from regimes import _door
from regimes.nets import lattice, points, sphere, voxels
from regimes.nets._activations import Activation, activation, activation_names
from regimes.nets._alexnet import AlexNet
from regimes.nets._convnet3 import ConvNet3
from regimes.nets._convnet4 import ConvNet4
from regimes.nets._counts import n_total, n_weights, width_for
from regimes.nets._efficientnet import EfficientNet
from regimes.nets._fully_connected import MLP, FullyConnected
from regimes.nets._initialisers import Initialiser, initialise, initialiser_names
from regimes.nets._layers import ScaledConv2d, ScaledLinear
from regimes.nets._lenet import LeNet5
from regimes.nets._mnasnet import MnasNetLike
from regimes.nets._moments import gaussian_second_moment
from regimes.nets._network import Network
from regimes.nets._parametrization import ABC
from regimes.nets._pullbacks import Pullback, pullback
from regimes.nets._registry import make, names
from regimes.nets._resnet import ResNet18
from regimes.nets._resnets import ResNet
from regimes.nets._stack import Ensemble, stack
from regimes.nets._taxonomy import Architecture, EquivariantExample, taxonomy
from regimes.nets._vgg import VGG
from regimes.nets._wide_resnet import WideResNet

__all__ = [
    "ABC",
    "MLP",
    "VGG",
    "Activation",
    "AlexNet",
    "Architecture",
    "ConvNet3",
    "ConvNet4",
    "EfficientNet",
    "Ensemble",
    "EquivariantExample",
    "FullyConnected",
    "Initialiser",
    "LeNet5",
    "MnasNetLike",
    "Network",
    "Pullback",
    "ResNet",
    "ResNet18",
    "ScaledConv2d",
    "ScaledLinear",
    "WideResNet",
    "activation",
    "activation_names",
    "gaussian_second_moment",
    "initialise",
    "initialiser_names",
    "lattice",
    "make",
    "n_total",
    "n_weights",
    "names",
    "points",
    "pullback",
    "sphere",
    "stack",
    "taxonomy",
    "voxels",
    "width_for",
]

_door.keep(globals())
