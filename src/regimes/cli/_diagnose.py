"""`regimes diagnose MODULE:FACTORY`: the regime of a network of one's own."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from pickle import UnpicklingError
from typing import Annotated, Any

import typer

from regimes.cli._options import JsonOption
from regimes.cli._output import fail, say, say_json, user_errors


def diagnose(
    factory: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:FACTORY",
            help="A function without arguments that makes the network, or the pair of it before "
            "and after training; MODULE is looked for here, too.",
        ),
    ],
    data: Annotated[
        str, typer.Option("--data", help="A data set by name, or MODULE:FUNCTION that makes it.")
    ],
    before: Annotated[
        str | None, typer.Option("--before", metavar="FILE", help="State before training.")
    ] = None,
    after: Annotated[
        str | None, typer.Option("--after", metavar="FILE", help="State after training.")
    ] = None,
    fit: Annotated[
        str | None,
        typer.Option(
            "--fit",
            metavar="MODULE:FUNCTION",
            help="A function fit(network, train) that trains a copy, instead of --before.",
        ),
    ] = None,
    probes: Annotated[int, typer.Option("--probes", help="Points looked at, of each part.")] = 500,
    budget: Annotated[
        str | None, typer.Option("--budget", help="About how long, as in 2min or 30s.")
    ] = None,
    memory: Annotated[
        str | None, typer.Option("--memory", help="Bound on what a kernel takes, as in 2GiB.")
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option("--loss", help="What was trained on: cross_entropy, mse, hinge, qhinge."),
    ] = None,
    step_size: Annotated[
        float | None, typer.Option("--step-size", help="Of the gradient descent that trained it.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the choice of probes.")] = 0,
    html: Annotated[
        str | None, typer.Option("--html", metavar="FILE", help="Write a page with figures, too.")
    ] = None,
    profile: Annotated[bool, typer.Option("--profile", help="Say what each part took.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Say whether a network was trained lazily or learned features, with numbers and reasons.

    States are files that torch.save(network.state_dict(), FILE) wrote, or .safetensors.
    """
    with user_errors():
        first, last = _networks(_made(factory), before, after)
        asked: dict[str, Any] = {"probes": probes, "budget": budget, "memory": memory, "loss": loss}
        asked |= {"step_size": step_size, "seed": seed}
        if fit is not None:
            asked["fit"] = _named(fit)
        found = _found(first, last, data, asked, quiet=as_json)
    if html is not None:
        found.to_html(html)
    if as_json:
        say_json(found.to_dict())
        return
    say(str(found))
    if profile:
        total = sum(found.seconds.values())
        for name, seconds in found.seconds.items():
            say(f"{seconds:8.2f} s  {seconds / total:4.0%}  {name}")
    if html is not None:
        say(f"written: {html}")


def _found(first: Any, last: Any, data: str, asked: dict[str, Any], *, quiet: bool) -> Any:
    from regimes.diagnosis import diagnose as measure

    def progress(sentence: str) -> None:
        if not quiet and sys.stderr.isatty():
            say(f"... {sentence}", error=True)

    points = _made(data) if ":" in data else _loaded(data)
    return measure(last, points, before=first, progress=progress, **asked)


def _loaded(name: str) -> Any:
    from regimes.data import load

    return load(name)


def _made(place: str) -> Any:
    """What MODULE:FUNCTION returns."""
    from torch import nn

    function = _named(place)
    if isinstance(function, nn.Module):
        raise ValueError(f"{place} is a network itself; name a function that returns it")
    return function()


def _named(place: str) -> Any:
    """MODULE:FUNCTION itself."""
    module, colon, name = place.partition(":")
    if not (module and colon and name):
        raise ValueError(f"give MODULE:FUNCTION, as in mymodule:make_model, got {place!r}")
    here = os.getcwd()  # noqa: PTH109 - as Python itself writes it
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        raise ValueError(f"there is no module {module!r} here or among those installed") from None
    if not callable(function := getattr(found, name, None)):
        raise ValueError(f"{module} has no function {name!r}")
    return function


def _networks(made: Any, before: str | None, after: str | None) -> tuple[Any, Any]:
    """The network before (or None) and after training."""
    from torch import nn

    if isinstance(made, tuple) and len(made) == 2 and all(isinstance(m, nn.Module) for m in made):
        if before or after:
            fail("the function returns both networks, so leave --before and --after out")
        return made
    if not isinstance(made, nn.Module):
        raise ValueError(
            f"the function must return a torch.nn.Module, or a pair of them, before and after "
            f"training; got {type(made).__name__}"
        )
    from copy import deepcopy

    first = None if before is None else _with_state(deepcopy(made), before)
    return first, made if after is None else _with_state(made, after)


def _loaded_state(path: str) -> Any:
    """What `torch.save` wrote; tensors and plain values alone are read."""
    import torch

    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except (UnpicklingError, RuntimeError, EOFError, ValueError, KeyError) as error:
        raise ValueError(
            f"{path} holds no state that torch.save(network.state_dict(), FILE) wrote: "
            f"{type(error).__name__}"
        ) from error


def _with_state(network: Any, path: str) -> Any:
    """The network with the state of a file."""
    if not Path(path).is_file():
        raise ValueError(f"there is no file {path}")
    if path.endswith(".safetensors"):
        from safetensors.torch import load_file

        state = load_file(path)
    else:
        state = _loaded_state(path)
    try:
        network.load_state_dict(state)
    except (RuntimeError, AttributeError, TypeError) as error:
        raise ValueError(f"the state in {path} does not fit the network: {error}") from error
    return network
