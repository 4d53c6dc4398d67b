"""Measures: pure functions from tensors to numbers.

Nothing here knows where a tensor came from. Kernels are Grams of shape (n, n) for one output or
(n, c, n, c) for c outputs; eigenvectors are rows. Measures of tensors return tensors of the input's
dtype (of shape () for one value); results with an error bar are frozen dataclasses.
"""

from regimes import _door
from regimes.measure._alignment import (
    EasyDifficult,
    cka,
    easy_difficult_alignment,
    label_alignment,
    layer_alignment,
)
from regimes.measure._amplification import amplification
from regimes.measure._asymptote import Asymptote, asymptote
from regimes.measure._at_times import at_times
from regimes.measure._boundary import BoundaryDistance, LineProbe, boundary_distance, line_probe
from regimes.measure._capacity import Capacity, capacity, overparametrisation, path_norm
from regimes.measure._centering import center, center_cross, center_targets
from regimes.measure._collapse import CollapseQuality, collapse_quality, rescaled_error
from regimes.measure._crossing import Crossing, crossing
from regimes.measure._cusps import CuspCount, StabilityBounds, cusp_count, stability_bounds
from regimes.measure._dimension import EffectiveDimension, effective_dimension
from regimes.measure._disjoint_ensembles import DisjointEnsembles, disjoint_ensembles
from regimes.measure._eigenfunctions import (
    EigenFunctions,
    PrincipalDirections,
    SharedSpectrum,
    eigenfunctions,
    metric,
    principal_directions,
    shared_spectrum,
)
from regimes.measure._eigenpairs import GramEigenpairs, fix_signs, gram_eigs, nystrom_eigs
from regimes.measure._ensemble import EnsembleOutcomes, ensemble_outcomes, jackknife_error
from regimes.measure._equivariance import (
    EquivarianceError,
    assert_equivariant,
    equivariance_error,
)
from regimes.measure._error_sources import ErrorSources, error_sources
from regimes.measure._fit_outcomes import FitOutcomes, fit_outcomes
from regimes.measure._flow_complexity import FlowComplexity, FlowComplexityMeter, flow_complexity
from regimes.measure._fluctuations import (
    EnsembleExcess,
    KernelFluctuation,
    OutputFluctuation,
    PartCovariance,
    ensemble_excess,
    kernel_fluctuation,
    output_fluctuation,
    part_covariance,
)
from regimes.measure._fourier import FourierDecomposition, fourier_decomposition
from regimes.measure._half_height import HalfHeight, half_height
from regimes.measure._invariance import gradient_covariance_gap
from regimes.measure._kernel import flatten_kernel, reorder_kernel, unflatten_kernel
from regimes.measure._kernel_pca import KernelPCA, kernel_pca
from regimes.measure._label_modes import LabelModes, label_modes, neighbour_error
from regimes.measure._margin import (
    MulticlassBound,
    bound_multiclass,
    generalisation_bound,
    margin_error,
    margins,
    ramp_loss,
)
from regimes.measure._mode_counts import ModeCounts, mode_counts
from regimes.measure._movement import (
    LayerChange,
    layer_change,
    mask_flips,
    output_norm,
    preact_change,
    preact_speed,
    relative_change,
    t_half,
    weight_amplification,
)
from regimes.measure._mutual_information import (
    MutualInformation,
    mutual_information,
    mutual_information_floor,
)
from regimes.measure._nearest_ridge import NearestRidge, nearest_ridge
from regimes.measure._neurons import (
    dead_neurons,
    informative_share,
    neuron_amplification,
    neuron_interfaces,
    neuron_vectors,
    occupied_bins,
)
from regimes.measure._nn_distance import DistanceDimension, NeighbourDistance, nn_distance
from regimes.measure._norm_divergence import NormDivergence, norm_divergence
from regimes.measure._observables import (
    block_contrast,
    ensemble_error,
    ensemble_variance,
    gram_picture,
    kernel_change,
    tangent_residual,
    test_error,
    unfitted,
    weight_change,
)
from regimes.measure._perturbation import (
    PerturbationProbe,
    perturbation_probe,
    random_directions,
)
from regimes.measure._phases import (
    JammingLine,
    Phase,
    PhaseBoundary,
    Regime,
    jamming_line,
    phase_boundary,
    regime,
)
from regimes.measure._power_law import PowerLaw, local_slopes, power_law
from regimes.measure._power_sum import OffsetPower, PowerSum, offset_power, power_sum
from regimes.measure._rademacher import (
    RademacherComplexity,
    bound_flow,
    bound_linear,
    rademacher_flow,
    rademacher_linear,
    rescaled_kernel,
    rescaled_norm,
)
from regimes.measure._relative_stability import (
    LogAverage,
    NoScaleError,
    RelativeStability,
    log_average,
    relative_stability,
)
from regimes.measure._rescaling import (
    MinNormInterpolator,
    OptimalRescaling,
    min_norm_interpolator,
    minimise_product,
    optimal_rescaling,
    solution_covariance,
)
from regimes.measure._retrieval import (
    Retrieval,
    RetrievalScores,
    class_lists,
    retrieval,
)
from regimes.measure._run_classes import (
    RunClass,
    UnmetConstraints,
    active_points,
    late_fall,
    run_classes,
    unmet_constraints,
)
from regimes.measure._shallow_kernel import (
    SplitKernel,
    shallow_kernel,
    split_kernel,
    theta1,
    theta2,
)
from regimes.measure._spectral_bias import (
    ModewiseUpdate,
    modewise_update,
    regression_modes,
    time_constants,
)
from regimes.measure._spectrum import (
    SpectrumSummary,
    effective_rank,
    spectrum,
    spectrum_summary,
    trace_ratio,
)
from regimes.measure._split_spectrum import SplitSpectrum, split_spectrum
from regimes.measure._stability import Probe, Stability, layer_stability, stability
from regimes.measure._supernat import SuperNatRun, supernat, supernat_factors, supernat_step
from regimes.measure._tail_exponent import (
    GapsAndOverlaps,
    TailExponent,
    TailSums,
    exponent_of_sums,
    gaps_and_overlaps,
    log_density,
    tail_exponent,
    tail_sums,
)
from regimes.measure._tail_power import tail_power
from regimes.measure._target import (
    EnergyConcentration,
    alignment_from_modes,
    energy_concentration,
    generalisation_term,
    rkhs_lower_bound,
    rkhs_norm2,
    target_alignment,
)
from regimes.measure._transition import Transition, n_half, n_star, p_star
from regimes.measure._transition_search import (
    FitMap,
    TransitionSearch,
    TransitionSpread,
    find_transition,
    fit_map,
    transition_spread,
)

__all__ = [
    "Asymptote",
    "BoundaryDistance",
    "Capacity",
    "CollapseQuality",
    "Crossing",
    "CuspCount",
    "DisjointEnsembles",
    "DistanceDimension",
    "EasyDifficult",
    "EffectiveDimension",
    "EigenFunctions",
    "EnergyConcentration",
    "EnsembleExcess",
    "EnsembleOutcomes",
    "EquivarianceError",
    "ErrorSources",
    "FitMap",
    "FitOutcomes",
    "FlowComplexity",
    "FlowComplexityMeter",
    "FourierDecomposition",
    "GapsAndOverlaps",
    "GramEigenpairs",
    "HalfHeight",
    "JammingLine",
    "KernelFluctuation",
    "KernelPCA",
    "LabelModes",
    "LayerChange",
    "LineProbe",
    "LogAverage",
    "MinNormInterpolator",
    "ModeCounts",
    "ModewiseUpdate",
    "MulticlassBound",
    "MutualInformation",
    "NearestRidge",
    "NeighbourDistance",
    "NoScaleError",
    "NormDivergence",
    "OffsetPower",
    "OptimalRescaling",
    "OutputFluctuation",
    "PartCovariance",
    "PerturbationProbe",
    "Phase",
    "PhaseBoundary",
    "PowerLaw",
    "PowerSum",
    "PrincipalDirections",
    "Probe",
    "RademacherComplexity",
    "Regime",
    "RelativeStability",
    "Retrieval",
    "RetrievalScores",
    "RunClass",
    "SharedSpectrum",
    "SpectrumSummary",
    "SplitKernel",
    "SplitSpectrum",
    "Stability",
    "StabilityBounds",
    "SuperNatRun",
    "TailExponent",
    "TailSums",
    "Transition",
    "TransitionSearch",
    "TransitionSpread",
    "UnmetConstraints",
    "active_points",
    "alignment_from_modes",
    "amplification",
    "assert_equivariant",
    "asymptote",
    "at_times",
    "block_contrast",
    "bound_flow",
    "bound_linear",
    "bound_multiclass",
    "boundary_distance",
    "capacity",
    "center",
    "center_cross",
    "center_targets",
    "cka",
    "class_lists",
    "collapse_quality",
    "crossing",
    "cusp_count",
    "dead_neurons",
    "disjoint_ensembles",
    "easy_difficult_alignment",
    "effective_dimension",
    "effective_rank",
    "eigenfunctions",
    "energy_concentration",
    "ensemble_error",
    "ensemble_excess",
    "ensemble_outcomes",
    "ensemble_variance",
    "equivariance_error",
    "error_sources",
    "exponent_of_sums",
    "find_transition",
    "fit_map",
    "fit_outcomes",
    "fix_signs",
    "flatten_kernel",
    "flow_complexity",
    "fourier_decomposition",
    "gaps_and_overlaps",
    "generalisation_bound",
    "generalisation_term",
    "gradient_covariance_gap",
    "gram_eigs",
    "gram_picture",
    "half_height",
    "informative_share",
    "jackknife_error",
    "jamming_line",
    "kernel_change",
    "kernel_fluctuation",
    "kernel_pca",
    "label_alignment",
    "label_modes",
    "late_fall",
    "layer_alignment",
    "layer_change",
    "layer_stability",
    "line_probe",
    "local_slopes",
    "log_average",
    "log_density",
    "margin_error",
    "margins",
    "mask_flips",
    "metric",
    "min_norm_interpolator",
    "minimise_product",
    "mode_counts",
    "modewise_update",
    "mutual_information",
    "mutual_information_floor",
    "n_half",
    "n_star",
    "nearest_ridge",
    "neighbour_error",
    "neuron_amplification",
    "neuron_interfaces",
    "neuron_vectors",
    "nn_distance",
    "norm_divergence",
    "nystrom_eigs",
    "occupied_bins",
    "offset_power",
    "optimal_rescaling",
    "output_fluctuation",
    "output_norm",
    "overparametrisation",
    "p_star",
    "part_covariance",
    "path_norm",
    "perturbation_probe",
    "phase_boundary",
    "power_law",
    "power_sum",
    "preact_change",
    "preact_speed",
    "principal_directions",
    "rademacher_flow",
    "rademacher_linear",
    "ramp_loss",
    "random_directions",
    "regime",
    "regression_modes",
    "relative_change",
    "relative_stability",
    "reorder_kernel",
    "rescaled_error",
    "rescaled_kernel",
    "rescaled_norm",
    "retrieval",
    "rkhs_lower_bound",
    "rkhs_norm2",
    "run_classes",
    "shallow_kernel",
    "shared_spectrum",
    "solution_covariance",
    "spectrum",
    "spectrum_summary",
    "split_kernel",
    "split_spectrum",
    "stability",
    "stability_bounds",
    "supernat",
    "supernat_factors",
    "supernat_step",
    "t_half",
    "tail_exponent",
    "tail_power",
    "tail_sums",
    "tangent_residual",
    "target_alignment",
    "test_error",
    "theta1",
    "theta2",
    "time_constants",
    "trace_ratio",
    "transition_spread",
    "unfitted",
    "unflatten_kernel",
    "unmet_constraints",
    "weight_amplification",
    "weight_change",
]

# what can overflow from finite arguments and has no meaning then
_FINITE = (
    "alignment_from_modes",
    "energy_concentration",
    "ensemble_excess",
    "ensemble_variance",
    "fit_outcomes",
    "generalisation_term",
    "gradient_covariance_gap",
    "jackknife_error",
    "kernel_change",
    "kernel_fluctuation",
    "layer_change",
    "metric",
    "modewise_update",
    "nearest_ridge",
    "output_fluctuation",
    "output_norm",
    "perturbation_probe",
    "preact_change",
    "preact_speed",
    "regression_modes",
    "rescaled_kernel",
    "rescaled_norm",
    "rkhs_norm2",
    "shallow_kernel",
    "shared_spectrum",
    "solution_covariance",
    "supernat_factors",
    "target_alignment",
    "theta1",
    "theta2",
    "weight_amplification",
    "weight_change",
)

_door.keep(globals(), finite=_FINITE)
