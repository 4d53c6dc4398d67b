"""Every measure gives on the GPU what it gives on the CPU, with labels left on the CPU."""

import dataclasses

import pytest
import torch

from regimes import measure as m
from regimes.theory import infinite_width

if not torch.cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)

Y = torch.tensor([1.0, -1.0] * 8).double()
CLASSES = torch.arange(16) % 3

CALLS = {
    "center": lambda x, K, K4: m.center(K4),
    "center_cross": lambda x, K, K4: m.center_cross(K, K),
    "spectrum": lambda x, K, K4: m.spectrum(K4),
    "effective_rank": lambda x, K, K4: m.effective_rank(m.spectrum(K)),
    "gram_eigs": lambda x, K, K4: m.gram_eigs(K, 3).values,
    "lanczos": lambda x, K, K4: m.gram_eigs(K, 3, method="lanczos").vectors,
    "nystrom": lambda x, K, K4: m.nystrom_eigs(K[:, :10], 3).vectors,
    "cka": lambda x, K, K4: m.cka(K, K @ K),
    "label_alignment": lambda x, K, K4: m.label_alignment(K4, CLASSES),
    "eigenfunctions": lambda x, K, K4: m.eigenfunctions(
        m.gram_eigs(K, 3).values, m.gram_eigs(K, 3).vectors, K
    ),
    "directions": lambda x, K, K4: m.principal_directions(x, 3),
    "modewise": lambda x, K, K4: m.modewise_update(K, x[:, 0], 0.1).from_modes,
    "fourier": lambda x, K, K4: m.fourier_decomposition(K).mean_frequency,
    "probe": lambda x, K, K4: m.perturbation_probe(
        lambda d: x @ d, m.random_directions(3, 20, seed=0, like=x), x
    ),
    "rademacher": lambda x, K, K4: m.rademacher_linear(K, 1.0).value,
    "margins": lambda x, K, K4: m.margins(x[:, :3], CLASSES),
    "bound_multiclass": lambda x, K, K4: m.bound_multiclass(K4, 1.0, 1.0).whole,
    "interpolator": lambda x, K, K4: m.min_norm_interpolator(x, x[:, 0] ** 2).weights,
    "rescaling": lambda x, K, K4: m.optimal_rescaling(x, x[0] + x[1]).bound,
    "minimise": lambda x, K, K4: m.minimise_product(x[0] ** 2 + 1, x[1] ** 2 + 1)[0],
    "supernat": lambda x, K, K4: m.supernat(x, lambda f: f - x[:, 0], eta=0.01, steps=3).weights,
    "target_alignment": lambda x, K, K4: m.target_alignment(K, x[:, 0]),
    "energy": lambda x, K, K4: m.energy_concentration(m.gram_eigs(K).vectors, x[:, 0], K=4),
    "amplification": lambda x, K, K4: m.amplification(x),
    "kernel_pca": lambda x, K, K4: m.kernel_pca(K, 4).projections(Y),
    "label_modes": lambda x, K, K4: m.label_modes(K + K.diag().diag(), Y, 3).projection,
    "mutual_information": lambda x, K, K4: m.mutual_information(x[:, :2], Y, k=3).value,
    "dimension": lambda x, K, K4: m.effective_dimension(x).value,
    "dimension_gram": lambda x, K, K4: m.effective_dimension(K, gram=True).value,
    "kernel_change": lambda x, K, K4: m.kernel_change(K, 2 * K),
    "relative_change": lambda x, K, K4: m.relative_change(x, x**2),
    "mask_flips": lambda x, K, K4: m.mask_flips(x, -x),
    "at_times": lambda x, K, K4: m.at_times(x.abs().cumsum(1), x, [0.5, 1.0])[0, 0].item(),
    "nearest_ridge": lambda x, K, K4: m.nearest_ridge(K, K, Y, x[:, 0], 0.1).distance_before,
    "error_sources": lambda x, K, K4: m.error_sources(x.expand(3, *x.shape), x[0]).bias,
    "contrast": lambda x, K, K4: m.block_contrast(K, Y),
    "picture": lambda x, K, K4: m.gram_picture(K, Y),
    "test_error": lambda x, K, K4: m.test_error(x.T, Y),
    "tangent_residual": lambda x, K, K4: m.tangent_residual(x[0] ** 2, x),
    "power_law": lambda x, K, K4: m.power_law(x[0] ** 2 + 1, x[1] ** 2 + 1).exponent,
    "neuron_vectors": lambda x, K, K4: m.neuron_vectors(x, x[:, 0]),
    "dead_neurons": lambda x, K, K4: m.dead_neurons(x, x[:, 0], x),
    "informative_share": lambda x, K, K4: m.informative_share(x, x[:, 0]),
    "shallow_kernel": lambda x, K, K4: m.shallow_kernel(x[:, 0], x, x[:, 1], x),
    "split_kernel": lambda x, K, K4: m.split_kernel(x[:, 0], x, x[:, 1], x).gram,
    "split_spectrum": lambda x, K, K4: m.split_spectrum(x[:, 0], x[:, :1], x[:, 1], d=3).full,
    "t_half": lambda x, K, K4: m.t_half(x[0].abs().cumsum(0), x**2 + 0.1),
    "layer_change": lambda x, K, K4: m.layer_change(x, x.flip(0), stacked=True),
    "infinite_relu": lambda x, K, K4: infinite_width(x, depth=2).ntk,
    "infinite_tanh": lambda x, K, K4: infinite_width(x, depth=2, activation="tanh").ntk,
}


def tensors(result):
    if dataclasses.is_dataclass(result):
        fields = [getattr(result, f.name) for f in dataclasses.fields(result)]
        return [f for f in fields if isinstance(f, torch.Tensor)]
    return [result if isinstance(result, torch.Tensor) else torch.tensor(float(result))]


@pytest.mark.parametrize("name", CALLS)
def test_gpu_agrees_with_cpu(draw, name):
    x, phi = draw(16, 20), draw(16, 3, 60, seed=1)
    given = (x, x @ x.T, torch.einsum("iyp,jzp->iyjz", phi, phi))
    on_cpu = tensors(CALLS[name](*given))
    on_gpu = tensors(CALLS[name](*(t.cuda() for t in given)))
    for a, b in zip(on_cpu, on_gpu, strict=True):
        torch.testing.assert_close(b.cpu(), a, rtol=1e-8, atol=1e-9)
