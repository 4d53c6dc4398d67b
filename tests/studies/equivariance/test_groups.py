"""The theory's identities at their smallest size; each spoilt number fails its own claim."""

import numpy as np
import pytest

from regimes.lab import find
from regimes.studies.equivariance.groups import _compact, _finite

NAME = "equivariance/groups"
CLAIMS = {"EQU-24", *(f"EQU-{number}" for number in range(49, 57))}
SPOILT = [  # variable, what is added to it, the claim that is then not reproduced
    ("tensor_leak", 1e-9, "EQU-24"),
    ("tensor_orders_wrong", 1.0, "EQU-24"),
    ("cocycle_wrong", 1.0, "EQU-49"),
    ("triangle_wrong", 1.0, "EQU-49"),
    ("lifting_error", 1e-9, "EQU-50"),
    ("induced_error", 1e-9, "EQU-50"),
    ("dimensions", 1.0, "EQU-51"),
    ("characters", 1.0, "EQU-51"),
    ("span_error", 1e-6, "EQU-51"),
    ("correlation_error", 1e-9, "EQU-52"),
    ("twisted_cases", -20.0, "EQU-52"),
    ("torus_twists", 1.0, "EQU-52"),
    ("latitudes_wrong", 1.0, "EQU-53"),
    ("poles_wrong", 1.0, "EQU-53"),
    ("segment_error", 1e-9, "EQU-53"),
    ("space_wrong", 1.0, "EQU-54"),
    ("parity_wrong", 1.0, "EQU-54"),
    ("relu_vector", -1.0, "EQU-55"),
    ("relu_regular", 1e-12, "EQU-55"),
    ("architecture_error", 1e-4, "EQU-56"),
    ("rows_untried", 1.0, "EQU-56"),
]


@pytest.fixture(scope="module")
def data(smoke):
    pytest.importorskip("e3nn", reason="needs an extra: see CONTRIBUTING.md")
    return smoke(NAME).dataset


def test_identities_hold_at_any_size(data, verdicts):
    assert verdicts(find(NAME), data) == dict.fromkeys(CLAIMS, "reproduced")


@pytest.mark.parametrize(("variable", "added", "id"), SPOILT)
def test_a_spoilt_number_fails_its_own_claim(data, verdicts, variable, added, id):
    found = verdicts(find(NAME), data.assign({variable: data[variable] + added}))
    assert {each for each in CLAIMS if found[each] == "not reproduced"} == {id}


def test_identities_of_a_wrong_cocycle_are_counted(monkeypatch):
    """What the study counts is not zero because nothing is looked at."""
    from regimes import theory

    right = theory.cosets

    def wrong(*args, **options):
        space = right(*args, **options)
        space.cocycle[-1] = space.cocycle[0]
        return space

    monkeypatch.setattr(theory, "cosets", wrong)
    assert _finite.sections(icosahedron=False, seed=0)["cocycle_wrong"] > 0


def test_a_correlation_without_its_twist_is_noticed(monkeypatch):
    from regimes import theory

    right = theory.twisted_correlation

    def untwisted(G, H1, rho1, *args, **options):
        one = np.broadcast_to(np.eye(rho1.dim), rho1.matrices.shape)
        return right(G, H1, theory.Representation(H1, one), *args, **options)

    monkeypatch.setattr(theory, "twisted_correlation", untwisted)
    assert _finite.twists(3, 0)["correlation_error"] > 0.1


def test_a_wrong_number_of_kernels_is_noticed(monkeypatch):
    from regimes import theory

    right = theory.kernel_space_compact
    monkeypatch.setattr(theory, "kernel_space_compact", lambda *a, **o: right(*a, **o)[1:])
    assert min(_compact.space(1, 0).values()) > 0
    found = _compact.sphere(1, 2, 0)
    assert found["latitudes_wrong"] > 0
    assert found["poles_wrong"] > 0
