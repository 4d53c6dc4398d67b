"""What numbers mean, and what they suggest, in sentences for engineers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from regimes.diagnosis._layers import Layer, Moment
from regimes.diagnosis._number import Number, about
from regimes.diagnosis._verdict import Regime

_EDGE, _OVER = 0.7, 1.5  # of the curvature that a step size bears

MEANINGS = {
    "accuracy": "Share of probes the trained network gets right.",
    "accuracy_before": "The same before training.",
    "kernel_change": (
        "How far the tangent kernel moved, relative to its size. It says which functions small "
        "changes of the weights can reach; at 0 the network trained like a fixed linear model."
    ),
    "crossover_distance": (
        "How far that is from the crossover between the regimes, in units of its width, a factor "
        "of two: below zero lazy, above it feature learning."
    ),
    "kernel_similarity": (
        "Cosine between the kernels before and after: near 1 where the kernel only grew or shrank."
    ),
    "label_alignment_before": (
        "How well the kernel agrees with the labels before training, from 0 to 1."
    ),
    "label_alignment_after": "The same after training; it grows when features adapt to the task.",
    "label_alignment_before_test": "Agreement before training on test points.",
    "label_alignment_after_test": "Agreement after training on test points.",
    "effective_rank_before": (
        "About how many directions in function space the kernel of a batch of probes spans."
    ),
    "effective_rank_after": "The same after training; it falls when few directions take over.",
    "linear_accuracy_start": (
        "Accuracy of a linear model on the network's features at the start, fitted to the training "
        "probes alone: what no learning of features would give."
    ),
    "linear_accuracy_end": (
        "The same with the features at the end; above that of the start where learned features "
        "are better."
    ),
    "first_order_error": (
        "How much of what training did to the outputs the linear model at the start misses, when "
        "its weights move by as much: near 0 for lazy training."
    ),
    "first_order_accuracy": "Accuracy of that linear model, moved as the network was.",
    "most_frequent_label": (
        "Share of probes with the most frequent label: what always answering it would get right."
    ),
    "sharpness": (
        "Largest curvature of the training loss at the end, the top eigenvalue of its Hessian."
    ),
    "sharpness_against_step": (
        "Sharpness times half the step size: gradient descent cannot settle where it is above 1, "
        "and large steps often bring it near 1."
    ),
    "deformation_stability_before": (
        "How much small smooth deformations of the images change the outputs before training, "
        "beside noise of the same size: below 1, deformations matter less."
    ),
    "deformation_stability_after": (
        "The same after training. Good image networks fall to 0.1 and below."
    ),
    "weight_change": "Distance the weights moved, relative to their size at the start.",
    "output_scale_before": "Root mean square of the outputs before training.",
    "output_scale_after": "Root mean square of the outputs after training.",
}


def reasons(
    numbers: Mapping[str, Number], layers: Sequence[Layer] = (), course: Sequence[Moment] = ()
) -> list[str]:
    """What else speaks for or against, as far as errors allow."""
    told = []
    before, after = (numbers.get(f"label_alignment_{when}") for when in ("before", "after"))
    if before and after and _known(before, after):
        word = _compared(after, before, "rose", "fell")
        told.append(
            f"Agreement of the kernel with the labels {word} from {before} to {after}"
            + (", as it does when features adapt to the task." if word == "rose" else ".")
        )
    start, end = (numbers.get(f"linear_accuracy_{when}") for when in ("start", "end"))
    if start and end and _known(start, end):
        word = _compared(end, start, "better", "worse")
        told.append(
            f"A linear model on the features of the end does {end}, on those of the start {start}: "
            + ("no clear difference." if word == "hardly changed," else f"{word} after training.")
        )
    told += _of_layers(layers) + _of_course(course)
    if "sharpness_against_step" in numbers:
        told.append(_of_sharpness(numbers["sharpness_against_step"]))
    return told


def nothing_gained(numbers: Mapping[str, Number]) -> list[str]:
    """A warning where the kernel may have stayed because training did little."""
    before, after = numbers.get("accuracy_before"), numbers.get("accuracy")
    if not (before and after and _known(before, after)):
        return []
    if _compared(after, before, "rose", "fell") == "rose":
        return []
    return [
        f"Training did not clearly improve the accuracy on these probes ({before} before, {after} "
        "after). A kernel that stayed may then only mean that training was short."
    ]


def _of_layers(layers: Sequence[Layer]) -> list[str]:
    """Which layer moved most, and which least."""
    known = [each for each in layers if math.isfinite(each.weight_change)]
    if len(known) < 2:
        return []
    known = sorted(known, key=lambda each: each.weight_change)
    least, most = known[0], known[-1]
    if not most.weight_change > 0:
        return []
    return [
        f"Relative to its size, layer {most.called} moved its weights most, by "
        f"{most.weight_change:.2g}, and layer {least.called} least, by {least.weight_change:.2g}."
    ]


def _of_course(course: Sequence[Moment]) -> list[str]:
    """By when half of the kernel's change had happened."""
    known = [each for each in course if math.isfinite(each.kernel_change)]
    if len(known) < 2 or not known[-1].kernel_change > 0:
        return []
    last = known[-1]
    half = next(each for each in known if each.kernel_change >= last.kernel_change / 2)
    return [
        f"Half of the change of the kernel seen at step {last.step} was there by step {half.step}."
    ]


def _of_sharpness(ratio: Number) -> str:
    if ratio.value > _EDGE:
        return (
            f"The loss curves {ratio} times as much as this step size bears: training bounces "
            "rather than settles."
            if ratio.value > _OVER
            else f"The curvature of the loss, {ratio} of what the step size bears, is at the edge "
            "of stability, where large steps hold it."
        )
    return (
        f"At the end the loss curves {ratio} of what the step size bears: by then steps could be "
        "larger. (It often curves more on the way; with cross-entropy less as points are fitted.)"
    )


def advice(regime: Regime, numbers: Mapping[str, Number]) -> list[str]:
    """Hypotheses that are worth a try, never orders."""
    change = numbers.get("kernel_change")
    if regime == "lazy":
        told = []
        if change and 0 < change.value < 1:
            told.append(
                f"The change of the kernel falls as one over the scale of the outputs in lazy "
                f"training. Outputs at the start about {about(1 / change.value)} times smaller, "
                "with the learning rate larger by the square of that, would bring this network to "
                "the crossover; whether learned features help depends on the task."
            )
        told.append("A larger learning rate or a narrower network goes the same way.")
        if _better(numbers, "linear_accuracy_start", "accuracy"):
            told.append(
                "A linear model on the features of the start does no worse than the network on "
                "these probes: it may be a cheaper model."
            )
        return told
    if regime == "feature":
        told = []
        if _clearly(numbers, "linear_accuracy_end", "linear_accuracy_start"):
            told.append(
                "The learned features serve a linear model better than those of the start: "
                "retraining the last layer alone may do for similar data."
            )
        if change and change.value > 1:
            told.append(
                "If the network generalises worse than it should, outputs at the start more than "
                f"{about(change.value)} times larger, with the learning rate smaller by the square "
                "of that, would make training lazy; on some image tasks that helps fully connected "
                "networks."
            )
        return told
    return []


def _known(*numbers: Number) -> bool:
    return all(math.isfinite(each.value) for each in numbers)


def _compared(a: Number, b: Number, more: str, less: str) -> str:
    """Whether a exceeds b by two standard errors of the difference."""
    error = 2 * math.hypot(a.error or 0.0, b.error or 0.0)
    if not math.isfinite(error) or abs(a.value - b.value) <= error:
        return "hardly changed,"
    return more if a.value > b.value else less


def _clearly(numbers: Mapping[str, Number], one: str, other: str) -> bool:
    return _better(numbers, one, other) and (
        _compared(numbers[one], numbers[other], "more", "less") == "more"
    )


def _better(numbers: Mapping[str, Number], one: str, other: str) -> bool:
    if one not in numbers or other not in numbers:
        return False
    return _known(numbers[one], numbers[other]) and numbers[one].value >= numbers[other].value
