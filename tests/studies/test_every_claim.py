"""Every claim that a record calls reproduced fails on the same data once they are distorted.

The data of a record follow the law, or the record would not say so (`test_records.py` judges them
again). Here one variable of them is multiplied, shifted, tilted along a setting (times
`(x / smallest x)**power`) or reversed along a dimension, and the verdict must turn. That a
distortion fails exactly its own claims is asked in the study's own test.
"""

from pathlib import Path

import numpy as np
import pytest

from regimes.lab import discover, stored_summaries

ROOT = Path(__file__).parents[2] / "results"
RECORDS = {}
for record in stored_summaries(ROOT):
    RECORDS.setdefault(record.study, []).append(record)

DISTORTIONS = {
    "alignment/complexity": {
        "ALI-34": ("complexity", "times", -1.0),
        "ALI-35": ("complexity", "reversed", "trial"),
        "ALI-37": ("fro", "reversed", "trial"),
    },
    "alignment/difficult-examples": {
        "ALI-21": ("alignment_difficult", "times", 2.0),
        "ALI-22": ("alignment_difficult", "times", 2.0),
        "ALI-23": ("alignment_difficult", "times", -1.0),
    },
    "alignment/disk": {
        "ALI-07": ("ratio", "times", 2.0),
        "ALI-08": ("accuracy", "times", 0.5),
        "ALI-09": ("alignment", "reversed", "rate"),
    },
    "alignment/evolution": {
        "ALI-10": ("mean_train", "plus", 1000000.0),
        "ALI-11": ("max_train", "reversed", "setting"),
        "ALI-12": ("effective_rank_train", "reversed", "setting"),
        "ALI-13": ("trace_ratio_40_train", "times", 0.5),
        "ALI-14": ("accuracy_test", "times", 0.1),
        "ALI-15": ("effective_rank_test", "times", 2.0),
        "ALI-16": ("alignment_test", "times", -1.0),
        "ALI-17": ("accuracy_test", "reversed", "point"),
        "ALI-18": ("alignment_train", "times", 2.0),
        "ALI-19": ("accuracy_test", "reversed", "setting"),
        "ALI-20": ("alignment_uncentred_train", "times", -1.0),
        "ALI-24": ("alignment_train", "reversed", "setting"),
        "ALI-24b": ("alignment_train", "reversed", "setting"),
    },
    "alignment/identities": {
        "ALI-01b": ("scaled_gap", "plus", 1e-12),
        "ALI-02": ("split_gap", "plus", 1e-09),
        "ALI-03": ("mode_gap", "plus", 1e-09),
        "ALI-04": ("product_gap", "plus", 1e-11),
        "ALI-26": ("linear_ratio", "times", 1.5),
        "ALI-27": ("flow_ratio", "times", 0.7),
        "ALI-28": ("bound_by_class", "times", 1.01),
        "ALI-29": ("bound_gap", "plus", 1e-09),
        "ALI-32": ("step_factor_gap", "plus", 1e-05),
        "ALI-38": ("scale_gap", "plus", 1e-11),
    },
    "alignment/line": {
        "ALI-05": ("peak_centred", "reversed", "rank"),
        "ALI-06": ("values_centred", "plus", 200.0),
    },
    "alignment/perturbation": {
        "ALI-25": ("rate_0.001", "times", 0.9),
    },
    "alignment/rescaled-features": {
        "ALI-30b": ("bound_identity", "reversed", "c"),
        "ALI-31": ("spread", "reversed", "feature"),
    },
    "alignment/supernat": {
        "ALI-33": ("error_contract", "times", 3.0),
    },
    "compression/alpha-scan": {
        "COMP-20": ("frozen_error", "times", 2.0),
    },
    "compression/amplification": {
        "COMP-11b": ("amplification_predicted", "tilt", "p", 0.5),
        "COMP-13": ("amplification", "tilt", "p", 0.5),
        "COMP-15b": ("amplification", "tilt", "p", 1.0),
    },
    "compression/cylinder": {
        "COMP-28": ("amplification_star", "tilt", "n_train", 0.5),
        "COMP-29": ("amplification_max", "tilt", "n_train", 0.5),
        "COMP-29b": ("peak", "tilt", "n_train", 0.5),
    },
    "compression/digit-parity": {
        "COMP-42": ("error", "reversed", "p"),
        "COMP-45": ("information", "tilt", "p", -1.0),
        "COMP-46b": ("cube_dimension", "tilt", "p", 0.5),
        "REG-63": ("error", "reversed", "p"),
    },
    "compression/fitting-stages": {
        "COMP-32": ("fitted_distance", "times", 0.1),
        "COMP-33": ("profile", "reversed", "stage"),
    },
    "compression/foundations": {
        "COMP-01": ("chi_median", "times", 2.0),
        "COMP-02": ("drift", "reversed", "limit"),
        "COMP-03": ("gradient_error_float32", "times", 10.0),
        "COMP-04": ("drift_error", "times", 0.1),
        "COMP-06": ("flags", "times", 0.5),
        "COMP-08": ("perpendicular_rate", "times", 2.0),
        "COMP-09": ("ode_lambda", "times", -1.0),
        "COMP-35": ("split_error", "plus", 0.001),
        "COMP-47": ("lemma_gap", "plus", 0.001),
        "COMP-48": ("information", "times", 2.0),
        "COMP-49": ("value_gap", "times", 2.0),
    },
    "compression/kernel-curves": {
        "COMP-22": ("error", "tilt", "n_train", 0.5),
        "COMP-27": ("error", "reversed", "task"),
        "COMP-30": ("error", "tilt", "n_train", 0.5),
    },
    "compression/learning-curves": {
        "COMP-14": ("amplification_max", "tilt", "n_train", 0.5),
        "COMP-21": ("feature_error", "tilt", "n_train", 1.0),
        "COMP-24": ("compressed_error", "tilt", "n_train", 1.0),
        "COMP-25": ("feature_error", "tilt", "n_train", 0.5),
    },
    "compression/neuron-trajectories": {
        "COMP-07": ("growth", "times", 2.0),
    },
    "compression/plateaus": {
        "COMP-17": ("t_star", "tilt", "alpha", 0.5),
        "COMP-18": ("frozen_t_star", "times", 2.0),
        "COMP-19": ("amplification", "tilt", "alpha", 0.5),
        "COMP-50": ("amplification", "tilt", "alpha", 0.5),
    },
    "compression/stripe-kernel": {
        "COMP-36": ("residual", "times", 2.0),
        "COMP-36b": ("residual", "times", 2.0),
        "COMP-37": ("information", "tilt", "d", 1.0),
        "COMP-38": ("information", "tilt", "d", -1.0),
        "COMP-39b": ("projection", "tilt", "d", 0.5),
        "COMP-40": ("plane_error", "tilt", "d", -0.5),
        "COMP-41": ("norm", "reversed", "kernel"),
    },
    "compression/weights-aligning": {
        "COMP-16": ("amplification_start", "tilt", "alpha", 0.5),
        "COMP-31": ("share_end", "tilt", "alpha", 0.5),
        "COMP-34": ("dead_or_unmoved_only", "plus", 1.0),
    },
    "deformations/augmentation": {
        "DEF-20": ("R", "reversed", "augment"),
    },
    "deformations/fields": {
        "DEF-01": ("norm_whole", "times", 1.1),
        "DEF-02": ("norm_sampled", "times", 1.1),
        "DEF-03": ("mode_deviation", "times", 10.0),
        "DEF-04": ("frame", "plus", 1e-06),
        "DEF-05": ("move_average", "times", 1.1),
        "DEF-06": ("half_a_pixel", "plus", 0.001),
        "DEF-07": ("xi_ratio", "times", 1.2),
        "DEF-08": ("bijective", "reversed", "times_border"),
        "DEF-09": ("disc_whole", "reversed", "times_torn"),
        "DEF-10": ("participation", "times", 1.01),
    },
    "deformations/initial": {
        "DEF-12": ("R", "times", 0.5),
        "DEF-34": ("gaussian", "times", 2.0),
    },
    "deformations/networks": {
        "DEF-11": ("R_interpolated", "reversed", "delta"),
        "DEF-13": ("R", "reversed", "network"),
        "DEF-14": ("R", "times", 0.5),
        "DEF-16": ("R", "times", 0.1),
        "DEF-21": ("profile", "reversed", "when"),
        "DEF-22": ("R", "reversed", "network"),
        "DEF-28": ("R", "times", 2.0),
        "DEF-29": ("R", "reversed", "network"),
        "DEF-32": ("shaken", "reversed", "noise"),
    },
    "deformations/sample-size": {
        "DEF-15": ("R", "times", 0.5),
    },
    "deformations/stripe": {
        "DEF-40": ("amplification", "reversed", "p"),
        "DEF-41": ("R", "reversed", "p"),
        "DEF-42": ("R", "reversed", "p"),
        "DEF-43": ("R_start", "times", 2.0),
    },
    "equivariance/digits": {
        "EQU-13": ("paper_planar", "times", 2.0),
        "EQU-14": ("accuracy", "reversed", "network"),
        "EQU-15": ("accuracy", "reversed", "network"),
        "EQU-16": ("accuracy", "reversed", "network"),
    },
    "equivariance/error": {
        "EQU-07": ("delta", "reversed", "act"),
        "EQU-08": ("delta", "tilt", "b", -0.5),
        "EQU-09": ("delta", "tilt", "layers", 1.0),
        "EQU-10": ("spectral", "plus", 1.0),
    },
    "equivariance/groups": {
        "EQU-24": ("tensor_leak", "plus", 1e-09),
        "EQU-49": ("cocycle_wrong", "plus", 1.0),
        "EQU-50": ("lifting_error", "plus", 1e-09),
        "EQU-51": ("dimensions", "reversed", "case"),
        "EQU-52": ("correlation_error", "plus", 1e-09),
        "EQU-53": ("poles_wrong", "plus", 1.0),
        "EQU-54": ("space_wrong", "plus", 1.0),
        "EQU-55": ("relu_vector", "times", 0.1),
        "EQU-56": ("architecture_error", "reversed", "precision"),
    },
    "equivariance/molecules": {
        "EQU-20": ("rmse", "reversed", "trial"),
        "EQU-21": ("rmse", "times", 2.0),
    },
    "equivariance/points": {
        "EQU-43": ("convolution_error", "plus", 0.001),
        "EQU-44": ("even_accuracy", "times", 2.0),
        "EQU-45": ("elastic_dimension", "times", 2.0),
        "EQU-46": ("force_error", "reversed", "kind"),
        "EQU-47": ("attention_error", "times", 10.0),
        "EQU-48": ("loss_to_rectangle", "times", 2.0),
    },
    "equivariance/shapes": {
        "EQU-18": ("accuracy", "reversed", "network"),
    },
    "equivariance/steerable": {
        "EQU-25": ("dimensions_wrong", "plus", 0.001),
        "EQU-26": ("vector_kernels", "plus", 0.001),
        "EQU-27": ("cube_error", "plus", 0.001),
        "EQU-28": ("turning_error", "reversed", "cutoff"),
        "EQU-29": ("counts_beyond", "plus", 0.001),
        "EQU-30": ("plain_error", "plus", 0.001),
        "EQU-31": ("nonlinear_error", "plus", 0.001),
        "EQU-33": ("fold_everywhere", "times", -1.0),
        "EQU-36": ("parameters_TetrisCNN", "times", 2.0),
        "EQU-37": ("parameters_ShapesSteerable", "times", 2.0),
        "EQU-39": ("parameters_CathCNN", "times", 2.0),
    },
    "equivariance/transforms": {
        "EQU-01": ("stride_odd", "times", 0.01),
        "EQU-02": ("mse", "reversed", "kernel"),
        "EQU-03": ("kernels_regular", "plus", 1.0),
        "EQU-04": ("so3_round_trip", "plus", 1e-11),
        "EQU-05": ("theorem_so3", "plus", 1e-09),
        "EQU-06": ("column_others", "plus", 1e-11),
        "EQU-11": ("zonal_gap", "plus", 1e-11),
        "EQU-12": ("direct_seconds", "tilt", "cost_b", -4.0),
        "EQU-17": ("parameters_shapes", "plus", 1.0),
        "EQU-19": ("retrieval_gap", "plus", 1e-11),
        "EQU-23": ("molecule_turn", "plus", 1e-05),
    },
    "kernels/bandwidth": {
        "KER-05": ("mse", "times", 0.5),
    },
    "kernels/circle": {
        "KER-14": ("mse", "tilt", "size", 0.5),
    },
    "kernels/dimension": {
        "KER-20": ("distance", "tilt", "size", -0.1),
        "KER-28": ("distance", "tilt", "size", -0.1),
        "KER-29": ("distance", "tilt", "size", -0.1),
    },
    "kernels/foundations": {
        "KER-22": ("difference_variance", "tilt", "step", 0.5),
        "KER-23": ("quoted_smoothness", "times", 2.0),
        "KER-31": ("circle_eigenvalue", "tilt", "spectrum_rank", 0.5),
        "KER-32": ("trace", "times", 2.0),
        "KER-33": ("generic_error", "tilt", "generic_n", 0.5),
        "KER-34": ("simulated", "times", 2.0),
        "KER-35": ("process_gap", "plus", 0.001),
        "KER-36": ("violation", "plus", 1.0),
    },
    "kernels/image-curves": {
        "KER-01": ("mse", "tilt", "size", 0.5),
        "KER-02": ("mse", "tilt", "size", 0.5),
        "KER-04": ("mse", "plus", -0.03),
        "KER-06": ("mse", "tilt", "size", -0.6),
    },
    "kernels/image-spectra": {
        "KER-25": ("tail", "tilt", "rank", 0.5),
        "KER-26": ("tail", "tilt", "rank", 0.5),
        "KER-27": ("tail", "tilt", "rank", 0.5),
        "KER-30": ("eigenvalue", "tilt", "points", 0.5),
    },
    "kernels/lattice": {
        "KER-11b": ("gauss_error", "tilt", "N", 0.5),
        "KER-15": ("line_error", "tilt", "line_N", 0.5),
        "KER-16": ("summed", "times", 1.1),
        "KER-16b": ("sampled_error", "times", 2.0),
        "KER-17": ("exact_error", "times", 2.0),
        "KER-18": ("smooth_error", "tilt", "alpha_S", 0.5),
        "KER-19": ("log_error", "tilt", "N", 0.5),
        "KER-24": ("tail_error", "tilt", "N", -0.5),
    },
    "kernels/machines": {
        "KER-03": ("error", "tilt", "size", 0.5),
    },
    "kernels/smooth-students": {
        "KER-12": ("smooth", "tilt", "smooth_size", 2.0),
        "KER-13": ("smooth", "times", 10000.0),
    },
    "kernels/spheres": {
        "KER-07": ("mse", "tilt", "size", 0.5),
        "KER-08": ("mse", "tilt", "size", 0.5),
        "KER-09": ("mse", "reversed", "size"),
        "KER-10": ("mse", "plus", 1e-05),
        "KER-21": ("mse", "tilt", "size", 0.5),
    },
    "landscape/ensembles": {
        "LAND-49": ("identity_gap", "plus", 0.001),
        "LAND-50": ("parameters", "times", 10.0),
        "LAND-51": ("distance", "reversed", "size"),
        "LAND-52": ("distance", "reversed", "size"),
    },
    "landscape/identities": {
        "LAND-32": ("always_off", "plus", -1.0),
        "LAND-33": ("apart", "plus", 0.001),
        "LAND-34": ("fitted", "plus", 0.001),
        "LAND-37": ("flipped", "plus", 0.001),
    },
    "landscape/packings": {
        "LAND-73": ("hp_spread", "reversed", "energy"),
    },
    "landscape/references": {
        "LAND-74": ("fits", "times", 2.0),
        "LAND-75": ("inverse_least", "plus", 100.0),
        "LAND-76": ("error", "times", -1.0),
    },
    "linearization/concentration": {
        "LIN-19": ("chance", "times", 2.0),
        "LIN-22": ("alignment", "reversed", "epoch"),
        "LIN-34": ("accuracy_linear", "times", 2.0),
    },
    "linearization/directions": {
        "LIN-12": ("accuracy_network", "times", 2.0),
        "LIN-13": ("alignment", "reversed", "direction"),
        "LIN-14": ("accuracy_linear", "times", 2.0),
        "LIN-15": ("overlap", "times", 0.5),
        "LIN-16": ("frequency", "reversed", "direction"),
    },
    "linearization/eigenfunctions": {
        "LIN-05": ("accuracy_linear", "times", 0.5),
        "LIN-06": ("accuracy_network", "times", 0.5),
        "LIN-07": ("accuracy_linear", "reversed", "index"),
        "LIN-08": ("accuracy_linear", "times", 0.5),
        "LIN-09": ("until_low_network", "reversed", "index"),
        "LIN-10": ("cosine_network", "reversed", "index"),
        "LIN-24": ("loss_linear", "times", 0.1),
        "LIN-28": ("accuracy_linear", "times", 0.5),
        "LIN-36b": ("alignment_own", "reversed", "mode"),
    },
    "linearization/foundations": {
        "LIN-01": ("expansion_anchor", "plus", 0.001),
        "LIN-02": ("alignment_gap_float32", "plus", 0.001),
        "LIN-03": ("eigenvalue_gap", "plus", 0.001),
        "LIN-04": ("bound_least", "times", -1.0),
        "LIN-11": ("mixed_gap", "times", 10.0),
        "LIN-23": ("later_gap", "reversed", "before"),
        "LIN-30b": ("cost_points_larger", "reversed", "cost_larger"),
        "LIN-31": ("cost_counted", "reversed", "cost_output"),
        "LIN-33": ("company", "plus", 0.001),
        "LIN-35": ("width_gap", "reversed", "width"),
    },
    "linearization/rotation": {
        "LIN-21": ("alignment_after", "reversed", "index"),
        "LIN-25": ("loss", "plus", 0.001),
        "LIN-26": ("accuracy", "times", 2.0),
        "LIN-27": ("accuracy", "reversed", "index"),
    },
    "linearization/sample-size": {
        "LIN-17": ("accuracy_linear", "tilt", "n_train", 0.5),
        "LIN-18": ("distance_linear", "tilt", "n_train", -0.5),
    },
    "pomdp/columns": {
        "POM-05": ("linear_q", "times", 1.001),
        "POM-06": ("random_ratio", "times", 1.01),
        "POM-07": ("column_q", "times", 1.001),
        "POM-08": ("double_formula", "times", 1.001),
        "POM-08b": ("double_q", "times", 1.001),
        "POM-09": ("exit_rate", "tilt", "exit_resets", 0.02),
        "POM-10": ("exit_law", "times", 1.01),
        "POM-11": ("exit_limit", "times", 0.99),
        "POM-12": ("exit_rate", "tilt", "exit_resets", 0.02),
        "POM-12b": ("top_time", "tilt", "exit_resets", 0.02),
        "POM-13": ("left_bound", "times", 1.01),
        "POM-15": ("arms_q", "times", 1.001),
    },
    "pomdp/identities": {
        "POM-01": ("value_reset", "times", 1.001),
        "POM-02": ("squarings", "times", 4.0),
        "POM-03": ("blind_q", "times", 1.001),
        "POM-04": ("random_q", "times", 1.001),
        "POM-35": ("embedded_reward", "plus", 0.001),
    },
    "pomdp/necklaces": {
        "POM-18": ("counted", "plus", 1),
        "POM-19": ("chain_length", "plus", 1),
        "POM-20": ("limit_q", "times", 1.01),
        "POM-21": ("pair_q", "times", 0.99),
        "POM-22b": ("order_q", "times", 1.01),
        "POM-23": ("log_star", "times", 1.01),
        "POM-24": ("table_exponent", "times", 1.01),
        "POM-25": ("plays_star", "times", 1e35),
        "POM-26": ("arms_q", "times", 1.01),
    },
    "pomdp/training": {
        "POM-14": ("end_q", "times", 1.05),
        "POM-27": ("q", "times", 2.0),
        "POM-28": ("q", "plus", -0.11),
        "POM-29b": ("q", "plus", -0.05),
        "POM-30": ("end_q", "times", 0.5),
        "POM-31": ("end_q", "plus", -0.22),
        "POM-32": ("q", "plus", -0.15),
        "POM-32b": ("q", "plus", -0.15),
        "POM-33": ("q", "plus", 1.0),
        "POM-34b": ("q", "times", 0.5),
        "POM-37": ("bayes_q", "times", 2.0),
    },
    "pomdp/walks": {
        "POM-16": ("traverse_solved", "times", 1.001),
        "POM-17": ("end_solved", "times", 1.001),
    },
    "regimes/convolutions": {
        "REG-31": ("error", "tilt", "scale", -0.5),
    },
    "regimes/crossover": {
        "REG-14": ("kernel_change", "tilt", "scale", 0.5),
        "REG-55": ("kernel_change", "tilt", "width", 0.5),
    },
    "regimes/double-descent": {
        "REG-57": ("ensemble_error", "tilt", "scale", 0.5),
        "REG-62": ("output_norm", "reversed", "trainer"),
    },
    "regimes/flow-check": {
        "REG-45": ("difference", "tilt", "scale", 0.5),
        "REG-46b": ("altered_steps", "tilt", "scale", 0.5),
        "REG-47": ("difference", "tilt", "scale", 0.5),
    },
    "regimes/fluctuations": {
        "REG-25": ("test_error", "tilt", "width", 0.5),
        "REG-36": ("variance", "tilt", "width", 0.5),
        "REG-37": ("variance", "tilt", "n_train", 0.5),
        "REG-38": ("ensemble_error", "tilt", "scale", 0.5),
        "REG-61": ("ensemble_error", "tilt", "n_train", -0.5),
    },
    "regimes/foundations": {
        "REG-01": ("same_gap", "plus", 0.001),
        "REG-02": ("factor", "times", 2.0),
        "REG-03": ("hinge_gap", "times", 2.0),
        "REG-04": ("speed", "times", 2.0),
        "REG-05": ("count", "times", 2.0),
        "REG-06": ("process_covariance", "times", 2.0),
        "REG-07": ("noise", "reversed", "noise_step"),
        "REG-08": ("gradient_size", "reversed", "layer_step"),
        "REG-09": ("layer_width", "reversed", "layer_step"),
        "REG-66": ("neighbour", "reversed", "torus"),
        "REG-70": ("move_fitted", "times", 0.5),
        "REG-71": ("descent_distance", "reversed", "step_rate"),
        "REG-73": ("field_fitted", "times", 0.5),
        "REG-75": ("check_eps", "times", 0.5),
    },
    "regimes/frozen-kernels": {
        "REG-26": ("initial_disagreement", "tilt", "scale", 0.5),
        "REG-27b": ("limit_difference", "tilt", "scale", 0.5),
        "REG-48": ("final_error", "tilt", "depth", 0.5),
        "REG-49": ("final_contrast", "tilt", "n_train", -0.5),
        "REG-50": ("tangent_residual", "tilt", "scale", 0.5),
    },
    "regimes/jamming": {
        "REG-60": ("error", "tilt", "n_train", 0.5),
    },
    "regimes/output-growth": {
        "REG-22": ("change", "tilt", "moment", 0.5),
        "REG-23": ("norm", "tilt", "width", 0.5),
    },
    "regimes/phase-diagram": {
        "REG-51": ("fitted", "tilt", "scale", -0.5),
        "REG-53": ("ensemble_error", "times", -1.0),
        "REG-55": ("kernel_change", "tilt", "width", 0.5),
    },
    "regimes/random-features": {
        "REG-67": ("error", "tilt", "ratio", 0.5),
        "REG-68": ("ensemble_error", "tilt", "ratio", -0.5),
        "REG-69": ("ridge", "tilt", "ratio", 0.5),
    },
    "regimes/relu": {
        "REG-43": ("kernel_change", "tilt", "scale", 0.5),
        "REG-44": ("flips", "tilt", "scale", 0.5),
    },
    "regimes/scaling": {
        "REG-10": ("kernel_change", "tilt", "scale", 0.5),
        "REG-11": ("kernel_change", "tilt", "scale", 0.5),
        "REG-12": ("kernel_change", "tilt", "scale", 0.5),
        "REG-13": ("kernel_change", "tilt", "scale", -0.5),
        "REG-15": ("weight_change", "tilt", "scale", 0.05),
        "REG-16": ("weight_change", "tilt", "scale", -0.3),
        "REG-19": ("t_half", "tilt", "scale", 0.2),
        "REG-20": ("t_half", "tilt", "scale", 0.2),
        "REG-21": ("t_10", "times", 0.01),
    },
    "regimes/variants": {
        "REG-29b": ("error", "times", -1.0),
        "REG-33": ("ensemble_error", "times", -1.0),
        "REG-34": ("variance", "reversed", "variant"),
        "REG-35": ("error", "reversed", "variant"),
        "REG-41": ("alpha", "reversed", "scale"),
        "REG-42": ("error", "reversed", "variant"),
    },
}


def distorted(dataset, name, how, *by):
    old = dataset[name]
    if how == "times":
        new = old * by[0]
    elif how == "plus":
        new = old + by[0]
    elif how == "tilt":
        setting = dataset[by[0]].astype(float)
        new = old * (setting / float(setting.min())) ** by[1]
    else:
        new = old.copy(data=np.flip(old.values, old.dims.index(by[0])))
    return dataset.assign({name: new.transpose(*old.dims)})


def reproduced(record):
    return {claim.id for claim in record.claims if claim.verdict.value == "reproduced"}


def test_no_reproduced_claim_is_left_out():
    for study, records in RECORDS.items():
        assert set.union(*map(reproduced, records)) <= set(DISTORTIONS.get(study, {})), study


@pytest.mark.parametrize("name", DISTORTIONS)
def test_distorted_data_are_not_reproduced(name):
    study = discover().studies[name]
    for id, distortion in DISTORTIONS[name].items():
        verdicts = set()
        for record in RECORDS[name]:
            if id in reproduced(record):
                data = distorted(study.upgraded(record.dataset), *distortion)
                (claim,) = study.claims.__self__.judged(data, only=[id])
                verdicts.add(claim.verdict.value)
        assert "not reproduced" in verdicts, f"{id} is {verdicts} in spite of {distortion}"
