"""The Hessian of any network and loss, and its two parts.

With loss L(w) = mean_i l(f(x_i; w), y_i) the Hessian is H = H0 + Hp: H0 = mean_i J_i^T l''_i J_i,
the Gauss-Newton part, is the curvature of the loss seen through the linearised network; Hp =
mean_i l'_i . f''_i is what the network's own curvature adds.
"""

from regimes import _door
from regimes.curvature._curvature import Curvature, LayerCurvature
from regimes.curvature._dense import Hessian, hessian
from regimes.curvature._density import Estimate, SpectralDensity
from regimes.curvature._eigenpairs import Eigenpairs
from regimes.curvature._newton import NewtonRun, newton

__all__ = [
    "Curvature",
    "Eigenpairs",
    "Estimate",
    "Hessian",
    "LayerCurvature",
    "NewtonRun",
    "SpectralDensity",
    "hessian",
    "newton",
]

_door.keep(globals())
