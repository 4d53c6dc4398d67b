"""Images read at displaced points: smooth random deformations."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from regimes._check import choose, instance, shown
from regimes.data._displacement import Field, sample_field, temperatures

SIGMA = 0.4715  # pixels; its participation ratio is that of bilinear weights [Petrini 2021, app. C]
INTERPOLATIONS = {"bilinear": 0, "gaussian": 1, "nearest": 2}
_GAUSSIAN_BYTES = 2**27  # what the weights and products of a chunk of images may take


def deform(
    x: Tensor,
    T: float | Tensor,
    c: float | None,
    interpolation: str = "bilinear",
    mode_rule: str = "half",
    shared: bool = False,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Deform images by random smooth fields at temperature T and cut-off c.

    The deformed image reads the original at `s - tau(s)`; all channels of an image move together
    [Petrini 2021, sec. 2.1]. The frame stays where it is.

    Args:
        x: images, (..., channels, n, n).
        T: temperature, one for all or one for each image; `temperature(delta, c, n)` gives the one
            that moves pixels by delta. At zero the images come back bit for bit, unless they are
            smoothed by "gaussian".
        c: cut-off; None for the rule "square".
        interpolation: "bilinear", "gaussian" (sigma 0.4715 pixels), or "nearest".
        mode_rule: as in `sample_field`.
        shared: one field for all images instead of one for each.
        generator: of the fields; None seeds one with 0.

    Returns:
        The deformed images, shaped like x, differentiable in x.

    Raises:
        ValueError: for images that are not square, integers, or settings that do not fit.

    Example:
        >>> from regimes import data
        >>> x = data.digits(n_train=100).x_train
        >>> moved = deform(x, data.temperature(0.5, c=3, n=8), c=3)
        >>> moved.shape, bool((moved[..., 0, :] == x[..., 0, :]).all())
        (torch.Size([100, 1, 8, 8]), True)
    """
    images = _images(x)
    heat = temperatures(T, len(images))
    if shared and T is not None and isinstance(T, Tensor) and T.ndim:
        raise ValueError("a shared field has one temperature; give a number, or shared=False")
    field = sample_field(
        x.shape[-1],
        heat[:1] if shared else heat,
        c,
        1 if shared else len(images),
        mode_rule,
        generator,
        x.dtype,
        x.device,
    )
    return displace(x, field, interpolation)


def displace(x: Tensor, field: Field, interpolation: str = "bilinear") -> Tensor:
    """Deform images by given fields.

    Bilinear weights stand between the four neighbours [Petrini 2021, eq. 15], read no further than
    the frame. Gaussian weights `exp(-|s - s_i|^2/(2 sigma^2))` go over all pixels and add up to one
    [Petrini 2021, eq. 16]; as they smooth at T = 0 already, compare with that image.

    Args:
        x: images, (..., channels, n, n).
        field: one field, or one for each image.
        interpolation: as in `deform`.

    Returns:
        The deformed images, shaped like x, differentiable in x and, but for "nearest", in the
        field's coefficients.

    Raises:
        ValueError: for images and fields that do not fit each other.

    Example:
        >>> field = sample_field(8, T=1e-2, c=3, batch=5)
        >>> displace(torch.ones(5, 3, 8, 8), field).shape
        torch.Size([5, 3, 8, 8])
    """
    choose(interpolation, INTERPOLATIONS, "interpolation")
    images = _images(x)
    instance("field", field, Field, "a Field, as sample_field gives it")
    if field.n != x.shape[-1]:
        raise ValueError(
            f"the field is for {field.n} pixels a side and the images have {x.shape[-1]}; "
            f"field.at({x.shape[-1]}) is the same field there"
        )
    if len(field) not in (1, len(images)):
        raise ValueError(f"{len(field)} fields for {len(images)} images; give one, or one for each")
    if field.coefficients.device != x.device or field.coefficients.dtype != x.dtype:
        field = Field(field.coefficients.to(x), field.n)
    moved = field.pixels()
    if len(moved) < len(images):
        moved = moved.expand(len(images), -1, -1, -1)
    if interpolation == "gaussian":
        return _gaussian(images, moved).view_as(x)
    return _between_neighbours(images, moved, interpolation).view_as(x)


def participation_ratio(sigma: float) -> float:
    """How many pixels share a read point in the middle of four, `(sum Psi^2)^2 / sum Psi^4`.

    Psi are Gaussian weights over the pixels around it [Petrini 2021, eq. 17]; bilinear weights
    have exactly four.

    >>> round(participation_ratio(SIGMA), 3)
    4.002
    """
    reach = torch.arange(-math.ceil(12 * sigma) - 1, math.ceil(12 * sigma) + 1) + 0.5
    weights = torch.exp(-(reach.double() ** 2) / (2 * sigma**2))
    return float((weights**2).sum() ** 4 / (weights**4).sum() ** 2)


def _images(x: Tensor) -> Tensor:
    """Images as (count, channels, n, n), or an error about what was given."""
    instance("x", x, Tensor, "a tensor of images (..., channels, n, n)")
    if x.ndim < 3 or x.shape[-1] != x.shape[-2] or x.shape[-1] < 2 or 0 in x.shape:
        raise ValueError(
            "deformations are for square images (..., channels, n, n) with n >= 2, got "
            f"{shown(x)}; pad or crop them first"
        )
    if not x.is_floating_point():
        raise ValueError(f"images must be floating point, got {x.dtype}; divide bytes by 255")
    return x.reshape(-1, *x.shape[-3:])


def _between_neighbours(images: Tensor, moved: Tensor, mode: str) -> Tensor:
    n = images.shape[-1]
    # for torch pixel p of n is at (2 p + 1)/n - 1: for n a power of two that and the way back are
    # exact, so that what does not move is not rounded
    pixel = (2 * torch.arange(n, dtype=images.dtype, device=images.device) + 1) / n - 1
    own = torch.stack([pixel.expand(n, n), pixel[:, None].expand(n, n)])
    read = torch.sub(own, moved, alpha=2 / n).movedim(1, -1)  # in the order of `moved`: one pass
    found = F.grid_sample(images, read, mode=mode, padding_mode="border", align_corners=False)
    if n & (n - 1) == 0:
        return found
    # else it is put back bit for bit, with the derivatives of what was read
    still = (moved == 0).all(1, keepdim=True)
    if found.requires_grad:
        return torch.where(still, images.detach() + (found - found.detach()), found)
    return torch.where(still, images, found)


def _gaussian(images: Tensor, moved: Tensor) -> Tensor:
    """The two weights of a pixel, along its row and its column, are applied one after the other."""
    count, channels, n, _ = images.shape
    chunk = max(1, _GAUSSIAN_BYTES // ((channels + 2) * n**3 * images.element_size()))
    pixel = torch.arange(n, dtype=images.dtype, device=images.device)

    def some(at: slice) -> Tensor:
        x, shift = images[at], moved[at].flatten(2)  # (b, 2, n n)
        own = torch.stack([pixel.repeat(n), pixel.repeat_interleave(n)])  # column and row
        apart = (own - shift)[..., None] - pixel  # (b, 2, n n, n)
        # the largest weight is one, so that far outside the frame nothing is 0/0
        power = -(apart**2) / (2 * SIGMA**2)
        weights = torch.softmax(power, -1)
        across = x.flatten(1, 2) @ weights[:, 0].mT  # (b, channels n, n n)
        across = across.view(len(x), channels, n, -1)
        return torch.einsum("bcrp,bpr->bcp", across, weights[:, 1]).view_as(x)

    return torch.cat([some(slice(at, at + chunk)) for at in range(0, count, chunk)])
