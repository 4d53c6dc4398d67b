"""Theory: closed forms that predict what `regimes.measure` finds."""

from regimes import _door
from regimes._groups import (
    Cosets,
    FiniteGroup,
    Representation,
    cosets,
    cyclic_group,
    dihedral_group,
    finite_group,
    induced,
    kernel_space_compact,
    kernel_space_grid,
    lattice_action,
    polyhedral_group,
    representation,
)
from regimes.theory._bayes_arms import q_bayes, q_bayes_iteration
from regimes.theory._discs import DiscPackings, packing_gaps, packing_hessian
from regimes.theory._exponents import (
    beta_feature,
    beta_lazy,
    compression_exponent,
    compression_gain,
)
from regimes.theory._fixed_points import FixedPoint, fixed_points, stripe_fixed_points
from regimes.theory._generic_curve import GenericCurve, generic_curve
from regimes.theory._implicit_ridge import implicit_ridge
from regimes.theory._infinite_width import InfiniteWidthKernels, infinite_width
from regimes.theory._jammed_discs import jammed_discs
from regimes.theory._kernel_exponents import (
    beta,
    density_exponent,
    in_rkhs,
    limited_by,
    smoothness_index,
)
from regimes.theory._kernel_limit import KernelLimit, kernel_limit
from regimes.theory._lattice_error import (
    LatticeError,
    lattice_error,
    lattice_error_direct,
    lattice_expansion,
)
from regimes.theory._lattice_modes import lattice_interpolant, lattice_spectrum
from regimes.theory._marginal import least_gap_exponent, marginal_gap_exponent
from regimes.theory._operator_spectra import OperatorSpectrum, circle_spectrum, sphere_spectrum
from regimes.theory._perceptron import min_norm_square, separable_probability
from regimes.theory._random_walk import traverse, two_end
from regimes.theory._sampling_noise import (
    AxisNoise,
    BoundaryNoise,
    boundary_noise,
    sample_drift,
)
from regimes.theory._saturation import (
    SampleAttractor,
    Saturation,
    amplification_prefactor,
    median_amplification,
    noise_time,
    sample_attractor,
    saturation,
)
from regimes.theory._stripe_field import StripeDrift, stripe_drift
from regimes.theory._stripe_kernel import shallow_relu_kernel
from regimes.theory._stripe_ode import (
    NeuronTrajectories,
    boundary_velocity,
    neuron_field,
    neuron_trajectories,
)
from regimes.theory._stripe_times import dominant, fitting_slope, stripe_tau
from regimes.theory._stripes import StripeConstants, stripe_constants
from regimes.theory._two_arms import (
    MemoryComparison,
    compare_memories,
    exit_rate,
    exit_rate_printed,
    longest_chain,
    q_ccp,
    q_linear,
    q_necklace,
)
from regimes.theory.homogeneous import (
    DoubleCoset,
    KernelSpace,
    Mackey,
    double_cosets,
    group_correlation,
    kernel_dimension,
    kernel_space,
    twist,
    twisted_correlation,
)

__all__ = [
    "AxisNoise",
    "BoundaryNoise",
    "Cosets",
    "DiscPackings",
    "DoubleCoset",
    "FiniteGroup",
    "FixedPoint",
    "GenericCurve",
    "InfiniteWidthKernels",
    "KernelLimit",
    "KernelSpace",
    "LatticeError",
    "Mackey",
    "MemoryComparison",
    "NeuronTrajectories",
    "OperatorSpectrum",
    "Representation",
    "SampleAttractor",
    "Saturation",
    "StripeConstants",
    "StripeDrift",
    "amplification_prefactor",
    "beta",
    "beta_feature",
    "beta_lazy",
    "boundary_noise",
    "boundary_velocity",
    "circle_spectrum",
    "compare_memories",
    "compression_exponent",
    "compression_gain",
    "cosets",
    "cyclic_group",
    "density_exponent",
    "dihedral_group",
    "dominant",
    "double_cosets",
    "exit_rate",
    "exit_rate_printed",
    "finite_group",
    "fitting_slope",
    "fixed_points",
    "generic_curve",
    "group_correlation",
    "implicit_ridge",
    "in_rkhs",
    "induced",
    "infinite_width",
    "jammed_discs",
    "kernel_dimension",
    "kernel_limit",
    "kernel_space",
    "kernel_space_compact",
    "kernel_space_grid",
    "lattice_action",
    "lattice_error",
    "lattice_error_direct",
    "lattice_expansion",
    "lattice_interpolant",
    "lattice_spectrum",
    "least_gap_exponent",
    "limited_by",
    "longest_chain",
    "marginal_gap_exponent",
    "median_amplification",
    "min_norm_square",
    "neuron_field",
    "neuron_trajectories",
    "noise_time",
    "packing_gaps",
    "packing_hessian",
    "polyhedral_group",
    "q_bayes",
    "q_bayes_iteration",
    "q_ccp",
    "q_linear",
    "q_necklace",
    "representation",
    "sample_attractor",
    "sample_drift",
    "saturation",
    "separable_probability",
    "shallow_relu_kernel",
    "smoothness_index",
    "sphere_spectrum",
    "stripe_constants",
    "stripe_drift",
    "stripe_fixed_points",
    "stripe_tau",
    "traverse",
    "twist",
    "twisted_correlation",
    "two_end",
]

_door.keep(globals())
