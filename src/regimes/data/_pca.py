"""Principal components of the inputs."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regimes._check import choose, positive_int
from regimes.data._dataset import Dataset, map_x
from regimes.data._transform import FITS, Transform, fit_inputs

_SCALES = {"mean": "mean", "whiten": "whiten", "none": None}
_CHUNK = 4096  # rows held in float64 at a time


def pca(k: int, fit: str = "train", scale: str | None = "mean") -> Transform:
    """Project on the k leading principal components: x of shape (n, k).

    With mean m and covariance (1/n) sum (x-m)(x-m)^T = sum_j l_j v_j v_j^T of the fitted points
    (l_1 >= l_2 >= ...), the new coordinates are u_j = v_j.(x-m), divided according to `scale`
    (docs/themes/regimes.md, "Data"). The sign of v_j makes its largest entry positive.

    To fit on a whole pool of which only a part is used, load the pool whole, transform with
    fit="all", then cut with `subset`.

    Args:
        k: number of components.
        fit: "train" fits on the training set, "all" on training and test set together.
        scale: "mean" divides by sqrt(mean of l_1..l_k), which keeps the ratios of the variances;
            "whiten" divides u_j by sqrt(l_j); None leaves u_j.

    Returns:
        The transform; its description says which share of the variance was kept.

    Raises:
        ValueError: on application, if k exceeds d or the fitted points span fewer directions.

    Example:
        >>> from regimes import data
        >>> data.digits(n_train=1000).pipe(data.pca(10)).description[-1]
        "pca(k=10, fit='train', scale='mean'): 74.1 % of the variance kept"
    """
    choose(fit, FITS, "fit")
    choose("none" if scale is None else scale, _SCALES, "scale")
    options = {"k": positive_int("k", k), "fit": fit, "scale": None if scale == "none" else scale}
    return Transform("pca", _pca, options)


def _pca(dataset: Dataset, k: int, fit: str, scale: str | None) -> tuple[Dataset, str]:
    d = math.prod(dataset.in_shape)
    fitted = fit_inputs(dataset, fit).flatten(1)
    most = min(d, len(fitted) - 1)
    if k > most:
        raise ValueError(
            f"pca(k={k}): {len(fitted)} points in {d} dimensions have at most {most} principal "
            "components; lower k or fit on more points"
        )
    mean = fitted.mean(0, dtype=torch.float64)
    covariance = torch.zeros(d, d, dtype=torch.float64, device=fitted.device)
    for rows in torch.split(fitted, _CHUNK):
        centred = rows.double() - mean
        covariance += centred.T @ centred
    values, vectors = torch.linalg.eigh(covariance / len(fitted))
    total = float(values.clamp_min(0).sum())
    values, vectors = values.flip(0)[:k], vectors.flip(1)[:, :k]
    largest = vectors.gather(0, vectors.abs().argmax(0, keepdim=True))
    vectors = vectors * largest.sign()
    least = float(values[-1] if scale == "whiten" else values.mean())
    if least <= 1e-12 * max(total, 1e-300):
        raise ValueError(
            f"pca(k={k}): the fitted points of {dataset.name!r} span fewer than {k} directions; "
            "lower k"
        )
    if scale == "whiten":
        vectors = vectors / values.sqrt()
    elif scale == "mean":
        vectors = vectors / values.mean().sqrt()

    def project(x: Tensor) -> Tensor:
        parts = [(rows.double() - mean) @ vectors for rows in torch.split(x.flatten(1), _CHUNK)]
        return torch.cat(parts).to(x.dtype)

    return map_x(
        dataset, project
    ), f"{100 * float(values.sum()) / total:.1f} % of the variance kept"
