"""How well a kernel carries a target: alignment, RKHS norm, energy in the top modes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import choose, positive_int
from regimes.measure._eigenpairs import positive_modes
from regimes.measure._kernel import check_gram, check_tensor

_NORMALISE = {"mean": True, "rayleigh": False}
_CONVENTIONS = {"mercer": True, "unit": False}


@dataclass(frozen=True)
class EnergyConcentration:
    """Share of a target on the top eigenvectors."""

    value: Tensor  # |Phi y| / |y|, ratio of norms, as in [Ortiz-Jimenez 2021, sec. 4.2]
    squared: Tensor  # ratio of energies
    baseline: float  # sqrt(K/m), the value for random labels +-1


def target_alignment(K: Tensor, f: Tensor, *, normalise: str = "mean") -> Tensor:
    """`alpha(f) = f^T K f / m^2` from the Gram [Ortiz-Jimenez 2021, lemma 1].

    Args:
        K: Gram (m, m) of a scalar kernel.
        f: target values (m,), or (q, m) for several targets.
        normalise: "mean" as above, or "rayleigh" for `f^T K f / |f|^2`.

    Returns:
        Shape () or (q,).

    >>> target_alignment(torch.eye(2), torch.tensor([1.0, -1.0]))
    tensor(0.5000)
    """
    K = check_gram("K", K)
    if K.ndim != 2:
        raise ValueError(f"K must be a kernel (m, m) of one output, got {tuple(K.shape)}")
    mean = choose(normalise, _NORMALISE, "normalise")
    f = _check_target(f, len(K)).double()
    form = ((f @ K.double()) * f).sum(-1)
    return (form / (len(K) ** 2 if mean else (f**2).sum(-1))).to(K.dtype)


def rkhs_norm2(
    f: Tensor, lam: Tensor, phi: Tensor, *, modes: int | None = None, convention: str = "mercer"
) -> Tensor:
    """Squared RKHS norm `sum_j (E[phi_j f])^2 / lam_j` [Ortiz-Jimenez 2021, eq. 3].

    Args:
        f: target values (m,) or (q, m).
        lam: eigenvalues (k,), positive over the modes used.
        phi: eigenvectors as rows (k, m).
        modes: use the first so many; None for all given.
        convention: "mercer" when phi has mean square 1 and lam are `lam_gram/m`, "unit" when phi
            has norm 1 and lam are those of the Gram; the result is the same.

    Returns:
        Shape () or (q,).

    >>> lam, phi = torch.tensor([2.0, 0.5]), torch.tensor([[1.0, 1.0], [1.0, -1.0]])
    >>> rkhs_norm2(torch.tensor([1.0, 1.0]), lam, phi)          # f = phi_1: 1/lam_1
    tensor(0.5000)
    """
    overlap, lam_mercer = _overlaps(f, lam, phi, modes, convention)
    return (overlap**2 / positive_modes(lam_mercer)).sum(-1).to(phi.dtype)


def alignment_from_modes(
    f: Tensor, lam: Tensor, phi: Tensor, *, modes: int | None = None, convention: str = "mercer"
) -> Tensor:
    """`alpha(f) = sum_j lam_j (E[phi_j f])^2` [Ortiz-Jimenez 2021, eq. 6].

    Arguments as in `rkhs_norm2`; with all modes it equals `target_alignment`.

    >>> lam, phi = torch.tensor([2.0, 0.5]), torch.tensor([[1.0, 1.0], [1.0, -1.0]])
    >>> alignment_from_modes(torch.tensor([1.0, 1.0]), lam, phi)
    tensor(2.)
    """
    overlap, lam_mercer = _overlaps(f, lam, phi, modes, convention)
    return (overlap**2 * lam_mercer).sum(-1).to(phi.dtype)


def rkhs_lower_bound(f: Tensor, alignment: Tensor) -> Tensor:
    """`|f|_2^4 / alpha(f)`, never above the squared RKHS norm [Ortiz-Jimenez 2021, lemma 1].

    Args:
        f: target values (m,) or (q, m); `|f|_2^2` is their mean square.
        alignment: `alpha(f)` in "mean" normalisation, () or (q,).

    Returns:
        Shape () or (q,); infinite for a target that is not aligned at all.

    >>> rkhs_lower_bound(torch.tensor([1.0, 1.0]), torch.tensor(2.0))
    tensor(0.5000)
    """
    f = check_tensor("f", f)
    return ((f.double() ** 2).mean(-1) ** 2 / alignment).to(f.dtype)


def generalisation_term(norm2: Tensor, mean_diagonal: Tensor | float, m: int) -> Tensor:
    """`sqrt(|f|_Theta^2 E[Theta(x,x)] / m)` [Ortiz-Jimenez 2021, eq. 2].

    Args:
        norm2: squared RKHS norm of the target, any shape.
        mean_diagonal: `E[Theta(x,x)]`, the mean of the Gram's diagonal.
        m: number of training samples.

    >>> generalisation_term(torch.tensor(8.0), 2.0, 4)
    tensor(2.)
    """
    given = {"norm2": norm2, "mean_diagonal": torch.as_tensor(mean_diagonal)}
    for name, value in given.items():
        if not bool((value >= 0).all()):
            raise ValueError(f"{name} is a mean of squares, so not negative; got {value.min():.3g}")
    return torch.sqrt(check_tensor("norm2", norm2) * mean_diagonal / positive_int("m", m))


def energy_concentration(phi: Tensor, y: Tensor, K: int = 50) -> EnergyConcentration:
    """`|Phi[:K] y| / |y|` with the top K unit eigenvectors [Ortiz-Jimenez 2021, sec. 4.2].

    Its square for labels +-1 is also the label alignment `sum_{r<=K} (v_r.y)^2 / P`.

    Args:
        phi: unit eigenvectors as rows (k, m), k >= K, in decreasing order of eigenvalue.
        y: target values (m,) or (q, m).
        K: how many eigenvectors.

    >>> energy_concentration(torch.eye(4), torch.tensor([3.0, 0.0, 4.0, 0.0]), K=1).value
    tensor(0.6000)
    """
    phi, K = check_tensor("phi", phi), positive_int("K", K)
    if phi.ndim != 2 or len(phi) < K:
        raise ValueError(f"phi must hold at least K={K} rows (k, m), got {tuple(phi.shape)}")
    m = phi.shape[1]
    target = _check_target(y, m).double()
    energy = ((target @ phi[:K].double().T) ** 2).sum(-1) / (target**2).sum(-1)
    return EnergyConcentration(
        energy.sqrt().to(phi.dtype), energy.to(phi.dtype), baseline=(K / m) ** 0.5
    )


def _check_target(f: Tensor, m: int) -> Tensor:
    f = check_tensor("target", f)
    if f.ndim not in (1, 2) or f.shape[-1] != m:
        raise ValueError(f"target must have shape ({m},) or (q, {m}), got {tuple(f.shape)}")
    if not bool((f != 0).any(-1).all()):
        raise ValueError("target is zero everywhere")
    return f


def _overlaps(
    f: Tensor, lam: Tensor, phi: Tensor, modes: int | None, convention: str
) -> tuple[Tensor, Tensor]:
    """`E[phi_j f]` and the Mercer eigenvalues, whichever convention was given."""
    lam, phi = check_tensor("lam", lam), check_tensor("phi", phi)
    mercer = choose(convention, _CONVENTIONS, "convention")
    if phi.ndim != 2 or lam.shape != phi.shape[:1]:
        raise ValueError(
            f"lam must have shape (k,) and phi (k, m), got {tuple(lam.shape)}, {tuple(phi.shape)}"
        )
    m = phi.shape[1]
    k = len(lam) if modes is None else positive_int("modes", modes)
    if k > len(lam):
        raise ValueError(f"modes must be at most the number given, {len(lam)}, got {k}")
    overlap = _check_target(f, m).double() @ phi[:k].double().T / m
    values = lam[:k].double()
    return (overlap, values) if mercer else (overlap * m**0.5, values / m)
