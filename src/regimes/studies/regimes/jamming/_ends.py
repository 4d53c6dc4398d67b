"""How a trained network is told apart, zero modes of H0, and the size of its output."""

from __future__ import annotations

import numpy as np

import regimes as rg
from regimes.studies._types import Dataset, Ensemble, Run, Tensor


def ends(start: Ensemble, run: Run, data: Dataset, margin: float) -> dict[str, np.ndarray]:
    """Numbers of every member, (R,) each: constraints left unmet, loss, output, H0."""
    import torch

    outputs = run.outputs_train[..., 0]
    net = start.template
    assert isinstance(net, rg.nets.FullyConnected)
    _, layers = net.layers_stacked(run.parameters, data.x_train)
    active = torch.stack([(z > 0).any(-1) for z in layers[:-1]]).all(0)
    unmet = rg.measure.unmet_constraints(outputs, data.y_train, active, margin=margin)
    found = vars(unmet) | {
        "loss": run.losses[:, -1],
        "falling": rg.measure.late_fall(run.losses),
        "error": run.test_errors,
        "output_norm": rg.measure.output_norm(run.test_predictions),
        "steps": run.steps,
    }
    arrays = {name: values.double().cpu().numpy() for name, values in found.items()}
    short = margin - outputs * data.y_train > 0
    spectra = [_zero_modes(start, run, data, i, short[i]) for i in range(start.size)]
    arrays["rank"], arrays["gap"] = np.array(spectra).T
    return arrays


def _zero_modes(
    start: Ensemble, run: Run, data: Dataset, member: int, short: Tensor
) -> tuple[float, float]:
    """Rank of H0 = (1/P) sum over unfitted points of grad f grad f^T, and the gap above its zeros.

    The claim LAND-20; 0 and 0 without unfitted points.
    """
    import torch

    if not bool(short.any()):
        return 0.0, 0.0
    net = start.moved_to(run.parameters).member(member).double()
    gradients = rg.tangent.TangentKernel(net).features(data.x_train[short].double())[:, 0]
    found = rg.measure.mode_counts(torch.linalg.eigvalsh(gradients.mT @ gradients / data.n_train))
    return float(found.rank), found.gap
