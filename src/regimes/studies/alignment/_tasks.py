"""What the studies of this theme learn: images in classes, and the networks that learn them."""

from __future__ import annotations

import dataclasses
from typing import Any

from regimes.studies._images import image_task
from regimes.studies._types import Dataset, Module

# of the colours of CIFAR-10, as the programs of the paper have them
COLOURS = ((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010))
CONVOLUTIONAL = ("vgg11", "vgg19", "resnet18")


def task(
    images: str,
    n_train: int,
    n_test: int | None,
    *,
    noise: float = 0.0,
    flat: bool = True,
    seed: int = 0,
    dtype: str = "float32",
    device: str = "cpu",
) -> Dataset:
    """Images in ten classes, scaled to mean 0 and deviation 1, some training labels redrawn.

    The mean and the deviation are those of all pixels of the training images, of CIFAR-10 fixed
    ones for each colour. The seed draws which images are taken and which labels are changed.
    """
    from regimes import data

    made = image_task(
        images,
        n_train,
        n_test,
        files="split",
        centre=False,
        sphere="none",
        labels="classes",
        flat=flat,
        seed=seed,
        precision="float32",
        dtype=dtype,
        device=device,
        keep=False,
    )
    made = standardised(made, colours=images == "cifar10" and not flat)
    return made.pipe(data.label_noise(noise, seed=seed)) if noise else made


def standardised(made: Dataset, *, colours: bool = False) -> Dataset:
    """The same points with mean 0 and deviation 1 over all pixels of the training set."""
    x = made.x_train
    mean, std = x.mean(), x.std()
    if colours:
        mean, std = (x.new_tensor(each)[:, None, None] for each in COLOURS)
    probes = {
        name: type(points)((points.x - mean) / std, points.y)
        for name, points in made.probes.items()
    }
    return dataclasses.replace(
        made, x_train=(x - mean) / std, x_test=(made.x_test - mean) / std, probes=probes
    )


def network(
    name: str, made: Dataset, *, seed: int, depth: int = 6, width: int = 80, **options: Any
) -> Module:
    """An MLP of `depth` weight matrices, or a convolutional network with `width` channels."""
    from regimes import nets

    x = made.x_train
    like: dict[str, Any] = {"dtype": x.dtype, "device": x.device, "seed": seed}
    classes = 10
    if name == "mlp":
        options = {"init": "kaiming", **options}
        return nets.FullyConnected(
            made.in_shape[0],
            width,
            depth=depth - 1,
            out_dim=classes,
            parametrization="standard",
            bias=True,
            **options,
            **like,
        )
    if name == "resnet18":
        return nets.ResNet18(made.in_shape, classes, base=width, **options, **like)
    if name in CONVOLUTIONAL:
        variant = int(name.removeprefix("vgg"))
        return nets.VGG(made.in_shape, classes, variant=variant, base=width, **options, **like)
    raise ValueError(f"network must be mlp or one of {', '.join(CONVOLUTIONAL)}, got {name!r}")
