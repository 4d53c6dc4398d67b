"""What `kernel_flow` is given: Grams and labels that fit together and make a flow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from regimes._check import instance, positive_int

_ASYMMETRY = 1e-3  # of the largest entry: more than rounding in any precision
_NEGATIVE = 1e-6  # of the trace: eigenvalues down to minus this are taken for rounding


@final
@dataclass(frozen=True, eq=False)
class Kernels:
    """K between training points and from test to training points, members leading or shared."""

    train: Tensor
    test: Tensor | None
    y: Tensor
    size: int
    outputs: int


def check_kernels(
    gram: Tensor, y: Tensor, gram_test: Tensor | None, y_test: Tensor | None, outputs: int
) -> Kernels:
    """Everything as it is needed, or a ValueError that says what does not fit."""
    for name, value in (
        ("gram", gram), ("y_train", y), ("gram_test", gram_test), ("y_test", y_test)
    ):  # fmt: skip
        if value is not None or name in ("gram", "y_train"):
            instance(name, value, Tensor, "a tensor")
    positive_int("outputs", outputs)
    if gram.ndim not in (2, 3) or gram.shape[-1] != gram.shape[-2] or gram.numel() == 0:
        raise ValueError(
            "gram must have shape (n, n) or (R, n, n) with at least one point, "
            f"got {tuple(gram.shape)}"
        )
    _check_numbers("gram", gram)
    _check_positive(gram)
    n = gram.shape[-1]
    targets = outputs > 1 and y.is_floating_point()  # (n, c) real targets, or labels (n,)
    labels = y if y.ndim == (3 if targets else 2) else y[None]
    if labels.ndim < 2 or labels.shape[1] != n:
        raise ValueError(
            f"y_train must have shape ({n},) or (R, {n}), one label per training point, "
            f"got {tuple(y.shape)}"
        )
    sizes = {len(gram) if gram.ndim == 3 else 1, len(labels)}
    if gram_test is not None:
        if gram_test.ndim not in (2, 3) or gram_test.shape[-1] != n:
            raise ValueError(
                f"gram_test is K(test, train) of shape (n_test, {n}) or (R, n_test, {n}), "
                f"got {tuple(gram_test.shape)}"
            )
        _check_numbers("gram_test", gram_test)
        if gram_test.dtype != gram.dtype:
            raise ValueError(
                f"gram is {gram.dtype} and gram_test {gram_test.dtype}; give both in one precision"
            )
        if gram_test.ndim == 3:
            sizes.add(len(gram_test))
    if y_test is not None and (gram_test is None or y_test.shape[-1] != gram_test.shape[-2]):
        raise ValueError(
            f"y_test of shape {tuple(y_test.shape)} needs gram_test with one row per label, "
            f"got {None if gram_test is None else tuple(gram_test.shape)}"
        )
    if len(sizes - {1}) > 1:
        raise ValueError(f"kernels and labels are given for different numbers of members: {sizes}")
    return Kernels(gram, gram_test, labels, max(sizes), outputs)


def _check_numbers(name: str, gram: Tensor) -> None:
    if not gram.is_floating_point():
        raise ValueError(f"{name} must hold real floating-point numbers, got {gram.dtype}")
    if not bool(torch.isfinite(gram).all()):
        raise ValueError(f"{name} holds NaN or infinite values")


def _check_positive(gram: Tensor) -> None:
    """Refuse what is no kernel: along `do/dt = -K l'` the loss falls only where K >= 0."""
    for member, own in enumerate(gram if gram.ndim == 3 else gram[None]):  # one copy at a time
        whose = f" of member {member}" if gram.ndim == 3 else ""
        apart = float((own - own.mT).abs().max()) / float(own.abs().max().clamp_min(1e-300))
        if apart > _ASYMMETRY:
            raise ValueError(
                f"gram{whose} must be symmetric, K(x_i, x_j) = K(x_j, x_i), but K - K^T reaches "
                f"{apart:.2g} of its largest entry; give K between the training points on both "
                "sides, or (K + K.T)/2 if that is what you mean"
            )
        trace = own.diagonal().sum()
        if float(trace) <= 0.0:
            raise ValueError(
                f"gram{whose} must have a positive trace, got {float(trace):g}; a kernel is "
                "positive semi-definite and not zero"
            )
        shifted = own.double().clone()
        shifted.diagonal().add_(_NEGATIVE * trace)
        if int(torch.linalg.cholesky_ex(shifted).info):
            least = float(torch.linalg.eigvalsh(own.double())[0])
            raise ValueError(
                f"gram{whose} must be positive semi-definite, but has the eigenvalue {least:.3g} "
                f"beside a trace of {float(trace):.3g}: the loss would rise along its flow"
            )
