"""Fully connected networks in the ntk, mean-field, a-b-c and standard parametrisations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast, final

import torch
from torch import Tensor, nn

from regimes._check import positive_int, real
from regimes.nets._activations import Function
from regimes.nets._activations import activation as make_activation
from regimes.nets._initialisers import Initialiser, gaussian, initialiser
from regimes.nets._layers import ScaledLinear
from regimes.nets._network import Network
from regimes.nets._parametrization import ABC, resolve


@dataclass(frozen=True)
class _Biases:
    """Which layers have biases, what multiplies them, how they start."""

    hidden: bool
    output: bool
    multiplier: float
    std: float | None  # None: as the initialiser says


@final
class FullyConnected(Network):
    """f(x) with `depth` = L hidden layers of equal width h [Geiger 2020, eqs. 11 to 14].

    z_0 = x; z~_l = m_l W_l z_{l-1} + m_b B_l and z_l = sigma(z~_l) for l = 1..L;
    f = m_{L+1} W_{L+1} z_L + m_b B_{L+1}.

    | parametrization | multipliers m_1, ..., m_L, m_{L+1} | weights start | activation |
    |---|---|---|---|
    | "ntk" | d^-1/2, h^-1/2, ..., h^-1/2 | N(0, 1) | normalised |
    | "mean_field" | d^-1/2, h^-1/2, ..., h^-1 | N(0, 1) | normalised |
    | `ABC(a, b)` | d^-1/2 h^-a_1, h^-a_2, ... | N(0, h^-2b_l) | normalised |
    | "standard" | 1 | by `init` | plain |

    So f_mean_field = f_ntk / sqrt(h) weight by weight. With `bias=True` the papers' own forms are:

    | parametrization | m_b | hidden biases start | output bias | where |
    |---|---|---|---|---|
    | "mean_field", depth 1 | 1 | N(0, 1) | none | [Paccolat 2021, eq. 1] |
    | "ntk", deeper "mean_field", `ABC` | 0.1 | 0 | yes, starts at 0 | [Geiger 2020, app. J] |
    | "standard" | 1 | by `init` | yes, by `init` | [Baratin 2021, sec. 3.1] |

    Args:
        in_dim: input size d; inputs (n, ...) with d entries each are flattened.
        width: h.
        depth: L >= 0; 0 is a linear model.
        out_dim: number of outputs c.
        parametrization: a row of the first table.
        activation: a name, function or `Activation`, see `nets.activation`.
        bias: biases on the hidden layers (and the output, as the second table says).
        bias_multiplier: m_b instead of the table's.
        bias_std: biases start N(0, bias_std^2) instead of as the table says.
        output_bias: whether f has a bias, instead of the table's.
        init: initialiser of "standard" (None: "kaiming"); the others fix their own.
        normalize: whether the activation gets its factor, instead of the table's.
        seed: the parameters' seed.
        dtype: floating-point type of the parameters; the draws do not depend on it.
        device: where the parameters live.

    Raises:
        ValueError: sizes that are not positive, unknown names, contradictory options.

    Example:
        >>> net = FullyConnected(in_dim=10, width=100, parametrization="mean_field", bias=True)
        >>> net
        FullyConnected(10 -> 100 -> 1, mean_field, 1.41421 * relu, hidden biases 1 * N(0, 1))
        >>> net(torch.zeros(5, 10)).shape
        torch.Size([5, 1])
        >>> FullyConnected(7, 9, depth=3, out_dim=2).n_params
        243
    """

    def __init__(
        self,
        in_dim: int,
        width: int,
        depth: int = 1,
        out_dim: int = 1,
        *,
        parametrization: str | ABC = "ntk",
        activation: str | Function = "relu",
        bias: bool = False,
        bias_multiplier: float | None = None,
        bias_std: float | None = None,
        output_bias: bool | None = None,
        init: str | Initialiser | None = None,
        normalize: bool | None = None,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__((positive_int("in_dim", in_dim),), out_dim)
        self.in_dim = self.in_shape[0]
        self.width = positive_int("width", width)
        self.depth = positive_int("depth", depth, least=0)
        self.parametrization = parametrization
        scales = resolve(parametrization, self.depth)
        if scales is not None and init is not None:
            raise ValueError(
                f"init={init!r} is for parametrization='standard'; {parametrization!r} fixes how "
                "its weights start"
            )
        self._init = None if scales is not None else initialiser(init or "kaiming")
        self.biases = self._choose_biases(bias, output_bias, bias_multiplier, bias_std)
        if normalize is None:
            normalize = scales is not None
        self.activation = make_activation(activation, normalize=normalize)

        sizes = [self.in_dim] + [self.width] * self.depth + [self.out_dim]
        unset: list[None] = [None] * (self.depth + 1)
        multipliers = scales.weight_multipliers(self.in_dim, self.width) if scales else unset
        has_bias = [self.biases.hidden] * self.depth + [self.biases.output]
        self.layers = nn.ModuleList(
            self._layer(sizes[i], sizes[i + 1], has_bias[i], multipliers[i])
            for i in range(self.depth + 1)
        )
        stds = scales.weight_stds(self.width) if scales else unset
        schemes = [self._scheme(std) for std in stds]
        parts = list(zip(self.layers, schemes, strict=True))
        self._start(parts, seed=seed, dtype=dtype, device=device)

    def _choose_biases(
        self, hidden: bool, output: bool | None, multiplier: float | None, std: float | None
    ) -> _Biases:
        """The table's values wherever the caller gave none."""
        table: tuple[float, float | None, bool] = (0.1, 0.0, True)
        if self.parametrization == "standard":
            table = (1.0, None, True)
        elif self.parametrization == "mean_field" and self.depth == 1:
            table = (1.0, 1.0, False)
        if output is None:
            output = hidden and table[2]
        if not (hidden or output) and not (multiplier is None and std is None):
            raise ValueError("bias_multiplier and bias_std need bias=True or output_bias=True")
        if std is not None and real("bias_std", std) < 0.0:
            raise ValueError(f"bias_std must not be negative, got {std!r}")
        return _Biases(
            hidden=bool(hidden),
            output=bool(output),
            multiplier=table[0] if multiplier is None else real("bias_multiplier", multiplier),
            std=table[1] if std is None else float(std),
        )

    def _layer(self, fan_in: int, fan_out: int, bias: bool, multiplier: float | None) -> nn.Linear:
        if multiplier is None and (not bias or self.biases.multiplier == 1.0):
            return nn.Linear(fan_in, fan_out, bias, device="meta")
        return ScaledLinear(
            fan_in,
            fan_out,
            bias,
            weight_multiplier=1.0 if multiplier is None else multiplier,
            bias_multiplier=self.biases.multiplier,
            device="meta",
        )

    def _scheme(self, weight_std: float | None) -> Initialiser:
        """How one layer starts; `weight_std` None means as the initialiser says."""
        plain = self._init or initialiser("normal")
        return Initialiser(
            plain.name,
            plain.weight if weight_std is None else gaussian(weight_std),
            plain.bias if self.biases.std is None else gaussian(self.biases.std),
        )

    @property
    def _dtype(self) -> torch.dtype:
        return cast(nn.Linear, self.layers[0]).weight.dtype

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (n, c) of inputs (n, ...) with d entries each."""
        *hidden, readout = self.layers  # a slice would build a new ModuleList at every call
        z = self._flat(x, self._dtype)
        for layer in hidden:
            z = self.activation(layer(z))
        return readout(z)

    def preactivations(self, x: Tensor) -> list[Tensor]:
        """The pre-activations z~_1, ..., z~_L of the hidden layers, each (n, h)."""
        *hidden, _ = self.layers
        z = self._flat(x, self._dtype)
        found: list[Tensor] = []
        for layer in hidden:
            found.append(layer(z))
            z = self.activation(found[-1])
        return found

    def forward_stacked(
        self, parameters: Mapping[str, Tensor], x: Tensor, *, member_inputs: bool = False
    ) -> Tensor:
        """Outputs (R, n, c) of R networks of this shape, `parameters` with a leading R.

        What `nets.Ensemble` calls. Features are rows and samples columns, so that the first layer
        of all networks is one product of an (R h, d) with a (d, n) matrix; the multipliers ride
        in the products and each activation's factor in the next layer's. On small networks this
        is several times faster than `torch.func.vmap`, which knows none of this.
        """
        weights = [parameters[f"layers.{i}.weight"] for i in range(self.depth + 1)]
        z = self._flat(x, weights[0].dtype, leading=2 if member_inputs else 1).mT
        factor = 1.0
        for i, (layer, weight) in enumerate(zip(self.layers, weights, strict=True)):
            alpha = factor * getattr(layer, "weight_multiplier", 1.0)
            bias = parameters[f"layers.{i}.bias"].unsqueeze(-1) if layer.bias is not None else None
            z = _product(weight, z, alpha, bias, getattr(layer, "bias_multiplier", 1.0))
            if i < self.depth:
                z, factor = self.activation.unscaled(z), self.activation.factor
        return z.mT.contiguous()

    def layers_stacked(
        self, parameters: Mapping[str, Tensor], x: Tensor, *, member_inputs: bool = False
    ) -> tuple[list[Tensor], list[Tensor]]:
        """What enters and leaves every layer of R networks, `parameters` with a leading R.

        Args:
            parameters: as in `forward_stacked`.
            x: inputs (n, ...) of all networks, or (R, n, ...) with a set for each.
            member_inputs: whether `x` has the leading axis of members.

        Returns:
            The inputs z_0, ..., z_L, (n, d) or (R, n, h) each; and the outputs z~_1, ..., z~_L, f
            of the layers, (R, n, h) and at last (R, n, c).
        """
        leading = 2 if member_inputs else 1
        inputs, outputs = [self._flat(x, parameters["layers.0.weight"].dtype, leading)], []
        for i, layer in enumerate(self.layers):
            weight = parameters[f"layers.{i}.weight"] * getattr(layer, "weight_multiplier", 1.0)
            made = inputs[-1] @ weight.mT
            if layer.bias is not None:
                bias = parameters[f"layers.{i}.bias"] * getattr(layer, "bias_multiplier", 1.0)
                made = made + bias.unsqueeze(-2)
            outputs.append(made)
            if i < self.depth:
                inputs.append(self.activation(made))
        return inputs, outputs

    def _flat(self, x: Tensor, dtype: torch.dtype, leading: int = 1) -> Tensor:
        """`x` with everything after the leading axes (members, samples) flattened."""
        self._check_tensor(x)
        if x.ndim <= leading or x.shape[leading:].numel() != self.in_dim:
            axes = "R, n" if leading == 2 else "n"
            raise ValueError(
                f"this network takes inputs of shape ({axes}, {self.in_dim}) or ({axes}, ...) with "
                f"{self.in_dim} entries each, got {tuple(x.shape)}"
            )
        self._check_dtype(x, dtype)
        return x if x.ndim == leading + 1 else x.flatten(leading)

    def __repr__(self) -> str:
        """Sizes, parametrisation, activation and biases in one line."""
        sizes = [self.in_dim] + [self.width] * self.depth + [self.out_dim]
        parts = [" -> ".join(map(str, sizes)), str(self.parametrization)]
        if self._init is not None:
            parts.append(f"init {self._init.name}")
        parts.append(self.activation.extra_repr())
        b = self.biases
        if b.hidden or b.output:
            where = "hidden and output" if b.hidden and b.output else "hidden"
            where = where if b.hidden else "output"
            start = "init" if b.std is None else "0" if b.std == 0 else f"N(0, {b.std**2:g})"
            parts.append(f"{where} biases {b.multiplier:g} * {start}")
        return f"FullyConnected({', '.join(parts)})"


def _product(weight: Tensor, z: Tensor, alpha: float, bias: Tensor | None, beta: float) -> Tensor:
    """The affine map `alpha * weight @ z + beta * bias` of every member.

    Shapes: weight (R, o, i); z (i, n) shared or (R, i, n); bias (R, o, 1); result (R, o, n).
    """
    if bias is None:  # a beta of 0 makes the products ignore their first argument
        bias, beta = weight.new_zeros(()), 0.0
    if z.ndim == 3:
        return torch.baddbmm(bias, weight, z, beta=beta, alpha=alpha)
    if bias.ndim == 3:
        bias = bias.flatten(0, 1)
    rows = torch.addmm(bias, weight.flatten(0, 1), z, beta=beta, alpha=alpha)
    return rows.reshape(*weight.shape[:2], -1)


def MLP(  # noqa: N802 - the papers' own name
    d_in: int,
    width: int,
    depth: int,
    d_out: int,
    bias: bool = True,
    *,
    init: str | Initialiser = "kaiming",
    activation: str | Function = "relu",
    seed: int = 0,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> FullyConnected:
    """A standard network whose `depth` counts weight matrices, as in [Baratin 2021].

    It has depth - 1 hidden layers, each with its own weights, and is a `FullyConnected` with
    `parametrization="standard"`.

    Example:
        >>> MLP(3072, 100, 3, 1).n_params  # the MLP of [Ortiz-Jimenez 2021]
        317501
    """
    return FullyConnected(
        d_in,
        width,
        positive_int("depth", depth) - 1,
        d_out,
        parametrization="standard",
        activation=activation,
        bias=bias,
        init=init,
        seed=seed,
        dtype=dtype,
        device=device,
    )
