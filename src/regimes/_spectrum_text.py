"""Eigenvalues with their doubt, in a line or as a table; never the vectors."""

from __future__ import annotations

from torch import Tensor

from regimes._html import block, curves, table

_IN_A_LINE, _IN_A_TABLE = 5, 20


def told(values: Tensor, residuals: Tensor, converged: Tensor) -> str:
    """The largest values, how many converged and the largest residual.

    >>> import torch
    >>> told(torch.tensor([3.0, 1.5]), torch.tensor([0.0, 1e-9]), torch.tensor([True, True]))
    '2 values: 3, 1.5; 2 of 2 converged, residual at most 1e-09'
    """
    shown = ", ".join(f"{value:.4g}" for value in values[:_IN_A_LINE].tolist())
    more = ", ..." if len(values) > _IN_A_LINE else ""
    worst = f"{float(residuals.max()):.2g}" if len(residuals) else "0"
    return (
        f"{len(values)} values: {shown}{more}; {int(converged.sum())} of {len(values)} converged, "
        f"residual at most {worst}"
    )


def spectrum_html(name: str, values: Tensor, residuals: Tensor, converged: Tensor) -> str:
    """The first rows of a table, and the values as a falling line."""
    rows = [
        (rank, f"{value:.6g}", f"{doubt:.2g}", "yes" if good else "no")
        for rank, (value, doubt, good) in enumerate(
            zip(values.tolist(), residuals.tolist(), converged.tolist(), strict=True), start=1
        )
    ]
    title = f"{name}: {told(values, residuals, converged)}"
    picture = curves([values.tolist()], "values by rank, logarithmic", log=True)
    headings = ("rank", "value", "residual", "converged")
    return block(title, table(headings, rows[:_IN_A_TABLE]), picture)
