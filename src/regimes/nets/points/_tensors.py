"""Tensors of geometry taken apart into irreducible ones, symmetries of their indices included."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from regimes._e3nn import e3nn
from regimes.nets.points._building import building


class TensorParts(NamedTuple):
    """Irreducible parts of a tensor.

    Attributes:
        irreps: e3nn's `Irreps`.
        basis: (irreps.dim, *shape of the tensor), orthonormal: parts are `basis . T`, and
            `T = parts . basis`.
    """

    irreps: Any
    basis: Tensor


def decompose_tensor(formula: str, **indices: Any) -> TensorParts:
    """The irreducible parts of a tensor whose indices are vectors, or other irreps.

    Args:
        formula: its symmetries, such as "ij", "ij=-ji" or "ijkl=jikl=klij".
        **indices: irreps of the first of each kind of index, such as i="1o".

    Returns:
        Irreps and the change of basis, in float64.

    Raises:
        ValueError: for a formula or irreps that e3nn does not understand.

    Example:
        >>> str(decompose_tensor("ij=-ji", i="1o").irreps)
        '1x1e'
    """
    library = e3nn()
    try:
        with building(0, torch.float64):
            made = library.o3.ReducedTensorProducts(formula, **indices)
    except (ValueError, RuntimeError, AssertionError, KeyError) as error:
        told = ", ".join(f"{key}={value!r}" for key, value in indices.items())
        raise ValueError(
            "a formula is written like 'ij=-ji' with irreps for its first index like i='1o', got "
            f"{formula!r} with {told or 'no irreps'} ({error})"
        ) from error
    return TensorParts(made.irreps_out, made.change_of_basis.double())
