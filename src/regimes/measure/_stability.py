"""Stability of a network to smooth deformations of images, as a whole and layer by layer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from regimes._check import choose, instance, nearest_first, positive_int, real, shown
from regimes.data import deform, temperature
from regimes.measure._relative_stability import (
    STATISTICS,
    NoScaleError,
    RelativeStability,
    relative_stability,
    without_scale,
)

_BATCH = 256


@dataclass(frozen=True)
class Probe:
    """How images were deformed and shaken."""

    delta: float  # typical displacement in pixels, asymptotic definition
    T: float
    c: float
    mode_rule: str
    interpolation: str
    statistic: str
    radius: float  # <|tau x - x|>, the size of the noise; NaN where each image has its own
    per_image: bool  # noise as large as the image's own displacement
    images: int
    draws: int


@dataclass(frozen=True, eq=False)
class Stability:
    """D_f, G_f and R_f of a network with what they were measured with."""

    found: RelativeStability
    probe: Probe

    @property
    def D_f(self) -> Tensor:  # noqa: N802
        """Change under deformations over the change between images."""
        return self.found.deformation

    @property
    def G_f(self) -> Tensor:  # noqa: N802
        """Change under noise of the same size over the change between images."""
        return self.found.noise

    @property
    def R_f(self) -> Tensor:  # noqa: N802
        """`D_f / G_f`: below one where the network is more stable to deformations than to noise."""
        return self.found.relative

    @property
    def R_f_error(self) -> Tensor:  # noqa: N802
        """Standard error of `R_f` over bootstrap resamples of the images."""
        return self.found.relative_error


@dataclass(frozen=True, eq=False)
class _Images:
    """Images with their deformed and noisy copies, in the order they go through the network."""

    x: Tensor  # (n, ch, p, p)
    deformed: Tensor  # (draws, n, ch, p, p)
    noisy: Tensor
    probe: Probe


def stability(
    model: Callable[[Tensor], Any],
    images: Tensor,
    *,
    delta: float = 1.0,
    c: float = 3,
    T: float | None = None,
    draws: int = 1,
    interpolation: str = "bilinear",
    mode_rule: str = "half",
    statistic: str = "median",
    radius: float | str | None = None,
    batch_norm: str = "auto",
    output: Callable[[Any], Tensor] | None = None,
    seed: int = 0,
) -> Stability:
    """Relative stability R_f of a network to smooth deformations [Petrini 2021, eqs. 4 and 5].

    Every image is deformed by a smooth field that moves its pixels by about `delta`, and shaken by
    noise of the same size, uniform on a sphere. `R_f` is what the first changes over what the
    second changes. It is about one at initialisation, and for good image networks falls below 0.1.

    Args:
        model: a module, or any function from images to outputs (n, ...); `nets.Ensemble` gives
            (members, n, c), and one number a member comes back.
        images: (n, channels, p, p); a few hundred of the test set.
        delta: typical displacement in pixels; sets T = 4 delta^2/(pi p^2 ln c).
        c: cut-off of the fields.
        T: temperature, instead of delta.
        draws: deformations, and noises, of each image.
        interpolation: as in `data.deform`.
        mode_rule: as in `data.sample_field`.
        statistic: "median" or "mean", of everything that is averaged.
        radius: size of the noise: None takes `<|tau x - x|>`, "per_image" each image's own, a
            number that number.
        batch_norm: "auto" runs modules in evaluation mode, but batch norm that has seen no data by
            the statistics of the batch (its running ones still say nothing); "running" or "batch"
            forces one of the two. Running statistics and modes are left as they were.
        output: from what the model returns to one tensor.
        seed: of fields, noise, pairs and errors.

    Returns:
        The three numbers with errors, and all settings.

    Raises:
        ValueError: for images that are not square, settings that do not fit, or a model that gives
            the same output for all images.

    Example:
        >>> from regimes import data, nets
        >>> found = stability(nets.LeNet5((1, 32, 32), 10), torch.rand(50, 1, 32, 32))
        >>> bool(found.R_f > 0.1), found.probe.draws
        (True, 1)
    """
    probe = _probe(images, delta, c, T, draws, interpolation, mode_rule, statistic, radius, seed)
    with _examined(model, batch_norm), torch.no_grad():
        f = [_outputs(model, part, output) for part in _in_order(probe)]
    return Stability(_three(f, probe, statistic, seed), probe.probe)


def layer_stability(
    model: nn.Module,
    images: Tensor,
    *,
    layers: Sequence[str] | None = None,
    output: Callable[[Any], Tensor] | None = None,
    batch_norm: str = "auto",
    seed: int = 0,
    **settings: Any,
) -> dict[str, Stability]:
    """Stability of the output of every layer, in the order they run [Petrini 2021, fig. 14].

    All layers are read by forward hooks in the same passes.

    Args:
        model: a module.
        images: as in `stability`.
        layers: names as in `named_modules`; None takes the children of the model, those of
            `nn.Sequential` one by one, as far as they return one tensor with a row an image.
        output: from what the model returns to one tensor.
        batch_norm: as in `stability`.
        seed: as in `stability`.
        settings: the others of `stability`.

    Returns:
        Name -> stability. The last is the network's own output, `"output"`. Relative depth is the
        position in this order over the number less one. NaN for a layer that answers the same to
        all images.

    Raises:
        ValueError: for unknown layers, or as `stability`.

    Example:
        >>> from regimes import nets
        >>> net = nets.LeNet5((1, 32, 32), 10)
        >>> [*layer_stability(net, torch.rand(20, 1, 32, 32))][-1]
        'output'
    """
    instance("model", model, nn.Module, "a torch.nn.Module: layers are found in modules")
    plain = {"delta": 1.0, "c": 3, "T": None, "draws": 1, "interpolation": "bilinear"}
    plain |= {"mode_rule": "half", "statistic": "median", "radius": None}
    for name in settings:
        choose(name, plain, "setting")
    chosen: dict[str, Any] = plain | settings
    probe = _probe(images, **chosen, seed=seed)
    found: dict[str, list[list[Tensor]]] = {}
    names = _layers(model, layers)

    def keep(name: str) -> Callable[[nn.Module, Any, Any], None]:
        def hook(_: nn.Module, __: Any, value: Any) -> None:
            if isinstance(value, Tensor) and value.ndim > 1 and value.is_floating_point():
                found.setdefault(name, [[]])[-1].append(value.detach().flatten(1))

        return hook

    whole: list[Tensor] = []
    modules = dict(model.named_modules())
    hooks = [modules[name].register_forward_hook(keep(name)) for name in names]
    try:
        with _examined(model, batch_norm), torch.no_grad():
            for part in _in_order(probe):
                whole.append(_outputs(model, part, output))
                for pieces in found.values():
                    pieces.append([])
    finally:
        for hook in hooks:
            hook.remove()
    three: dict[str, Stability] = {}

    def told(outputs: list[Tensor]) -> Stability:
        try:
            return Stability(_three(outputs, probe, chosen["statistic"], seed), probe.probe)
        except NoScaleError as error:  # one dead layer does not hide the others
            nothing = without_scale(error, len(probe.x), len(probe.deformed))
            return Stability(nothing, probe.probe)

    for name, pieces in found.items():
        outputs = [torch.cat(piece) for piece in pieces if piece]
        if any(len(f) != len(part) for f, part in zip(outputs, _in_order(probe), strict=False)):
            continue  # called several times a pass, or not with one row an image
        three[name] = told(outputs)
    three["output"] = told(whole)
    return three


def _probe(
    images: Tensor,
    delta: float,
    c: float,
    T: float | None,
    draws: int,
    interpolation: str,
    mode_rule: str,
    statistic: str,
    radius: float | str | None,
    seed: int,
) -> _Images:
    choose(statistic, STATISTICS, "statistic")
    draws = positive_int("draws", draws)
    if not isinstance(images, Tensor) or images.ndim != 4 or len(images) < 2:
        raise ValueError(f"images must be a tensor (n >= 2, channels, p, p), got {shown(images)}")
    if not bool(images.isfinite().all()):
        raise ValueError("images hold NaN or infinity; leave those out, or fill them in")
    heat = temperature(delta, c, images.shape[-1]) if T is None else real("T", T, above=0)
    if not heat > 0:
        raise ValueError(f"delta must be positive, got {delta!r}: without a displacement no noise")
    source = torch.Generator().manual_seed(seed)
    x = images.detach()
    deformed = deform(
        x.expand(draws, *x.shape), heat, c, interpolation, mode_rule, generator=source
    )
    if interpolation == "gaussian":  # it smooths without any displacement: compare with that image
        x = deform(x, 0.0, c, interpolation, mode_rule)
    sizes = (deformed - x).flatten(2).norm(dim=2)  # (draws, n)
    middle = float(sizes.double().median() if statistic == "median" else sizes.double().mean())
    if isinstance(radius, str):
        choose(radius, {"per_image": 0}, "radius")
        length, middle = sizes[:, :, None, None, None], float("nan")
    else:
        middle = middle if radius is None else real("radius", radius, above=0)
        length = torch.full_like(sizes, middle)[:, :, None, None, None]
    eta = torch.randn(deformed.shape, generator=source).to(deformed)
    eta *= length / eta.flatten(2).norm(dim=2)[:, :, None, None, None]
    own = Probe(
        delta=float(delta) if T is None else (heat / temperature(1.0, c, x.shape[-1])) ** 0.5,
        T=heat,
        c=float(c),
        mode_rule=mode_rule,
        interpolation=interpolation,
        statistic=statistic,
        radius=middle,
        per_image=isinstance(radius, str),
        images=len(x),
        draws=draws,
    )
    return _Images(x, deformed, x + eta, own)


def _in_order(probe: _Images) -> tuple[Tensor, Tensor, Tensor]:
    return probe.x, probe.deformed.flatten(0, 1), probe.noisy.flatten(0, 1)


def _outputs(
    model: Callable[[Tensor], Any], x: Tensor, output: Callable[[Any], Tensor] | None
) -> Tensor:
    """Outputs (n, c), or (members, n, c), of all images."""
    pieces = []
    for some in x.split(_BATCH):
        found = _called(model, some)
        found = found if output is None else output(found)
        if not isinstance(found, Tensor):
            raise ValueError(
                f"the model returns {type(found).__name__}; say with output= which tensor is meant"
            )
        rows = [axis for axis, size in enumerate(found.shape[:2]) if size == len(some)]
        if not rows:
            raise ValueError(
                f"the model returns {shown(found)} for {len(some)} images; expected a row an image"
            )
        stacked = rows[0] == 1 and found.ndim == 3
        pieces.append(found if stacked else found.flatten(1) if found.ndim > 1 else found[:, None])
    return torch.cat(pieces, -2)


def _called(model: Callable[[Tensor], Any], images: Tensor) -> Any:
    """What the model returns; where it fails on another precision or device, that is said."""
    try:
        return model(images)
    except RuntimeError as error:
        like = next(model.parameters(), images) if isinstance(model, nn.Module) else images
        if (like.dtype, like.device) == (images.dtype, images.device):
            raise
        raise ValueError(
            f"images are {images.dtype} on {images.device} but the model is {like.dtype} on "
            f"{like.device}; convert one of them with .to(...)"
        ) from error


def _three(f: Sequence[Tensor], probe: _Images, statistic: str, seed: int) -> RelativeStability:
    plain, deformed, noisy = f
    draws, n = len(probe.deformed), len(probe.x)
    apart = [part.unflatten(-2, (draws, n)).movedim(-3, 0) for part in (deformed, noisy)]
    return relative_stability(plain, *apart, statistic=statistic, seed=seed)


def _layers(model: nn.Module, layers: Sequence[str] | None) -> list[str]:
    known = dict(model.named_modules())
    known.pop("", None)
    if layers is None:

        def below(module: nn.Module, prefix: str) -> Iterator[str]:
            for name, child in module.named_children():
                if isinstance(child, nn.Sequential | nn.ModuleList):
                    yield from below(child, f"{prefix}{name}.")
                else:
                    yield f"{prefix}{name}"

        return list(below(model, ""))
    for name in layers:
        if name not in known:
            raise ValueError(
                f"the model has no layer {name!r}; the nearest are "
                f"{', '.join(nearest_first(name, known)[:5])}"
            )
    return list(layers)


@contextlib.contextmanager
def _examined(model: object, batch_norm: str) -> Iterator[None]:
    """Evaluation mode without a trace: modes as before, running statistics never touched."""
    choose(batch_norm, {"auto": 0, "running": 1, "batch": 2}, "batch_norm")
    if not isinstance(model, nn.Module):
        yield
        return
    modes = [(module, module.training) for module in model.modules()]
    by_batch = [
        module
        for module, _ in modes
        if isinstance(module, nn.modules.batchnorm._BatchNorm)
        and module.track_running_stats
        and (batch_norm == "batch" or (batch_norm == "auto" and _has_seen_nothing(module)))
    ]
    try:
        model.eval()
        for norm in by_batch:
            # in training mode and without tracking, torch neither reads nor writes its statistics
            norm.training, norm.track_running_stats = True, False
        yield
    finally:
        for norm in by_batch:
            norm.track_running_stats = True
        for module, mode in modes:
            module.training = mode


def _has_seen_nothing(module: nn.modules.batchnorm._BatchNorm) -> bool:
    if module.running_mean is None or module.running_var is None:
        return True
    return bool((module.running_mean == 0).all() and (module.running_var == 1).all())
