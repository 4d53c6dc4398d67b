"""Every network of the test list on a GPU, each engine against the naive Jacobian there.

For machines where nothing can be installed: PYTHONPATH=src:. python3 benchmarks/gpu_check.py
"""

from __future__ import annotations

import sys

import torch
from torch.utils import _pytree as pytree

from regimes.tangent import TangentKernel


def has_recurrence(network: torch.nn.Module) -> bool:
    """Whether a module is a recurrent one."""
    return any(isinstance(module, torch.nn.RNNBase) for module in network.modules())


def main() -> int:
    """Print the worst relative error of each engine; the exit status counts failures."""
    if not torch.cuda.is_available():
        print("no CUDA device here: nothing was run")
        return 0
    from tests.tangent import zoo

    failures = 0
    for engine in ("auto", "pairs", "pixels", "expand", "jacobian", "products"):
        worst = (0.0, "")
        for name in zoo.CASES:
            network, x = zoo.build(name)
            network, x = network.cuda(), pytree.tree_map(lambda t: t.cuda(), x)
            # recurrences of cuDNN differentiate in training mode only
            with torch.backends.cudnn.flags(enabled=not has_recurrence(network)):
                true = zoo.gram(zoo.jacobian(network, x))
                found = TangentKernel(network, engine=engine)(x)
            worst = max(worst, (float((found - true).norm() / true.norm()), name))
        failures += worst[0] > 1e-10
        print(f"{engine:10} worst relative error {worst[0]:.1e} ({worst[1]})", flush=True)
    return failures


if __name__ == "__main__":
    sys.exit(main())
