"""Images and networks of the theme (docs/themes/linearization.md, "Data and networks")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from regimes._check import choose
from regimes.lab import Point
from regimes.studies._images import image_task
from regimes.studies._types import Dataset, Module, Tensor

if TYPE_CHECKING:
    from regimes.tangent import TangentKernel

NETWORKS = ("mlp", "lenet", "resnet")
_ROOM = 16 * 2**30  # bytes for a kernel beside its Gram
HIDDEN = 100  # width of the two hidden layers of the fully connected network


def task(images: str, n_train: int, n_test: int | None, seed: int, dtype: str) -> Dataset:
    """Images with standardised channels, labels +1 for the first five classes and -1 else.

    The seed draws which images are for training: an error over seeds holds that of the test set.
    """
    from regimes import data

    made = image_task(
        images,
        n_train,
        n_test,
        files="least" if images == "digits" else "all",
        centre=False,
        sphere="none",
        labels="first_half",
        seed=seed,
        precision="float32",
        dtype=dtype,
        keep=False,
    )
    return made.pipe(data.standardize())


def network(
    name: str,
    in_shape: tuple[int, ...],
    seed: int,
    *,
    activation: str = "relu",
    features: tuple[int, ...] = (6, 16, 120, 84),
    base: int = 64,
    dtype: str = "float32",
    device: str = "cpu",
) -> Module:
    """One of NETWORKS with one output, in evaluation mode."""
    import torch

    from regimes import nets

    choose(name, {each: each for each in NETWORKS}, "network")
    by_name: dict[str, dict[str, Any]] = {
        "mlp": {"width": HIDDEN, "depth": 3},
        "lenet": {"features": features},
        "resnet": {"base": base},
    }
    known = {"mlp": "mlp", "lenet": "lenet5", "resnet": "resnet18"}[name]
    made = nets.make(
        known,
        in_shape,
        1,
        seed=seed,
        dtype=getattr(torch, dtype),
        device=device,
        activation=activation,
        init="lecun",
        **by_name[name],
    )
    return made.eval()


def start(data: Dataset, base: int, point: Point) -> tuple[Dataset, Module]:
    """The data where the trial runs, and the network of its seed."""
    net = network(
        point.network, data.in_shape, point.seed, base=base, dtype=point.dtype, device=point.device
    )
    return data.to(device=point.device), net


def kernel(net: Module, precision: str, points: int) -> TangentKernel:
    """The tangent kernel of a network for Grams of so many points.

    On a GPU, where trials run side by side, none takes more than its Gram and 16 GiB.
    """
    from regimes import tangent

    on_gpu = next(net.parameters()).is_cuda
    precision = precision if on_gpu or precision != "tf32" else "float32"
    return tangent.TangentKernel(
        net, precision=precision, memory=_ROOM + 4 * points**2 if on_gpu else None
    )


def signs(f: Tensor) -> Tensor:
    """Labels +-1 of real targets; exact zeros are -1."""
    import torch

    return torch.where(f > 0, 1.0, -1.0).to(f)
