"""Every public function of the numerical rooms, called with nonsense.

The examples of the docstrings are run and the calls they make are kept. Then one argument at a
time (or all tensors together) is replaced by NaN, infinity, zeros, nothing, a wrong shape, a
negative or huge number, or something of a wrong type. An answer is right when it is

* finite, or as finite as what was given, or not finite where the docstring says so, and never
  finite where NaN was given, unless the docstring says what becomes of it; or
* a ValueError or TypeError raised by a sentence of ours, not by a line that happened to fail; or
  our word that a file is not at hand, or (a RuntimeError) that a computation did not arrive.

    python tests/fuzz_public.py --all            # every mutation of every call, some minutes
    python tests/fuzz_public.py measure.cka      # of the functions whose names hold these words
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import dataclasses
import doctest
import functools
import importlib
import inspect
import io
import itertools
import math
import os
import random
import re
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import numpy as np
import torch

ROOMS = ("data", "nets", "kernels", "tangent", "curvature", "flow", "decide", "measure", "theory")
SOURCE = Path(importlib.import_module("regimes").__file__).parent
KEPT_CALLS = 2  # of each function, the first ones of the examples
SECONDS = 5.0  # a call that takes longer is ended and counted


@dataclasses.dataclass(frozen=True)
class Call:
    """A call as an example makes it."""

    name: str
    function: object
    arguments: dict
    kinds: dict


@dataclasses.dataclass(frozen=True)
class Finding:
    """A nonsensical call with the answer it got."""

    call: Call
    mutation: str
    verdict: str  # of VERDICTS
    answer: str

    def __str__(self):
        return f"{self.verdict}: {self.call.name}({self.mutation}) -> {self.answer}"


FINE = ("answered", "refused")
FAULTS = ("raw error", "not finite", "NaN ignored")
VERDICTS = (*FINE, "too long", *FAULTS)


# -- calls that the examples make -----------------------------------------------------------------


def public():
    """Public callables by name, `room.name`: functions, and classes that examples construct."""
    found = {}
    for room in ROOMS:
        module = importlib.import_module(f"regimes.{room}")
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isfunction(value) or inspect.isclass(value):
                found[f"{room}.{name}"] = value
    return found


def functions():
    """Names of the public functions that take arguments."""
    return [
        name
        for name, value in public().items()
        if inspect.isfunction(value) and inspect.signature(value).parameters
    ]


class Recorder:
    """Runs examples and keeps the calls of public callables that they make themselves."""

    def __init__(self):
        self.calls = {}
        self.namespace = None

    def keep(self, name, function, args, kwargs):
        kept = self.calls.setdefault(name, [])
        if len(kept) >= KEPT_CALLS:
            return
        signature = inspect.signature(function)
        with contextlib.suppress(TypeError, ValueError, RuntimeError):  # wrong on purpose, no copy
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            given = {
                key: value
                for key, value in bound.arguments.items()
                if type(value).__name__ != "_HAS_DEFAULT_FACTORY_CLASS"  # of a dataclass's field
            }
            arguments = copy.deepcopy(given)
            kinds = {key: parameter.kind for key, parameter in signature.parameters.items()}
            kept.append(Call(name, function, arguments, kinds))

    def made_here(self):
        return sys._getframe(2).f_globals is self.namespace

    @contextlib.contextmanager
    def listening(self):
        undo = []
        for name, value in public().items():
            room, short = name.split(".")
            if inspect.isfunction(value):
                holder, key, new = importlib.import_module(f"regimes.{room}"), short, value
            elif value.__init__ is not object.__init__:
                holder, key, new = value, "__init__", value.__init__
            else:
                continue

            @functools.wraps(new)
            def listener(*args, _new=new, _name=name, _value=value, **kwargs):
                if self.made_here():
                    given = args if _new is _value else args[1:]
                    self.keep(_name, _value, given, kwargs)
                return _new(*args, **kwargs)

            undo.append((holder, key, holder.__dict__.get(key)))
            setattr(holder, key, listener)
        try:
            yield
        finally:
            for holder, key, old in undo:
                if old is None:
                    delattr(holder, key)
                else:
                    setattr(holder, key, old)

    def run(self, text, name, module):
        examples = doctest.DocTestParser().get_examples(text or "", name)
        namespace = self.namespace = dict(vars(importlib.import_module(module)))
        originals = public()
        with self.listening():
            for key, listener in public().items():  # a file's own name is not the room's
                short = key.split(".")[1]
                if namespace.get(short) is originals[key]:
                    namespace[short] = listener
            for example in examples:
                code = compile(example.source, f"<example of {name}>", "single")
                skipped = example.options.get(doctest.SKIP)  # wants files that may not be here
                wrong = Exception if example.exc_msg or skipped else ()
                with contextlib.suppress(wrong), contextlib.redirect_stdout(io.StringIO()):
                    exec(code, namespace)


@contextlib.contextmanager
def offline():
    """No files of the user, and no way to fetch any."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ):
        os.environ.pop("REGIMES_DATA", None)
        os.environ.pop("NO_PROXY", None)
        nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
        os.environ |= {"REGIMES_CACHE": folder} | nowhere
        os.environ |= {name.lower(): value for name, value in nowhere.items()}
        yield


def recorded(names=None):
    """Calls by function, from the examples of the functions called so and from `EXTRA`."""
    recorder = Recorder()
    with offline():
        for name, value in public().items():
            if names is None or name in names:
                recorder.run(inspect.getdoc(value), name, inspect.unwrap(value).__module__)
        for source in EXTRA:
            recorder.run(source, "calls without an example", "regimes")
    calls = recorder.calls
    return {name: kept for name, kept in calls.items() if kept and (names is None or name in names)}


# What no example calls.
EXTRA = [
    """
>>> import torch, regimes as rg
>>> x = torch.randn(8, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
>>> y = x[:, 0].sign()
>>> _ = rg.nets.pullback(rg.nets.activation("relu"), x.dtype, x.device)
>>> _ = rg.measure.center_cross(x @ x.T, x @ x.T)
>>> _ = rg.measure.center_targets(y)
>>> _ = rg.measure.supernat_step(x, torch.ones(3).double(), y, eta=0.1)
>>> net = rg.nets.FullyConnected(3, 8, depth=1, activation="softplus_5", dtype=torch.float64)
>>> _ = rg.tangent.anisotropy_directions(net, input_shape=(3,), k=2)
>>> _ = rg.tangent.nystrom_eigenpairs(rg.tangent.TangentKernel(net), x, 4, 2)
>>> _ = rg.flow.loss_below(0.1)
>>> _ = rg.flow.drops([3, 6])
>>> _ = rg.flow.fraction_fitted(0.5)
>>> _ = rg.flow.margin_above(0.5)
>>> _ = rg.flow.linear_decay(10)
>>> _ = rg.flow.soft_hinge(20.0)
>>> _ = rg.flow.quadratic_hinge(1.0)
"""
]


# -- nonsense in the place of an argument ---------------------------------------------------------


def of_tensor(x):
    """Nonsense in the place of a tensor: (what it is, the value)."""
    floating = x.is_floating_point()
    if floating and x.numel():
        for label, value in (("NaN", math.nan), ("inf", math.inf)):
            spoiled = x.clone()
            spoiled.view(-1)[-1] = value
            yield f"one {label}", spoiled
        yield "all NaN", torch.full_like(x, math.nan)
        yield "constant", torch.full_like(x, 0.7)
        yield "huge", x * (1e30 if x.dtype == torch.float32 else 1e200)
        yield "tiny", x * (1e-30 if x.dtype == torch.float32 else 1e-200)
        yield "as integers", x.long()
        yield "complex", x.to(torch.complex64)
    yield "zeros", torch.zeros_like(x)
    yield "negative", -x if x.dtype != torch.bool else ~x
    if x.ndim:
        yield "empty", x[:0]
        yield "one row", x[:1]
        yield "a row less", x[:-1]
        yield "an axis more", x[None]
        yield "an axis less", x[0]
        yield "no last column", x[..., :0]
    if x.ndim > 1:
        yield "transposed", x.mT
        yield "flat", x.reshape(-1)
        yield "a column less", x[..., :-1]
    yield "as numpy", x.numpy() if not x.requires_grad else x.detach().numpy()
    yield "as a list", x.tolist()
    yield from of_anything()


def of_number(x):
    """Nonsense in the place of a number."""
    yield "nan", math.nan
    yield "inf", math.inf
    yield "-inf", -math.inf
    yield "zero", 0
    yield "minus one", -1
    yield "minus two and a half", -2.5
    yield "a tenth", 0.1
    yield "a quarter more", x + 0.25
    if not isinstance(x, int):
        yield "huge", 1e300
        yield "tiny", 1e-300
    else:
        yield "two", 2
        yield "seven", 7
    yield "a tensor of two", torch.tensor([1.0, 2.0])
    yield from of_anything()


def of_text(x):
    yield "another word", "no such name"
    yield "no word", ""
    yield from of_anything()


def of_sequence(x):
    yield "nothing in it", type(x)() if isinstance(x, (list, tuple)) else ()
    yield "twice", [*x, *x]
    yield "with NaN", [*x, math.nan]
    yield "with None", [*x, None]
    if len(x):
        yield "one less", list(x)[1:]
        yield "zeros", [0] * len(x)
        yield "negative", [-1] * len(x)
    yield from of_anything()


def of_anything():
    yield "None", None
    yield "a text", "nonsense"
    yield "an object", object()
    yield "a dict", {}


def nonsense(value):
    """Mutations of a value: pairs of what it is and the value, the original never among them."""
    if isinstance(value, bool) or value is None:
        return of_anything()
    if isinstance(value, torch.Tensor):
        return of_tensor(value.detach())
    if isinstance(value, np.ndarray):
        numbers = value.dtype.kind in "fiu"
        made = of_tensor(torch.as_tensor(value)) if numbers else of_anything()
        return (
            (label, other.numpy() if isinstance(other, torch.Tensor) else other)
            for label, other in made
        )
    if isinstance(value, (int, float)):
        return of_number(value)
    if isinstance(value, str):
        return of_text(value)
    if hasattr(value, "_replace"):
        return (
            (f"{key} {label}", value._replace(**{key: other}))
            for key in value._fields
            for label, other in nonsense(getattr(value, key))
        )
    if isinstance(value, (list, tuple, range)):
        return of_sequence(value)
    return of_anything()


def mutations(call):
    """All mutations of a call: (what was done, the arguments)."""
    for key, value in call.arguments.items():
        for label, other in nonsense(value):
            if not (
                other is None and inspect.signature(call.function).parameters[key].default is None
            ):
                yield f"{key}: {label}", {**call.arguments, key: other}
    tensors = [key for key, value in call.arguments.items() if isinstance(value, torch.Tensor)]
    if len(tensors) > 1:
        for made in itertools.zip_longest(*(of_tensor(call.arguments[key]) for key in tensors)):
            labels = {pair and pair[0] for pair in made}
            if len(labels) == 1:
                changed = {key: pair[1] for key, pair in zip(tensors, made, strict=True)}
                yield f"{', '.join(tensors)}: {labels.pop()}", {**call.arguments, **changed}


# -- judging the answer ---------------------------------------------------------------------------


def numbers(value, depth=0):
    """All tensors, arrays and floats in a value."""
    if isinstance(value, (torch.Tensor, np.ndarray, float, complex, np.generic)):
        yield value
    elif depth < 4:
        if isinstance(value, torch.nn.Module):
            yield from value.parameters()
            yield from value.buffers()
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            for field in dataclasses.fields(value):
                yield from numbers(getattr(value, field.name), depth + 1)
        elif isinstance(value, Mapping):
            for each in value.values():
                yield from numbers(each, depth + 1)
        elif isinstance(value, (list, tuple, set)):
            for each in value:
                yield from numbers(each, depth + 1)


def finite(value):
    """Whether all numbers in a value are."""
    for each in numbers(value):
        kind = each if isinstance(each, torch.Tensor) else np.asarray(each)
        if isinstance(kind, np.ndarray):
            if kind.dtype.kind not in "fc":
                continue
            kind = torch.as_tensor(kind.copy())
        if kind.is_meta:
            continue
        if (kind.is_floating_point() or kind.is_complex()) and not kind.isfinite().all():
            return False
    return True


def holds_nan(value):
    for each in numbers(value):
        kind = torch.as_tensor(each if isinstance(each, torch.Tensor) else np.asarray(each).copy())
        if kind.is_floating_point() and not kind.is_meta and kind.isnan().any():
            return True
    return False


def speaks_of_non_finite(function):
    """Whether the docstring, or a comment in the class of the result, tells of such values."""
    text = inspect.getdoc(function) or ""
    result = getattr(inspect.unwrap(function), "__annotations__", {}).get("return", "")
    module = sys.modules[inspect.unwrap(function).__module__]
    for name in re.findall(r"\w+", str(result)):
        if inspect.isclass(made := getattr(module, name, None)):
            with contextlib.suppress(OSError, TypeError):
                text += inspect.getsource(made)
    words = text.lower()
    return any(word in words for word in ("nan", "infinit", "inf ", "inf)", "inf,", "not finite"))


@functools.cache
def lines_that_raise(file):
    lines = set()
    for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise):
            lines.update(range(node.lineno, node.end_lineno + 1))
    return lines


def is_ours(error):
    """Whether a `raise` of ours made it, with a sentence."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    if frame.filename.startswith("<example"):
        return True  # an example's own function refuses what it is given
    if not isinstance(error, (ValueError, TypeError, RuntimeError, FileNotFoundError)):
        return False
    if not Path(frame.filename).is_relative_to(SOURCE):
        return False
    return frame.lineno in lines_that_raise(frame.filename) and len(str(error).split()) >= 3


class TooLongError(Exception):
    """A call took more than `SECONDS`."""


@contextlib.contextmanager
def limited(seconds):
    def ring(*_):
        raise TooLongError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def arranged(call, arguments):
    """Positional and keyword arguments for `call.function`."""
    args, kwargs = [], {}
    for key, value in arguments.items():
        kind = call.kinds[key]
        if kind is inspect.Parameter.VAR_POSITIONAL:
            args += value if isinstance(value, (tuple, list)) else [value]
        elif kind is inspect.Parameter.VAR_KEYWORD:
            kwargs |= value if isinstance(value, dict) else {key: value}
        elif kind is inspect.Parameter.KEYWORD_ONLY:
            kwargs[key] = value
        else:
            args.append(value)
    return args, kwargs


def judge(call, mutation, arguments):
    """The finding of one nonsensical call."""
    args, kwargs = copy.deepcopy(arranged(call, arguments))
    state = torch.get_rng_state()
    try:
        with limited(SECONDS), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            answer = call.function(*args, **kwargs)
    except TooLongError:
        return Finding(call, mutation, "too long", f"more than {SECONDS:g} s")
    except Exception as error:
        text = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:200]
        if is_ours(error):
            return Finding(call, mutation, "refused", text)
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f" [{Path(frame.filename).name}:{frame.lineno}]"
        return Finding(call, mutation, "raw error", text + place)
    finally:
        torch.set_rng_state(state)
    try:
        text = repr(answer)[:160].replace("\n", " ")
    except Exception as error:
        return Finding(call, mutation, "raw error", f"its repr raises {error!r}"[:200])
    told = speaks_of_non_finite(call.function)
    if not told and not finite(answer) and finite(arguments):
        return Finding(call, mutation, "not finite", text)
    changed = {key: value for key, value in arguments.items() if value is not call.arguments[key]}
    if not told and holds_nan(changed) and finite(answer) and list(numbers(answer)):
        return Finding(call, mutation, "NaN ignored", text)
    return Finding(call, mutation, "answered", text)


def findings(calls, sample=None, seed=0):
    """Findings of all mutations, or of so many of each call drawn with the seed."""
    for kept in calls.values():
        for number, call in enumerate(kept):
            chosen = list(mutations(call))
            if sample is not None:
                drawn = random.Random(f"{seed} {call.name} {number}")
                chosen = drawn.sample(chosen, min(sample, len(chosen)))
            for mutation, arguments in chosen:
                with offline():
                    yield judge(call, mutation, arguments)


def say(line):
    """Write a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main():
    """Try what the command line asks for; list the faults and count the verdicts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only functions whose names hold one of these")
    parser.add_argument("--all", action="store_true", help="every mutation of every call")
    parser.add_argument("--sample", type=int, default=5, help="mutations a call without --all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", nargs="*", default=[*FAULTS, "too long"], choices=VERDICTS)
    asked = parser.parse_args()
    names = [n for n in public() if not asked.words or any(w in n for w in asked.words)]
    counts, faulty = Counter(), set()
    every = asked.all or bool(asked.words)
    for found in findings(recorded(names), None if every else asked.sample, asked.seed):
        counts[found.verdict] += 1
        if found.verdict in asked.show:
            say(found)
        if found.verdict in FAULTS:
            faulty.add(found.call.name)
    say(", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS))
    say(f"{sum(counts.values())} calls; faults in {len(faulty)} functions")
    return bool(faulty)


if __name__ == "__main__":
    torch.set_num_threads(1)
    raise SystemExit(main())
