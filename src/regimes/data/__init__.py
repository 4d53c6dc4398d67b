"""Points and labels: synthetic models, image sets, and transforms that compose.

Every function returns a frozen `Dataset` of tensors that says how it was made; transforms take
one to another:

>>> from regimes import data
>>> ds = data.digits(n_train=1000).pipe(data.center(), data.sphere(), data.pca(10), data.parity())
>>> ds
Dataset 'digits': 1000 train, 797 test, x of shape (10,), float32, seed 0
  y train  -1: 500, +1: 500
  y test   -1: 406, +1: 391
  made by  1. 1797 images of digits, shuffled, classes in turn, the first 1000 for training
           2. center(fit='train')
           3. sphere()
           4. pca(k=10, fit='train', scale='mean'): 73.9 % of the variance kept
           5. parity()
"""

from regimes import _door
from regimes.data._clouds import Clouds, voxelize_points
from regimes.data._cylinder import balanced_radius, cylinder
from regimes.data._dataset import Dataset, Points
from regimes.data._deform import deform, displace, participation_ratio
from regimes.data._deformation_augment import DeformationAugment
from regimes.data._directions import compress, rotate
from regimes.data._disk import disk
from regimes.data._displacement import Field, sample_field
from regimes.data._easy_difficult import easy_difficult
from regimes.data._environments import amino_acid_environments, environment_like
from regimes.data._fields import FourierField, fourier_field, gaussian_field, periodic_field
from regimes.data._files import read_images
from regimes.data._image_files import image_files
from regimes.data._images import cifar10, digits, emnist, fashion_mnist, kmnist, mnist
from regimes.data._inputs import center, flatten, grayscale, sphere, standardize
from regimes.data._labels import binary, first_half, label_noise, parity
from regimes.data._line1d import line1d
from regimes.data._manifolds import (
    cloud_points,
    lattice_points,
    manifold_points,
    sphere_points,
    torus_points,
)
from regimes.data._meshes import Mesh, read_mesh, solid_mesh
from regimes.data._morse import Clusters, morse_clusters
from regimes.data._pca import pca
from regimes.data._proteins import cath, protein_like
from regimes.data._qm7 import Molecules, qm7
from regimes.data._quad_sphere import quad_sphere
from regimes.data._random_labels import random_labels
from regimes.data._rbf_line import rbf_line
from regimes.data._registry import load, names
from regimes.data._regression import noisy_regression
from regimes.data._separable import linearly_separable
from regimes.data._shapes import mesh_to_sphere, shrec17, spherical_shapes
from regimes.data._shift_augment import ShiftAugment
from regimes.data._solids import solids
from regimes.data._spherical import (
    ELEMENTS,
    coulomb_matrix,
    molecule_to_spheres,
    spherical_mnist,
)
from regimes.data._stripe import balanced_x_max, stripe
from regimes.data._subset import subset
from regimes.data._teacher import teacher
from regimes.data._temperature import (
    DeformationMap,
    bijective_temperature,
    displacement2,
    mean_norm2,
    phase_diagram,
    temperature,
    visible_temperature,
)
from regimes.data._tetris import tetris
from regimes.data._transform import Transform

__all__ = [
    "ELEMENTS",
    "Clouds",
    "Clusters",
    "Dataset",
    "DeformationAugment",
    "DeformationMap",
    "Field",
    "FourierField",
    "Mesh",
    "Molecules",
    "Points",
    "ShiftAugment",
    "Transform",
    "amino_acid_environments",
    "balanced_radius",
    "balanced_x_max",
    "bijective_temperature",
    "binary",
    "cath",
    "center",
    "cifar10",
    "cloud_points",
    "compress",
    "coulomb_matrix",
    "cylinder",
    "deform",
    "digits",
    "disk",
    "displace",
    "displacement2",
    "easy_difficult",
    "emnist",
    "environment_like",
    "fashion_mnist",
    "first_half",
    "flatten",
    "fourier_field",
    "gaussian_field",
    "grayscale",
    "image_files",
    "kmnist",
    "label_noise",
    "lattice_points",
    "line1d",
    "linearly_separable",
    "load",
    "manifold_points",
    "mean_norm2",
    "mesh_to_sphere",
    "mnist",
    "molecule_to_spheres",
    "morse_clusters",
    "names",
    "noisy_regression",
    "parity",
    "participation_ratio",
    "pca",
    "periodic_field",
    "phase_diagram",
    "protein_like",
    "qm7",
    "quad_sphere",
    "random_labels",
    "rbf_line",
    "read_images",
    "read_mesh",
    "rotate",
    "sample_field",
    "shrec17",
    "solid_mesh",
    "solids",
    "sphere",
    "sphere_points",
    "spherical_mnist",
    "spherical_shapes",
    "standardize",
    "stripe",
    "subset",
    "teacher",
    "temperature",
    "tetris",
    "torus_points",
    "visible_temperature",
    "voxelize_points",
]

_door.keep(globals())
