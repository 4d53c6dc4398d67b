"""Real networks of installed packages against a float64 Jacobian made by brute force.

Every network is a tiny random configuration of the package's own class; nothing is downloaded. Its
Gram, a product, its linear model away from the anchor and the gradient of that are compared with
one backward pass for every sample and output in float64. Relative errors are printed in both
precisions, and beside those of float32 the error of plain float32 autograd, which is what rounding
inside the network costs anybody. Networks that compute in float32 inside whatever their precision
(the norms of Llama, T5 and Mixtral, the scan of Mamba) round directions there: their products are
known to 1e-7 and no better in float64. Packages that are missing are left out and named.

    pip install --no-deps transformers timm peft   # and what they need besides torch
    python benchmarks/real_networks.py --record

timm imports torchvision; where no build of that exists, a package of the name that holds empty
classes is enough, since none of these networks calls it.
"""

from __future__ import annotations

import copy
import importlib
import importlib.metadata
import os
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from _machine import options, save
from torch import Tensor, nn

from regimes.tangent import TangentKernel, linearize

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

SAMPLES, TOKENS, VOCABULARY = 3, 5, 11
Pick = Callable[[Any], Tensor]
Made = tuple[nn.Module, Any, Pick | None]  # network, inputs, which of its outputs is meant

SMALL = {"vocab_size": VOCABULARY, "hidden_size": 16, "num_hidden_layers": 2}
HEADS = {"num_attention_heads": 2, "intermediate_size": 24}


def tokens(seed: int = 0) -> Tensor:
    """Token numbers (n, T)."""
    draws = torch.Generator().manual_seed(seed)
    return torch.randint(1, VOCABULARY, (SAMPLES, TOKENS), generator=draws)


def images(side: int) -> Tensor:
    """Gaussian images (n, 3, side, side)."""
    return torch.randn(SAMPLES, 3, side, side, generator=torch.Generator().manual_seed(0))


def bert() -> Made:
    """Classification; the inputs are a BatchEncoding with a mask, the output is the default."""
    import transformers as hf

    network = hf.BertForSequenceClassification(hf.BertConfig(**SMALL, **HEADS))
    mask = torch.ones(SAMPLES, TOKENS, dtype=torch.long)
    mask[1, 3:] = 0
    return network, hf.BatchEncoding({"input_ids": tokens(), "attention_mask": mask}), None


def gpt2() -> Made:
    """Logits of every position and token; the cache beside them is no tensor."""
    import transformers as hf

    config = hf.GPT2Config(vocab_size=VOCABULARY, n_embd=16, n_layer=2, n_head=2, n_positions=8)
    return hf.GPT2LMHeadModel(config), tokens(), None


def llama() -> Made:
    """Rotary positions, grouped queries, RMS norms."""
    import transformers as hf

    config = hf.LlamaConfig(**SMALL, **HEADS, num_key_value_heads=1)
    return hf.LlamaForCausalLM(config), {"input_ids": tokens()}, lambda o: o.logits


def mixtral() -> Made:
    """Two of four experts a token; the package's default way with experts knows no float64."""
    import transformers as hf

    config = hf.MixtralConfig(**SMALL, **HEADS, num_key_value_heads=1, num_local_experts=4)
    network = hf.MixtralForCausalLM(config)
    network.set_experts_implementation("eager")
    return network, {"input_ids": tokens()}, lambda o: o.logits


def t5() -> Made:
    """Encoder and decoder, tied embeddings, relative positions."""
    import transformers as hf

    config = hf.T5Config(
        vocab_size=VOCABULARY, d_model=16, d_kv=8, d_ff=24, num_layers=1, num_heads=2
    )
    given = {"input_ids": tokens(), "decoder_input_ids": tokens(1)}
    return hf.T5ForConditionalGeneration(config), given, lambda o: o.logits


def bart() -> Made:
    """Encoder and decoder, learned positions, a padding token."""
    import transformers as hf

    sizes = {f"{part}_layers": 1 for part in ("encoder", "decoder")}
    sizes |= {f"{part}_attention_heads": 2 for part in ("encoder", "decoder")}
    sizes |= {f"{part}_ffn_dim": 24 for part in ("encoder", "decoder")}
    config = hf.BartConfig(
        vocab_size=VOCABULARY, d_model=16, max_position_embeddings=8, pad_token_id=0, **sizes
    )
    given = {"input_ids": tokens(), "decoder_input_ids": tokens(1)}
    return hf.BartForConditionalGeneration(config), given, lambda o: o.logits


def vit() -> Made:
    """Patches and a class token."""
    import transformers as hf

    config = hf.ViTConfig(hidden_size=16, num_hidden_layers=2, image_size=16, patch_size=8, **HEADS)
    return hf.ViTForImageClassification(config), {"pixel_values": images(16)}, None


def mamba() -> Made:
    """A selective scan, without the package's own CUDA kernels."""
    import transformers as hf

    config = hf.MambaConfig(**SMALL, state_size=4)
    return hf.MambaForCausalLM(config), {"input_ids": tokens()}, lambda o: o.logits


def lora() -> Made:
    """BERT with low-rank corrections of its queries and values; all else is frozen."""
    import peft

    network, given, _ = bert()
    config = peft.LoraConfig(r=2, target_modules=["query", "value"], init_lora_weights=False)
    return peft.get_peft_model(network, config), given, None


def timm_model(name: str) -> Made:
    """One of timm's small models, two classes."""
    import timm

    return timm.create_model(name, num_classes=2), images(32), None


def swin() -> Made:
    """Windows, shifted windows, merged patches."""
    from timm.models.swin_transformer import SwinTransformer

    network = SwinTransformer(
        img_size=32, window_size=4, embed_dim=8, depths=(2, 2), num_heads=(2, 2), num_classes=2
    )
    return network, images(32), None


CASES: dict[str, tuple[str, Callable[[], Made]]] = {
    "BERT, classification": ("transformers", bert),
    "GPT2": ("transformers", gpt2),
    "Llama": ("transformers", llama),
    "T5": ("transformers", t5),
    "BART": ("transformers", bart),
    "Mixtral": ("transformers", mixtral),
    "ViT": ("transformers", vit),
    "Mamba": ("transformers", mamba),
    "BERT with LoRA": ("peft", lora),
    "ResNet": ("timm", lambda: timm_model("test_resnet")),
    "ConvNeXt": ("timm", lambda: timm_model("test_convnext")),
    "EfficientNet": ("timm", lambda: timm_model("test_efficientnet")),
    "Swin": ("timm", swin),
}


def jacobian(network: nn.Module, given: Any, output: Pick | None) -> tuple[Tensor, Tensor]:
    """Outputs (n, c) and gradients (n, c, P), a backward pass for every one of them."""
    parameters = [p for p in network.parameters() if p.requires_grad]
    values: list[Tensor] = []
    rows: list[Tensor] = []
    for i in range(SAMPLES):
        single = taken(given, slice(i, i + 1))
        returned = network(**single) if isinstance(single, dict) else network(single)
        if output is not None:
            returned = output(returned)
        elif not isinstance(returned, Tensor):
            returned = returned.logits
        value = returned.flatten()
        values.append(value.detach())
        for entry in value:
            found = torch.autograd.grad(entry, parameters, retain_graph=True, allow_unused=True)
            pairs = zip(parameters, found, strict=True)
            rows.append(
                torch.cat([(torch.zeros_like(p) if g is None else g).flatten() for p, g in pairs])
            )
    return torch.stack(values), torch.stack(rows).view(SAMPLES, -1, rows[0].numel())


def taken(given: Any, index: slice) -> Any:
    """Some samples."""
    return given[index] if isinstance(given, Tensor) else {k: t[index] for k, t in given.items()}


def converted(given: Any, dtype: torch.dtype) -> Any:
    """Inputs whose floats have another precision."""
    if isinstance(given, Tensor):
        return given.to(dtype) if given.is_floating_point() else given
    return type(given)({name: converted(t, dtype) for name, t in given.items()})


def relative(found: Tensor, true: Tensor) -> float:
    """Relative error in norm."""
    return float((found.detach().double() - true).norm() / true.norm())


def compared(network: nn.Module, given: Any, output: Pick | None, true: Tensor) -> dict[str, Any]:
    """Errors of everything at the network's own precision."""
    like = next(p for p in network.parameters() if p.requires_grad)
    n, c, _ = true.shape
    full = torch.einsum("iap,jbp->iajb", true, true)
    kernel = TangentKernel(network, output=output)
    draws = torch.Generator().manual_seed(1)
    v = torch.randn(n, c, generator=draws, dtype=torch.float64)
    lin = linearize(network, biased=False, output=output)
    leaves = [p for p in lin.parameters() if p.requires_grad]
    with torch.no_grad():
        for p in leaves:
            p.add_(torch.randn(p.shape, generator=draws, dtype=torch.float64).to(p), alpha=0.01)
    delta = torch.cat([d.detach().flatten() for d in lin.displacement().values()]).double()

    def linear() -> tuple[float, float]:
        value = lin(**given) if not isinstance(given, Tensor) else lin(given)
        gradients = torch.autograd.grad(value.flatten(1)[0, 0], leaves, allow_unused=True)
        flat = [
            torch.zeros_like(p) if g is None else g for p, g in zip(leaves, gradients, strict=True)
        ]
        gradient = torch.cat([g.flatten() for g in flat])
        return relative(value.flatten(1), true @ delta), relative(gradient, true[0, 0])

    checks: dict[str, Callable[[], Any]] = {
        "gram": lambda: relative(kernel(given).reshape(full.shape), full),
        "matvec": lambda: relative(
            kernel.matvec(given, v.to(like)).reshape(v.shape), torch.einsum("iajb,jb->ia", full, v)
        ),
        "linearize": linear,
    }
    row: dict[str, Any] = {}
    for name, check in checks.items():
        start = time.perf_counter()
        try:
            row[name] = check()
        except (ValueError, RuntimeError, TypeError) as error:
            row[name] = f"{type(error).__name__}: {error}"
        row[f"{name}_seconds"] = round(time.perf_counter() - start, 2)
    if not isinstance(row["linearize"], str):
        row["linearize"], row["linearize_gradient"] = row["linearize"]
    return row


def rows() -> Iterator[dict[str, Any]]:
    """Every network of an installed package, in both precisions."""
    for name, (package, make) in CASES.items():
        try:
            importlib.import_module(package)
        except ImportError as error:
            print(f"{name}: left out, {package} cannot be imported ({error})")
            continue
        torch.manual_seed(0)
        network, given, output = make()
        network.eval()
        double = copy.deepcopy(network).double()
        _, true = jacobian(double, converted(given, torch.float64), output)
        _, plain = jacobian(network, given, output)
        row: dict[str, Any] = {
            "network": name,
            "package": f"{package} {importlib.metadata.version(package)}",
            "parameters": true.shape[2],
            "outputs": true.shape[1],
            "float64": compared(double, converted(given, torch.float64), output, true),
            "float32": compared(network, given, output, true),
        }
        row["float32"]["autograd"] = relative(plain, true)
        yield row


def printed(value: Any) -> str:
    """An error as a short number; a refusal as a word."""
    return f"{value:.0e}" if isinstance(value, float) else "fails" if value else "-"


def main() -> None:
    """Print the table, and with --record write it."""
    record = options(__doc__).parse_args().record
    torch.set_num_threads(1)
    columns = ["gram", "matvec", "linearize", "linearize_gradient"]
    print(f"{'relative errors':22}{'':>9}{'':>5} | float64{'':32} | float32, autograd first")
    done = []
    for row in rows():
        done.append(row)
        cells = "".join(f"{printed(row['float64'].get(c)):>9}" for c in columns)
        cells += " |" + f"{printed(row['float32']['autograd']):>9}"
        cells += "".join(f"{printed(row['float32'].get(c)):>9}" for c in columns)
        print(f"{row['network']:22}{row['parameters']:>9,}{row['outputs']:>5} |{cells}", flush=True)
        for precision in ("float64", "float32"):
            for check in columns:
                if isinstance(row[precision].get(check), str):
                    print(f"  {precision} {check}: {row[precision][check]}")
    save("real_networks", {"samples": SAMPLES, "networks": done}, record)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
