"""The tangent kernel of any network."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from regimes._html import block, facts
from regimes.tangent import _eigenpairs, _products, _tiles
from regimes.tangent._engine import Engine
from regimes.tangent._plan import Plan
from regimes.tangent.network import Batch, _batch, by_prefix, owner, parse_outputs

OutputChoice = str | int | Sequence[float] | Tensor


class TangentKernel:
    """Theta(x, x') = grad f(x) . grad f(x'), at the parameters where the network stands now.

    [Jacot 2018], [Geiger 2020, eq. 5], [Baratin 2021, eq. 40]. The network is
    copied (unless copy=False), so training it further does not change this kernel. Parameters with
    requires_grad=False are left out. Any `nn.Module` that maps n samples to n rows without letting
    samples interact will do: outputs (n,) count as one output, further axes (n, T, c) are flattened
    to T c outputs. Inputs may be a tensor, a tuple or list (positional), or any mapping (by name);
    of numpy arrays; or a DataLoader or another iterable of batches, read once and kept within the
    memory budget, in a temporary file where it is larger. Of a batch that is a tuple or list the
    first entry is the inputs, and the rest, as labels, is left out.

    Args:
        network: the network.
        output: from what the network returns to the tensor that is meant, such as
            `lambda o: o.logits`; None where it is or holds only one (of floats, with axes).
        precision: "float32", "float64", "tf32" or "bfloat16" (factors rounded, sums in float32);
            None keeps the network's own.
        memory: bound on what a call allocates, result included: bytes or text such as "2GiB";
            None takes a share of what is free when the call starts.
        engine: "auto" reads the structure of each layer; "pairs", "pixels" and "expand" force one
            way of contracting, where a layer has it; "jacobian" writes out all gradients;
            "products" builds the Gram from products only. They agree to rounding.
        on: "ray" spreads the tiles of a Gram over a Ray cluster.
        copy: False uses the network itself, which saves its memory and the time of a copy, for a
            kernel that is wanted now and not after further training: a call after a parameter
            changed is refused. (Writing through `parameter.data` goes unnoticed.)
        check: compare a few entries of every result with plain autograd, and products with entries
            of the Gram; a mismatch raises. The first call of a kind is compared in any case where
            that takes less than 2 % of its time.

    Example:
        >>> net = nn.Linear(3, 1, bias=False)
        >>> TangentKernel(net)(torch.eye(3))  # the kernel of a linear model: Gram of its inputs
        tensor([[1., 0., 0.],
                [0., 1., 0.],
                [0., 0., 1.]])
    """

    def __init__(
        self,
        network: nn.Module,
        *,
        precision: str | None = None,
        memory: str | int | None = None,
        engine: str = "auto",
        on: str | None = None,
        copy: bool = True,
        check: bool = False,
        output: Callable[[Any], Any] | None = None,
    ) -> None:
        if on not in (None, "ray"):
            raise ValueError(f"on must be None or 'ray', got {on!r}")
        self._engine = Engine(network, precision, memory, engine, copy, check, output)
        self._on = on

    def __repr__(self) -> str:
        engine = self._engine
        count = sum(engine.snapshot.sizes.values())
        kind = engine.precision or str(engine.pass_dtype).removeprefix("torch.")
        network = type(engine.snapshot.module).__name__
        way = f"engine={engine.choice.value!r}"
        return f"TangentKernel({network}, {count:,} parameters, {kind}, {way})"

    def _repr_html_(self) -> str:
        """What is known of the kernel before it is asked for, as a table."""
        engine = self._engine
        sizes = engine.snapshot.sizes
        rows = {
            "parameters": f"{sum(sizes.values()):,} in {len(sizes)} tensors",
            "computed in": engine.precision or str(engine.pass_dtype).removeprefix("torch."),
            "engine": f"{engine.choice.value}; k.plan(x) says what it does",
        }
        return block(f"TangentKernel of {type(engine.snapshot.module).__name__}", facts(rows))

    @property
    def parameter_names(self) -> list[str]:
        """Names of the parameters that count, in the order of `features`."""
        return self._engine.names

    @property
    def parameters(self) -> list[Tensor]:
        """The parameters that count, where the network stands, in the order of `features`."""
        return [p.detach() for p in self._engine.snapshot.parameters.values()]

    def outputs(self, x: Batch) -> Tensor:
        """What the network says of x where it stands, (n, c), in evaluation mode."""
        x = self._engine.prepared(x)
        n, (_, limits) = _batch.size(x), self._engine.limits(x, 1)
        with torch.no_grad(), self._engine.arithmetic():
            parts = [
                self._engine.snapshot(_batch.rows(x, start, min(start + limits.samples, n)))
                for start in range(0, n, limits.samples)
            ]
        return torch.cat(parts)

    def prepared(self, x: Batch) -> Batch:
        """Inputs as every call takes them: worth it for a loader that several calls share."""
        return self._engine.prepared(x)

    def __call__(
        self,
        x: Batch,
        x2: Batch | None = None,
        *,
        outputs: OutputChoice = "full",
        out: str | Path | None = None,
    ) -> Any:
        """Gram matrix of x, or of x against x2.

        Args:
            x: n samples.
            x2: n2 samples; None, or the same object, for x itself (then only half is computed).
            outputs: "full"; "trace", the mean of the outputs' own Grams; "diagonal", one Gram per
                output; an output's index, -1 being the last; or c weights w, the Gram of
                sum_a w_a f_a.
            out: path of a .npy file for results larger than memory. Tiles are written as they are
                finished; the same call again goes on where a killed one stopped.

        Returns:
            (n, n2) for one output (or "trace", an index, weights), (n, c, n2, c) for c outputs,
            (c, n, n2) for "diagonal". With `out`, a memory-mapped numpy array of that shape.
        """
        x2 = None if x2 is x else x2
        if out is not None or self._on == "ray":
            return _tiles.tiled_gram(self._engine, x, x2, outputs=outputs, out=out, on=self._on)
        return self._engine.grams(x, x2, outputs)[""]

    def by_layer(
        self,
        x: Batch,
        x2: Batch | None = None,
        *,
        groups: Mapping[str, Sequence[str]] | None = None,
        outputs: OutputChoice = "full",
    ) -> dict[str, Tensor]:
        """Gram of every layer; they sum to the whole [Baratin 2021, sec. 3.3].

        Args:
            x: n samples.
            x2: n2 samples, or None for x itself.
            groups: name -> prefixes of the parameters in that group; None makes one group of each
                module that owns parameters, by its name ("" for those of the network itself).
                Parameters in no group are left out.
            outputs: as for the Gram.
        """
        names = self.parameter_names
        group_of = owner if groups is None else by_prefix(groups, names)
        grams = self._engine.grams(x, x2, outputs, group_of)
        order = dict.fromkeys(map(owner, names)) if groups is None else dict.fromkeys(groups)
        return {name: grams[name] for name in order}

    def plan(self, x: Batch, x2: Batch | None = None, *, outputs: OutputChoice = "full") -> Plan:
        """Which layer takes which path and why, with the time and memory expected. Print it."""
        engine = self._engine
        x, x2 = engine.prepared(x), None if x2 is None else engine.prepared(x2)
        structure = engine.structure(x)
        chosen = parse_outputs(outputs, structure.outputs)
        return engine.plan(
            structure, engine.gram_size(x, x2, chosen), chosen, grams=1, measure=True
        )

    def features(self, x: Batch) -> Tensor:
        """Tangent features, (n, c, P): the Jacobian itself [Baratin 2021, eq. 24].

        Raises:
            ValueError: they take more than the memory allows; says how much they take.
        """
        return self._engine.features(x)

    def diagonal(self, x: Batch) -> Tensor:
        """Theta(x_i, x_i) of every output, (n, c); (n,) for one output."""
        found = self._engine.diagonal(x)
        return found[:, 0] if found.shape[1] == 1 else found

    def trace(self, x: Batch) -> float:
        """Sum of the diagonal, exactly: ||Phi||_F^2."""
        return float(self._engine.diagonal(x).sum(dtype=torch.float64))

    def stochastic_trace(
        self, x: Batch, samples: int = 32, *, seed: int = 0
    ) -> _products.TraceEstimate:
        """Trace by random signs with its standard error, one vjp per sample."""
        started = time.perf_counter()
        x = self._engine.prepared(x)
        c, limits = self._engine.limits(x, samples)
        with self._engine.arithmetic():
            found = _products.stochastic_trace(self._engine.snapshot, x, c, samples, seed, limits)
        self._engine.guard_products(x, limits, started)
        return found

    def matvec(self, x: Batch, v: Tensor, x2: Batch | None = None) -> Tensor:
        """Theta(x, x2) v without the Gram: a vjp on x2, then a jvp on x.

        Args:
            x: n samples of the rows.
            v: (n2,) for one output, (n2, c) for c; one further axis holds several columns.
            x2: samples of the columns, None for x itself.

        Returns:
            A tensor of v's shape with n rows.
        """
        v = self._engine.tensor(v)
        started = time.perf_counter()
        x = self._engine.prepared(x)
        other = x if x2 is None else self._engine.prepared(x2)
        c, limits = self._engine.limits(x, v.numel() // _batch.size(other))
        with self._engine.arithmetic():
            image = _products.matvec(self._engine.snapshot, x, other, v, c, limits)
        self._engine.guard_products(x, limits, started)
        return image

    def pushed(self, x: Batch, u: Tensor) -> Tensor:
        """J u: derivatives of the outputs along directions in parameter space, forward mode.

        Args:
            x: n samples.
            u: (P,), or (k, P) for k directions, in the order of `parameter_names`.

        Returns:
            (n,) for one output, (n, c) for c; with k directions a last axis of k.
        """
        columns = self._engine.tensor(u)
        single, x = columns.dim() == 1, self._engine.prepared(x)
        direction = _products.as_direction(self._engine.snapshot, columns)
        c, limits = self._engine.limits(x, len(columns) if not single else 1)
        with self._engine.arithmetic():
            image = _products.push(self._engine.snapshot, x, direction, limits)
        image = image[:, 0] if c == 1 else image
        return image[..., 0] if single else image

    def pulled(self, x: Batch, v: Tensor) -> Tensor:
        """J^T v: sums over samples and outputs of v times the gradient, a backward pass.

        Args:
            x: n samples.
            v: (n,) for one output, (n, c) for c; one further axis holds k columns.

        Returns:
            (P,), or (k, P) for k columns, in the order of `parameter_names`.
        """
        v, x = self._engine.tensor(v), self._engine.prepared(x)
        n = _batch.size(x)
        c, limits = self._engine.limits(x, max(1, v.numel() // n))
        columns, shape = _products.as_columns(v, n, c)
        columns = columns.to(self._engine.snapshot.device, self._engine.snapshot.dtype)
        with self._engine.arithmetic():
            direction = _products.pull(self._engine.snapshot, x, columns, limits)
        flat = torch.cat([part.flatten(1) for part in direction.values()], 1)
        return flat[0] if len(shape) == (2 if c > 1 else 1) else flat

    def operator(self, x: Batch) -> Any:
        """The Gram as a `scipy.sparse.linalg.LinearOperator` of shape (n c, n c), never formed."""
        import numpy as np
        from scipy.sparse.linalg import LinearOperator

        x = self._engine.prepared(x)
        n, c = _batch.size(x), self._engine.structure(x).outputs

        def product(v: Any) -> Any:
            columns = torch.as_tensor(np.asarray(v).reshape(n * c, -1)).view(n, c, -1)
            image = self.matvec(x, columns if c > 1 else columns[:, 0])
            return image.detach().to(dtype).cpu().numpy().reshape(np.shape(v))

        dtype = self._engine.result_dtype
        kind = np.dtype(str(dtype).removeprefix("torch."))
        return LinearOperator(
            (n * c, n * c), matvec=product, matmat=product, rmatvec=product, dtype=kind
        )

    def top_eigenpairs(
        self, x: Batch, r: int, *, method: str = "auto", tolerance: float = 1e-6, seed: int = 0
    ) -> _eigenpairs.KernelEigenpairs:
        """The r largest eigenvalues and their vectors, with residuals and what converged.

        Args:
            x: n samples.
            r: how many.
            method: "lanczos" (products only), "dense" (forms the Gram), "auto" (dense while the
                Gram is small and diagonalising it fits the memory).
            tolerance: residual, relative to the largest eigenvalue, below which a pair counts as
                converged.
            seed: of the starting vector.
        """
        return _eigenpairs.top_eigenpairs(self, x, r, method=method, tolerance=tolerance, seed=seed)

    def condition(self, x: Batch) -> _eigenpairs.ConditionEstimate:
        """Ratio of the largest to the smallest eigenvalue of the Gram."""
        return _eigenpairs.condition(self, x)

    def target_alignment(self, x: Batch, y: Tensor, *, normalise: str = "mean") -> Tensor:
        """alpha(f) = ||(1/n) sum_i f(x_i) grad f_theta(x_i)||^2, no Gram.

        [Ortiz-Jimenez 2021, lemma 1]. Equals y^T K y / n^2.

        Args:
            x: n samples.
            y: one target (n,) or (n, c), or many: (n, k) for one output, (n, c, k) for c outputs.
            normalise: "mean" divides by n^2, "rayleigh" by ||y||^2.
        """
        y = self._engine.tensor(y)
        started = time.perf_counter()
        x = self._engine.prepared(x)
        c, limits = self._engine.limits(x, y.numel() // _batch.size(x))
        with self._engine.arithmetic():
            found = _products.target_alignment(self._engine.snapshot, x, y, c, normalise, limits)
        self._engine.guard_products(x, limits, started)
        return found
