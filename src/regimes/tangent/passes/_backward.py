"""The backward pass of all outputs at once, by rules of our own.

Autograd goes back once per output, or through `vmap`, whose rules for pooling and convolution copy
what they need not. Knowing that samples do not interact and that only the gradients at some
operations are wanted, the pass is shorter, and what all outputs share (the derivative of an
activation) is computed once. The rules (`_backward_rules.py`) are for the operations that most
networks consist of. A network with any other operation between its output and a parameter, or for
which the rules disagree with autograd when it is examined, is left to autograd (`_gradients.py`).

Gradients are (n, m, *shape): n samples, m outputs, the shape of one sample. Samples come first so
that every operation sees one long batch, and the outputs of a sample share its right factor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes.tangent.passes._backward_rules import FIRST_OF_SEVERAL, RULES, shape_of, supported
from regimes.tangent.structure import Node, Parents


@dataclass(frozen=True)
class Step:
    """One operation on the way back, and the inputs through which a site is reached."""

    node: Node
    inputs: tuple[tuple[int, Node, torch.Size], ...]  # slot, what made it, its shape


@dataclass(frozen=True)
class Route:
    """The way from the outputs back to every site, an operation after all that use its result."""

    steps: tuple[Step, ...]
    sites: tuple[Node, ...]
    samples: int

    @torch.no_grad()
    def pull(self, cotangents: Tensor) -> Iterator[tuple[int, Tensor]]:
        """Gradients (m, n, *shape) of weighted outputs (m, c) at the sites, as they are reached.

        Yields:
            The number of a site and its gradient, to be used up while it is still in the cache.
        """
        seed = cotangents.expand(self.samples, *cotangents.shape)
        waiting: dict[Node, Tensor] = {self.steps[0].node: seed}
        own: set[Node] = set()  # operations whose gradient nobody else holds: it may be overwritten
        for step in self.steps:
            node, gradient = step.node, waiting.pop(step.node)
            at = [number for number, site in enumerate(self.sites) if site is node]
            rule = RULES.get(node.name())
            for slot, child, shape in step.inputs:
                assert rule is not None  # `find_route` saw to it
                free = node in own and not at and len(step.inputs) == 1
                over = rule.overwrite if free else None
                part = (over or rule.pull)(node, gradient, slot, shape)
                if child not in waiting:
                    waiting[child] = part
                    if (over or rule.fresh) and not _repeats(part):
                        own.add(child)
                elif child in own:
                    waiting[child] += part
                else:
                    waiting[child] = waiting[child] + part
                    own.add(child)
                del part
            for number in at:
                yield number, gradient.transpose(0, 1)


def _repeats(tensor: Tensor) -> bool:
    """Whether entries share their memory, as of a mean's gradient, so that none may be written."""
    return any(
        step == 0 and size > 1 for step, size in zip(tensor.stride(), tensor.shape, strict=True)
    )


def find_route(output: Tensor, parents: Parents, sites: list[Node]) -> Route | None:
    """The way back from an output (n, c) to the sites, or None where a rule is missing.

    Args:
        output: the network's output, attached to its graph.
        parents: for every operation, those that use its result.
        sites: operations at whose output gradients are wanted.
    """
    needed = set(sites)
    stack = list(sites)
    while stack:
        for parent, _ in parents[stack.pop()]:
            if parent not in needed:
                needed.add(parent)
                stack.append(parent)
    root: Node = output.grad_fn
    n = output.shape[0]
    left = {node: sum(parent in needed for parent, _ in parents[node]) for node in needed}
    steps: list[Step] = []
    ready = [root]
    while ready:
        node = ready.pop()
        inputs = []
        for slot, (child, number) in enumerate(node.next_functions):
            if child not in needed:
                continue
            if number != 0 or not supported(node, slot, child):
                return None
            inputs.append((slot, child, shape_of(child)))
            left[child] -= 1
            if left[child] == 0:
                ready.append(child)
        # what else a norm or a pool returns (statistics, positions) has no gradient
        single = len(node._input_metadata) == 1 or node.name() in FIRST_OF_SEVERAL
        # every rule keeps the samples where they are, in the first axis
        if (inputs and not single) or shape_of(node)[:1] != (n,):
            return None
        steps.append(Step(node, tuple(inputs)))
    return Route(tuple(steps), tuple(sites), n)
