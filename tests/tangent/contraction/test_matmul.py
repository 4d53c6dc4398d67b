"""Products whose sums keep their digits."""

import pytest
import torch

from regimes.tangent.contraction import add_product_


@pytest.mark.parametrize(
    ("precision", "tolerance"), [(torch.float32, 2e-6), (torch.bfloat16, 3e-5)]
)
def test_a_sum_of_millions_keeps_its_digits(precision, tolerance):
    """A product of few rows is added up term by term: 2 million in turn cost three digits."""
    terms = torch.linspace(0.5, 1.5, 2**21).repeat(2, 1).to(precision)
    out = torch.ones(2, 2)
    add_product_(out, terms, terms)
    true = 1 + float(terms[0].double().square().sum())
    assert float((out.double() / true - 1).abs().max()) < tolerance
