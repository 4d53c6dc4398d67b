"""What is reported of surroundings of atoms."""

from __future__ import annotations

from regimes.lab import Data, judge

claim = judge.Claims()


@claim("EQU-38", "ratio of parameters and accuracies on a stand-in; 0.53 in the paper", report=True)
def _ratio(dataset: Data) -> judge.Parts:
    at = {
        model: judge.where_ran(dataset, "seed", "accuracy", model=model)
        for model in ("steerable", "cnn")
    }
    sizes = {model: float(found.parameters.values[0]) for model, found in at.items()}
    yield judge.within("parameters, steerable / CNN", sizes["steerable"] / sizes["cnn"], 0, 1)
    for model, found in at.items():
        yield judge.within(f"accuracy, {model}", judge.mean_of(found.accuracy.values), 0, 1)
    return (
        "random templates, not proteins: the data and the network of the paper are not public; "
        f"{sizes['steerable']:g} and {sizes['cnn']:g} parameters"
    )
