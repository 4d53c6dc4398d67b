"""The Hessian of a network's loss without its matrix."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import torch
from torch import Tensor, nn

from regimes._adapter import as_tensor
from regimes._check import choose, instance, positive_int, real, shown
from regimes._html import block, facts
from regimes._memory import readable
from regimes.curvature import _trace
from regimes.curvature._dense import Hessian, hessian
from regimes.curvature._density import SpectralDensity, spectral_density
from regimes.curvature._eigenpairs import Eigenpairs, End, Search, eigenpairs
from regimes.curvature._losses import LossLike
from regimes.curvature._parts import Part, check_part
from regimes.curvature._problem import Problem, pose
from regimes.curvature._products import Product, Products
from regimes.tangent._products import TraceEstimate
from regimes.tangent.network import LEFT_OUT, by_prefix, owner

_VECTORS = 0.2  # share of the memory that the vectors of a method may take
_HELD = 6  # vectors held for each random one: it, its predecessor, its image, and on the way


@dataclass(frozen=True)
class LayerCurvature:
    """The block of a Hessian that belongs to one group of parameters.

    Attributes:
        size: parameters in the group.
        trace: of the block, with its standard error.
        top: largest eigenvalues of the block, decreasing, with residuals.
    """

    size: int
    trace: TraceEstimate
    top: Eigenpairs


class Curvature:
    """The Hessian of L(w) = (1/n) sum_i l(f(x_i; w), y_i), by products with vectors.

    H = H0 + Hp: "gauss_newton", H0 = (1/n) sum_i J_i^T l''_i J_i, and "network", Hp = (1/n) sum_i
    l'_i . f''_i; "total" is their sum [Geiger 2019, eq. 10]. Vectors have N entries, the trainable
    parameters in the order of `names`. The network is copied and stays as it is; it must be in
    evaluation mode where it normalises by batches or drops at random. At a kink torch's own rule
    holds (relu has slope 0 there), so that the hinge has no second derivative anywhere.

    Args:
        network: any module, n samples to n rows.
        x: n inputs: a tensor, an array, a tuple (positional) or a mapping (by name) of them; or a
            loader of pairs (inputs, labels), read once.
        y: their labels; None with a loader.
        loss: a name such as "cross_entropy", "mse", "hinge", a `flow.Loss`, or a plain function of
            outputs (n, c) and labels, their mean or one value a point, such as
            `torch.nn.functional.cross_entropy`.
        memory: bound on what calls allocate and keep: bytes or text such as "2GiB"; None takes a
            share of what is free now. The graph of one pass is kept while it fits, which makes
            products faster.
        dtype: precision; None: the network's own.
        output: from what the network returns to the tensor that is meant, as `lambda o: o.logits`.

    Example:
        >>> net = nn.Linear(2, 1, bias=False)  # L = mean (f - y)^2 / 2 has the Hessian x x^T / n
        >>> curve = Curvature(net, torch.eye(2), torch.ones(2), "mse")
        >>> curve.product(torch.tensor([1.0, 2.0]))
        tensor([0.5000, 1.0000])
        >>> curve.trace(method="hutchinson")
        TraceEstimate(value=1.0, error=0.0, samples=30)
    """

    def __init__(
        self,
        network: nn.Module,
        x: Any,
        y: Any = None,
        loss: LossLike = "cross_entropy",
        *,
        memory: str | int | None = None,
        dtype: torch.dtype | None = None,
        output: Callable[[Any], Any] | None = None,
    ) -> None:
        instance("network", network, nn.Module, "a torch.nn.Module")
        self._problem: Problem = pose(
            network, x, y, loss, memory=memory, dtype=dtype, output=output
        )
        self._products = Products(self._problem, memory)
        self._asked = loss, memory, output
        self._names = self._problem.names

    @property
    def size(self) -> int:
        """Number of parameters, N."""
        return self._products.size(self._names)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters in the order of a vector's entries."""
        return self._names

    @property
    def slices(self) -> dict[str, slice]:
        """Where each parameter lies in a vector."""
        ends = accumulate(self._products.size([name]) for name in self._names)
        starts = [0, *ends]
        return {n: slice(*ab) for n, ab in zip(self._names, pairwise(starts), strict=True)}

    @property
    def loss(self) -> str:
        """What the loss is called."""
        return self._problem.loss.name

    def __repr__(self) -> str:
        problem = self._problem
        kind = str(problem.dtype).removeprefix("torch.")
        return (
            f"Curvature({type(problem.snapshot.module).__name__}, {self.size:,} parameters, "
            f"{self.loss!r} of {problem.points:,} points, {kind})"
        )

    def _repr_html_(self) -> str:
        """What the Hessian is of, as a table."""
        problem = self._problem
        rows = {
            "parameters": f"{self.size:,} in {len(self.names)} tensors",
            "points": f"{problem.points:,} with {problem.outputs} outputs",
            "loss": self.loss,
            "computed in": str(problem.dtype).removeprefix("torch."),
        }
        return block(f"Curvature of {type(problem.snapshot.module).__name__}", facts(rows))

    def product(self, v: Any, part: Part = "total") -> Tensor:
        """H v for a vector (N,) or columns (N, k), in the same shape.

        Args:
            v: a tensor or an array.
            part: "total", "gauss_newton" or "network".
        """
        problem = self._problem
        v = as_tensor(v, problem.dtype, problem.device)
        if not isinstance(v, Tensor) or v.dim() not in (1, 2) or len(v) != self.size:
            raise ValueError(
                f"expected a vector of shape ({self.size},) or columns ({self.size}, k), got "
                f"{shown(v)}"
            )
        rows = v[None] if v.dim() == 1 else v.mT
        found = self._product(part)(rows)
        return found[0] if v.dim() == 1 else found.mT

    def operator(self, part: Part = "total") -> Any:
        """The Hessian as a `scipy.sparse.linalg.LinearOperator` of shape (N, N)."""
        import numpy as np
        from scipy.sparse.linalg import LinearOperator

        part = check_part(part)

        def product(v: Any) -> Any:
            columns = np.asarray(v, dtype=kind).reshape(self.size, -1)
            return self.product(columns, part).cpu().numpy().reshape(np.shape(v))

        kind = np.dtype(str(self._problem.dtype).removeprefix("torch."))
        return LinearOperator(
            (self.size, self.size), matvec=product, matmat=product, rmatvec=product, dtype=kind
        )

    def dense(self) -> Hessian:
        """The matrix itself in its two parts, as `hessian` finds it.

        Raises:
            ValueError: it does not fit the memory (2 GiB where none was given), or this is a layer.
        """
        problem, (loss, memory, output) = self._problem, self._asked
        if self._names != problem.names:
            raise ValueError(
                "a matrix is made of the whole network; take dense() of the Curvature that this "
                "layer comes from, and by_layer() of that"
            )
        return hessian(
            problem.snapshot.module, problem.x, problem.y, loss, memory=memory or "2GiB",
            output=output,
        )  # fmt: skip

    def top_eigenpairs(
        self,
        r: int = 1,
        part: Part = "total",
        *,
        largest: End = "algebraic",
        tolerance: float | None = None,
        most: int = 1000,
        repeats: bool = True,
        seed: int = 0,
    ) -> Eigenpairs:
        """The r first eigenvalues from one end, their vectors, residuals and what converged.

        Args:
            r: how many.
            part: of which Hessian.
            largest: "algebraic", "magnitude", or "smallest" for the other end, the most negative.
            tolerance: residual, relative to the norm of H, below which a pair counts as converged;
                None: 1e-6, in float32 4e-5.
            most: products after which to stop, converged or not.
            repeats: look again from a fresh vector when all have converged, for eigenvalues that
                repeat, as those of a last layer do; False saves about half of the products.
            seed: of the starting vector.
        """
        r = self._at_most(positive_int("r", r), self.size)
        search = _search(largest, tolerance, most, repeats, seed)
        return eigenpairs(self._product(part), self._like(), r, search)

    def trace(
        self,
        part: Part = "total",
        samples: int = 30,
        *,
        method: str = "hutch++",
        seed: int = 0,
    ) -> TraceEstimate:
        """The trace with its standard error, from random signs.

        Args:
            part: of which Hessian.
            samples: products spent.
            method: "hutch++" keeps a third of the products as vectors, exact for what stands out of
                the spectrum [Meyer 2021]; "hutchinson" keeps none.
            seed: of the signs.
        """
        product, like = self._product(part), self._like()
        least = choose(method, {"hutch++": 6, "hutchinson": 2}, "method")
        samples = positive_int("samples", samples, least=least)
        if method == "hutchinson":
            at_once = self._hold(samples, "fewer parameters", least=1)
            return _trace.hutchinson(product, like, samples, seed, at_once)
        # a third of them as a basis, in twice the precision while it is made
        self._hold(samples // 2, "method='hutchinson'")
        return _trace.hutch_plus_plus(product, like, samples, seed)

    def spectral_density(
        self,
        part: Part = "total",
        *,
        steps: int = 64,
        vectors: int = 8,
        outliers: int = 10,
        seed: int = 0,
    ) -> SpectralDensity:
        """How the eigenvalues are spread: stochastic Lanczos quadrature [Ubaru 2017].

        Args:
            part: of which Hessian.
            steps: of Lanczos's recurrence, one product each: what is told apart is the range of the
                spectrum over the steps, finer at its ends.
            vectors: random starts; errors fall as one over their root.
            outliers: eigenvalues of largest magnitude that are looked for one by one, within
                twice the steps. They leave the rest to chance.
            seed: of the starts.
        """
        product = self._product(part)
        steps = positive_int("steps", steps)
        vectors = positive_int("vectors", vectors, least=2)
        outliers = positive_int("outliers", outliers, least=0)
        at_once = self._hold(vectors, "fewer parameters", least=1)
        return spectral_density(
            product, self._like(), steps=steps, vectors=vectors, outliers=outliers,
            at_once=at_once, seed=seed,
        )  # fmt: skip

    def layers(self, groups: Mapping[str, Sequence[str]] | None = None) -> dict[str, Curvature]:
        """The diagonal block of every layer, each with all the methods of the whole.

        Args:
            groups: name -> prefixes of the parameters in that group; None makes one group of each
                module that owns parameters, by its name ("" for those of the network itself).
        """
        if groups is not None and not isinstance(groups, Mapping):
            raise ValueError(
                f"groups must map names to lists of parameters' prefixes, got {shown(groups)}"
            )
        group_of = owner if groups is None else by_prefix(groups, self.names)
        members: dict[str, list[str]] = {}
        for name in self.names:
            members.setdefault(group_of(name), []).append(name)
        members.pop(LEFT_OUT, None)
        found = {}
        for group, names in members.items():
            found[group] = copy.copy(self)  # the same products, of fewer parameters
            found[group]._names = tuple(names)
        return found

    def by_layer(
        self,
        part: Part = "total",
        *,
        groups: Mapping[str, Sequence[str]] | None = None,
        r: int = 1,
        samples: int = 30,
        tolerance: float | None = None,
        most: int = 200,
        seed: int = 0,
    ) -> dict[str, LayerCurvature]:
        """Trace and largest eigenvalues of the diagonal block of every layer.

        The same random signs serve all layers, in one product each; the traces sum to the whole.

        Args:
            part: of which Hessian.
            groups: as for `layers`.
            r: eigenvalues of each layer, or as many as it has parameters.
            samples: random signs.
            tolerance: as for `top_eigenpairs`.
            most: products for the eigenvalues of a layer.
            seed: of the signs and the starting vectors.
        """
        part, r = check_part(part), positive_int("r", r)
        samples = positive_int("samples", samples, least=2)
        search = _search("algebraic", tolerance, most, True, seed)
        layers = self.layers(groups)
        product = self._product(part)
        at_once = self._hold(samples, "fewer parameters", least=1)
        values: dict[str, list[Tensor]] = {name: [] for name in self.names}
        for z in _trace.signs(samples, self._like(), seed, "curvature/trace", at_once):
            terms = z * product(z)
            for name, where in self.slices.items():
                values[name].append(terms[:, where].sum(1, dtype=torch.float64))
        found = {}
        for name, layer in layers.items():
            each = torch.stack([torch.cat(values[name]) for name in layer.names]).sum(0)
            top = eigenpairs(layer._product(part), layer._like(), min(r, layer.size), search)
            found[name] = LayerCurvature(layer.size, _trace.estimate(each, samples), top)
        return found

    def _product(self, part: Part) -> Product:
        return self._products.of(check_part(part), self._names)

    def _like(self) -> Tensor:
        """A vector that stands for size, precision and device, without memory of its own."""
        return torch.zeros((), dtype=self._problem.dtype, device=self._problem.device).expand(
            self.size
        )

    def _at_most(self, r: int, size: int) -> int:
        if r > size:
            raise ValueError(f"r = {r} eigenpairs asked of a Hessian of {size} rows")
        return r

    def _hold(self, vectors: int, instead: str, least: int | None = None) -> int:
        """How many vectors of N entries may be worked on together.

        Raises:
            ValueError: not even `least` of them; all of them where it is None.
        """
        each = _HELD * self.size * self._problem.dtype.itemsize
        fit = int(_VECTORS * self._products.budget / each)
        wanted = vectors if least is None else least
        if fit < wanted:
            raise ValueError(
                f"{wanted} vectors of {self.size:,} entries take {readable(wanted * each)}, more "
                f"than a memory budget of {readable(self._products.budget)} leaves for them; use "
                f"{instead}, or a larger memory="
            )
        return min(vectors, fit)


def _search(end: End, tolerance: float | None, most: int, repeats: bool, seed: int) -> Search:
    if tolerance is not None:
        tolerance = real("tolerance", tolerance, above=0.0)
    return Search(end, tolerance, positive_int("most", most), repeats, seed)
