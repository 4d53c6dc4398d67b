"""Lanczos's recurrence: a symmetric matrix seen from a few vectors, by products alone."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Product = Callable[[Tensor], Tensor]  # rows (k, N) -> (k, N)


def quadrature(product: Product, start: Tensor, steps: int) -> tuple[Tensor, Tensor, Tensor]:
    """Gauss quadrature of the spectral measure of each starting vector.

    sum_j weights_j g(nodes_j) equals v^T g(H) v / v^T v for polynomials g below degree 2 steps
    [Ubaru 2017, sec. 3]. Vectors are not orthogonalised again: lost orthogonality repeats nodes
    and shares out their weights, which leaves the quadrature as it was [Greenbaum 1989]. So three
    vectors are held, whatever the number of steps.

    Args:
        product: with a symmetric matrix, on rows.
        start: (k, N), rows that are not zero.
        steps: m.

    Returns:
        Nodes (k, m) ascending, weights (k, m) that sum to one, and the residuals (k, m) of the
        approximate eigenvectors behind the nodes; float64.

    Example:
        >>> H = torch.diag(torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64))
        >>> nodes, weights, _ = quadrature(lambda v: v @ H, torch.ones_like(H[:1]), 3)
        >>> nodes.round(decimals=6).tolist(), weights.round(decimals=4).tolist()
        ([[1.0, 2.0, 4.0]], [[0.3333, 0.3333, 0.3333]])
    """
    k = len(start)
    diagonal = torch.zeros(k, steps, dtype=torch.float64, device=start.device)
    beside = torch.zeros_like(diagonal)
    last, now = torch.zeros_like(start), start / start.norm(dim=1, keepdim=True)
    for j in range(steps):
        image = product(now)
        if j:
            image = image - beside[:, j - 1, None].to(image) * last
        diagonal[:, j] = (image * now).sum(1, dtype=torch.float64)
        image = image - diagonal[:, j, None].to(image) * now
        length = image.norm(dim=1, dtype=torch.float64)
        beside[:, j] = length
        # where the vectors span all that the start knows of, nothing is left to go on with
        going = length > torch.finfo(torch.float64).tiny
        last, now = now, image / length.where(going, torch.inf)[:, None].to(image)
    off = beside[:, :-1].diag_embed(1)
    nodes, vectors = torch.linalg.eigh(diagonal.diag_embed() + off + off.mT)
    return nodes, vectors[:, 0].square(), (beside[:, -1, None] * vectors[:, -1]).abs()
