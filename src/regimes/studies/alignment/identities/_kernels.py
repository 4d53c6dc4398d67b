"""Checks of the tangent kernel: its spectrum, its modes, its layers, its alignment."""

from __future__ import annotations

from typing import Any

from regimes.lab import Array, Point, TrialResult
from regimes.studies._types import Module, Tensor


def network(width: int, seed: int, activation: str = "relu") -> Module:
    """2-h-h-2 with biases that are not zero."""
    import torch

    from regimes import nets

    return nets.FullyConnected(
        2,
        width,
        depth=2,
        out_dim=2,
        parametrization="standard",
        init="torch_default",
        bias=True,
        activation=activation,
        seed=seed,
        dtype=torch.float64,
    )


def normal(name: str, seed: int, *shape: int) -> Tensor:
    """Gaussian numbers of a seed."""
    import torch

    from regimes._random import generator

    return torch.randn(shape, generator=generator(seed, name), dtype=torch.float64)


def spectra(params: Any, point: Point) -> TrialResult:
    """ALI-01: eigenvalues of metric and kernel; eigenfunctions on the samples."""
    import torch

    from regimes import measure
    from regimes.tangent import TangentKernel

    gaps, norms, extended, least = [], [], [], []
    for seed in point.seed:
        kernel = TangentKernel(network(params.width, seed))
        x = normal("points", seed, params.points, 2)
        gaps.append(measure.shared_spectrum(kernel.features(x)).gap)
        values, vectors, found = _extended(kernel, x, 1e-8)
        flat = vectors.reshape(len(vectors), -1)
        norms.append(float((flat @ flat.T - torch.eye(len(flat))).abs().max()))
        extended.append(float((found - vectors).abs().max()))
        least.append(float(values[-1] / values[0]))
    return TrialResult(
        arrays={
            "spectrum_gap": Array("problem", gaps),
            "norm_gap": Array("problem", norms),
            "extension_gap": Array("problem", extended),
            "least_share": Array("problem", least),
        }
    )


def rounding(params: Any, point: Point) -> TrialResult:
    """ALI-01b: the gap of the extension in units of what rounding the kernel does to a mode."""
    from regimes.tangent import TangentKernel

    scaled = []
    for seed in point.seed:
        x = normal("points", seed, params.points, 2)
        kernel = TangentKernel(network(params.width, seed))
        values, vectors, found = _extended(kernel, x, 1e-12)
        gaps = (found - vectors).flatten(1).abs().amax(1)
        scaled.append(float((gaps * values / values[0]).max()))
    return TrialResult(arrays={"scaled_gap": Array("problem", scaled)})


def _extended(kernel: Any, x: Tensor, share: float) -> tuple[Tensor, Tensor, Tensor]:
    """Modes whose eigenvalue is above a share of the largest, and their extensions to x."""
    from regimes import measure

    gram = kernel(x)
    pairs = measure.gram_eigs(gram, method="dense")
    kept = pairs.values > share * pairs.values[0]
    values, vectors = pairs.values[kept], pairs.vectors[kept]
    return values, vectors, measure.eigenfunctions(values, vectors, kernel(x, x)).functions


def step(params: Any, point: Point) -> TrialResult:
    """ALI-02: one step of descent on the squared loss, linearised, by modes, and as it is."""
    import torch

    from regimes import measure
    from regimes.tangent import TangentKernel

    splits, remainders = [], []
    for seed in point.seed:
        net = network(params.width, seed, "tanh")
        x, y = (normal(name, seed, params.points, 2) for name in ("points", "targets"))
        outputs = net(x)
        loss = 0.5 * (outputs - y).square().sum()
        slopes = torch.autograd.grad(loss, list(net.parameters()))
        gram, gradient = TangentKernel(net)(x), (outputs - y).detach()
        splits.append(measure.modewise_update(gram, gradient, params.etas[0]).difference)
        start = [p.detach().clone() for p in net.parameters()]
        row = []
        for eta in params.etas:
            with torch.no_grad():
                for p, p0, g in zip(net.parameters(), start, slopes, strict=True):
                    p.copy_(p0 - eta * g)
                moved = net(x) - outputs
            linear = measure.modewise_update(gram, gradient, eta).from_kernel
            row.append(float(torch.linalg.vector_norm(moved - linear)))
        remainders.append(row)
    return TrialResult(
        arrays={
            "etas": Array("eta", params.etas),
            "split_gap": Array("problem", splits),
            "remainder": Array(("problem", "eta"), remainders),
        }
    )


def regression(params: Any, point: Point) -> TrialResult:
    """ALI-03: descent of a linear model against the decay of its modes."""
    import torch

    from regimes import measure

    gaps = []
    for seed in point.seed:
        phi = normal("features", seed, params.points, params.features)
        y = normal("targets", seed, params.points)
        left, s, _ = torch.linalg.svd(phi, full_matrices=False)
        lam = s**2
        eta = float(1 / lam[0])
        w, iterates = torch.zeros(params.features, dtype=torch.float64), []
        for t in range(1, max(params.steps) + 1):
            w = w - eta * phi.T @ (phi @ w - y)
            if t in params.steps:
                iterates.append(left.T @ (phi @ w))
        truth = measure.regression_modes(
            torch.zeros_like(lam), left.T @ y, lam, eta=eta, steps=torch.tensor(params.steps)
        )
        gaps.append(float((torch.stack(iterates) - truth).abs().max()))
    return TrialResult(arrays={"mode_gap": Array("problem", gaps)})


def layers(params: Any, point: Point) -> TrialResult:
    """ALI-04: kernels of layers against the whole, and a linear layer's as a product."""
    import torch

    from regimes import nets
    from regimes.tangent import TangentKernel

    sums, products = [], []
    for seed in point.seed:
        row = []
        for dtype in (torch.float32, torch.float64):
            mlp = nets.FullyConnected(
                5,
                16,
                depth=2,
                out_dim=3,
                parametrization="standard",
                bias=True,
                seed=seed,
                dtype=dtype,
            )
            vgg = nets.VGG((3, 32, 32), 3, variant=19, base=params.base, seed=seed, dtype=dtype)
            points = normal("points", seed, params.points, 5).to(dtype)
            images = normal("images", seed, params.points, 3, 32, 32).to(dtype)
            for net, x in ((mlp, points), (vgg, images)):
                kernel = TangentKernel(net)
                whole, parts = kernel(x), kernel.by_layer(x)
                gap = torch.linalg.vector_norm(sum(parts.values()) - whole)
                row.append(float(gap / torch.linalg.vector_norm(whole)))
            parts = TangentKernel(mlp).by_layer(points)
            products.append(_product_gap(mlp, points, parts["layers.1"]))
        sums.append(row)
    return TrialResult(
        arrays={
            "sum_gap": Array(
                ("problem", "precision", "network"),
                torch.tensor(sums, dtype=torch.float64).reshape(-1, 2, 2),
            ),
            "product_gap": Array(
                ("problem", "precision"), torch.tensor(products, dtype=torch.float64).reshape(-1, 2)
            ),
        }
    )


def _product_gap(net: Module, x: Tensor, gram: Tensor) -> float:
    """Of a linear layer with input a_i and slopes d_iy: (a_i.a_j + 1) (d_iy.d_jz)."""
    import torch

    seen: dict[str, Tensor] = {}

    def keep(_: Module, given: tuple[Tensor, ...], made: Tensor) -> None:
        seen["a"], seen["made"] = given[0].detach(), made

    layer = dict(net.named_modules())["layers.1"]
    handle = layer.register_forward_hook(keep)
    outputs = net(x)
    handle.remove()
    slopes = torch.stack(
        [
            torch.autograd.grad(outputs[:, k].sum(), seen["made"], retain_graph=True)[0]
            for k in range(outputs.shape[1])
        ],
        1,
    )
    a = seen["a"] @ seen["a"].T + 1
    found = a[:, None, :, None] * torch.einsum("iyh,jzh->iyjz", slopes, slopes)
    return float(torch.linalg.vector_norm(found - gram) / torch.linalg.vector_norm(gram))


def aligned(params: Any, point: Point) -> TrialResult:
    """ALI-38: kernels along the labels, random kernels, rescaled kernels."""
    import torch

    from regimes import measure
    from regimes._random import generator

    ones, values, scaled = [], [], []
    n, c = params.points, params.classes
    for seed in point.seed:
        labels = torch.randint(c, (n,), generator=generator(seed, "labels"))
        one_hot = torch.nn.functional.one_hot(labels, c).double()
        y = measure.center_targets(one_hot).flatten()
        along = (7.0 * torch.outer(y, y)).reshape(n, c, n, c)
        ones.append(float(measure.label_alignment(along, labels)))
        for k in range(params.kernels):
            rows = normal(f"kernel {k}", seed, n * c, 1 + k)
            gram = (rows @ rows.T).reshape(n, c, n, c)
            value = measure.label_alignment(gram, labels)
            values.append(float(value))
            scaled.append(float(measure.label_alignment(3 * gram, labels) - value))
    shape = (len(point.seed), params.kernels)
    return TrialResult(
        arrays={
            "along_labels": Array("problem", ones),
            "random_alignment": Array(
                ("problem", "kernel"), torch.tensor(values, dtype=torch.float64).reshape(shape)
            ),
            "scale_gap": Array(
                ("problem", "kernel"), torch.tensor(scaled, dtype=torch.float64).reshape(shape)
            ),
        }
    )
