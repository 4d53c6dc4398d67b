"""Nonsense given to public functions: a sample here, all by `python tests/fuzz_public.py --all`."""

import pickle

import numpy as np
import pytest
import torch

from regimes import data, measure, theory
from tests import fuzz_public as fuzz

# They train, which takes too long here; `--all` tries them too.
TOO_LONG = {f"flow.{name}" for name in ("gradient_flow", "descend", "kernel_flow")} | {
    "decide.policy_flow"
}
STRIPE = (-0.3, 1.18549)


@pytest.fixture(scope="module")
def calls():
    return fuzz.recorded(set(fuzz.functions()) - TOO_LONG)


def test_examples_reach_every_function(calls):
    assert set(fuzz.functions()) - set(calls) <= TOO_LONG


def test_a_sample_of_nonsense_gets_sensible_answers(calls):
    found = list(fuzz.findings(calls, sample=1))
    assert len(found) > 200
    assert [str(each) for each in found if each.verdict in fuzz.FAULTS] == []
    assert sum(each.verdict == "refused" for each in found) > len(found) / 2


def broken(x: torch.Tensor, how: str = "raw") -> torch.Tensor:
    """Answers nonsense as it is told to."""
    if how == "refuse":
        raise ValueError("x is not what it should be")
    return {"raw": lambda: x @ x.T, "zero": lambda: x / 0 * 1, "hide": lambda: x.nan_to_num()}[
        how
    ]()


@pytest.mark.parametrize(
    ("how", "x", "verdict"),
    [
        ("raw", torch.ones(1, 2, 3), "raw error"),
        ("refuse", torch.ones(2), "raw error"),  # not by a file of ours
        ("zero", torch.ones(2), "not finite"),
        ("hide", torch.full((2,), torch.nan), "NaN ignored"),
        ("hide", torch.ones(2), "answered"),
    ],
)
def test_the_judge_sees_what_is_wrong(how, x, verdict):
    kinds = dict.fromkeys(("x", "how"), fuzz.inspect.Parameter.POSITIONAL_OR_KEYWORD)
    call = fuzz.Call("broken", broken, {"x": torch.zeros(1), "how": how}, kinds)
    assert fuzz.judge(call, "x", {"x": x, "how": how}).verdict == verdict


# -- cases that once were answered in silence, or by an error of torch ---------------------------


def point(d=3):
    return theory.dominant(theory.stripe_fixed_points(*STRIPE, d))


ZEROS, ONES, EYE = torch.zeros(2, 2), torch.ones(2), torch.eye(2)
REFUSED = {
    "NaN in g": (lambda: measure.supernat_factors(ONES, torch.tensor([1.0, torch.nan])), "g holds"),
    "shape of g": (lambda: measure.supernat_factors(ONES, torch.ones(3)), "lam and g must have"),
    "infinite weights": (
        lambda: theory.sample_drift(EYE * torch.inf, ONES, EYE, ONES),
        "w and b must be finite",
    ),
    "negative norm": (
        lambda: measure.generalisation_term(torch.tensor(-2.0), 1.0, 4),
        "norm2 is a mean of squares",
    ),
    "NaN loss": (
        lambda: measure.generalisation_bound(np.nan, 0.1, 10, 0.1),
        "margin_loss must be a finite number",
    ),
    "zero Gram": (lambda: measure.block_contrast(ZEROS, torch.tensor([1.0, -1])), "K is zero"),
    "no errors": (lambda: measure.rescaled_error(torch.ones(0)), "error is empty"),
    "no classes": (lambda: measure.unflatten_kernel(EYE, 0), "classes must be an integer >= 1"),
    "no noise": (
        lambda: theory.saturation(point(), torch.ones(4, 3), ONES.repeat(2)),
        "the data set has no noise",
    ),
    "far stripe": (
        lambda: theory.stripe_fixed_points(0.0, 1e300, 3),
        r"interfaces must be within \+-1e\+100",
    ),
    "norm of other shape": (
        lambda: measure.rescaled_norm(torch.ones(3), EYE),
        r"w must have shape \(P,\) and A \(P, P\), got \(3,\) and \(2, 2\)",
    ),
    "NaN form": (
        lambda: data.quad_sphere(4, 4, d=2, form=EYE * torch.nan),
        "form holds NaN",
    ),
    "overflow": (
        lambda: measure.kernel_change(1e30 * EYE, EYE),
        r"measure.kernel_change is no finite number for K = Tensor \(2, 2\) float32, K0 =",
    ),
    "shapes nobody checked": (
        lambda: measure.supernat_step(torch.ones(3, 2), torch.ones(4), torch.ones(3), eta=0.1),
        r"cannot be computed from features = Tensor \(3, 2\) float32, weights = Tensor \(4,\)",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_nonsense_is_refused_in_a_sentence(case):
    call, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        call()


def test_a_wrong_type_is_named_with_the_function():
    with pytest.raises(
        TypeError, match="amplification_prefactor: point must be of type FixedPoint"
    ):
        theory.amplification_prefactor(3)
    with pytest.raises(TypeError, match=r"measure\.cka: missing a required argument: 'G'"):
        measure.cka()


def test_what_has_no_number_is_nan_as_documented():
    assert measure.neuron_amplification(torch.zeros(1, 3)).isnan().all()
    assert np.isnan(measure.regime([0.5]).confidence)
    assert "NaN" in measure.neuron_amplification.__doc__


def test_errors_of_the_user_s_own_functions_pass():
    def gradient(f):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        measure.supernat(EYE, gradient, eta=0.1, steps=2)


def test_functions_behind_a_door_are_still_found():
    assert pickle.loads(pickle.dumps(measure.cka)) is measure.cka  # noqa: S301
    assert measure.cka.__module__ == "regimes.measure._alignment"
