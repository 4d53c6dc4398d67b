"""Which axis of an intermediate tensor counts the samples.

Networks move the batch about: sequences come as (n, T, d), (T, n, d) or flattened to (n T, d). The
axis is found by running the network on 2 and on 3 samples and looking at what grew; the order
inside a flattened axis by asking which entries one sample's gradient touches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Layout:
    """Samples along `axis`, `inner` entries each; sample-major (n, inner) or position-major."""

    axis: int
    inner: int = 1
    sample_major: bool = True

    def split(self, tensor: Tensor, n: int) -> Tensor:
        """Reshape (..., n * inner, ...) to (n, inner, ...), the sample axis first.

        Args:
            tensor: any tensor with this layout.
            n: number of samples.

        Returns:
            A view where torch allows one; the inner axis is there even when it has one entry.
        """
        if self.axis == 0 and self.inner == 1:
            return tensor.unsqueeze(1)
        shape = list(tensor.shape)
        pair = [n, self.inner] if self.sample_major else [self.inner, n]
        split = tensor.reshape(shape[: self.axis] + pair + shape[self.axis + 1 :])
        at = self.axis if self.sample_major else self.axis + 1
        other = self.axis + 1 if self.sample_major else self.axis
        rest = [i for i in range(split.dim()) if i not in (at, other)]
        return split.permute(at, other, *rest)


def find_layout(
    shapes: tuple[torch.Size, torch.Size], sizes: tuple[int, int], alone: Sequence[Tensor]
) -> Layout | None:
    """The layout of a tensor seen for two batch sizes, or None if no axis counts the samples.

    Args:
        shapes: the tensor's shape for each of the two batch sizes.
        sizes: the two batch sizes.
        alone: gradients at this tensor, of the second size, of the first and of the last sample's
            output alone. One would not do: where only one position counts, both orders may fit.

    Returns:
        The layout, or None where the samples cannot be told apart (the general engine can).
    """
    first, second = shapes
    if len(first) != len(second):
        return None
    changed = [axis for axis in range(len(first)) if first[axis] != second[axis]]
    if len(changed) != 1:
        return None
    axis = changed[0]
    inner, left_over = divmod(first[axis], sizes[0])
    if left_over or second[axis] != inner * sizes[1]:
        return None
    for sample_major in (True, False):
        layout = Layout(axis, inner, sample_major)
        of_first, of_last = (layout.split(gradient, sizes[1]) for gradient in alone)
        if not (of_first[1:].any() or of_last[:-1].any()):
            return layout
    return None
