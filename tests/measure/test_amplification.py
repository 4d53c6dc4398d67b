import math

import pytest

from regimes.measure import amplification


def test_it_is_the_ratio_of_the_definition(draw, dtype, tolerance):
    w = draw(20, 5)
    for informative in (1, 2, 4):
        par = sum(float(w[n, i]) ** 2 for n in range(20) for i in range(informative))
        perp = sum(float(w[n, i]) ** 2 for n in range(20) for i in range(informative, 5))
        expected = math.sqrt((5 - informative) / informative * par / perp)
        found = amplification(w.to(dtype), informative)
        assert found.dtype == dtype
        assert float(found) == pytest.approx(expected, rel=tolerance)
        bare = amplification(w.to(dtype), informative, prefactor=False)
        assert float(bare) == pytest.approx(math.sqrt(par / perp), rel=tolerance)


def test_comp_16_isotropic_weights_give_one(draw):
    """COMP-16: Lambda(0) = 1 +- .05 at h=2000, stripe d=5 and cylinder d=3."""
    assert float(amplification(draw(2000, 5))) == pytest.approx(1, abs=0.05)
    assert float(amplification(draw(2000, 3), informative=2)) == pytest.approx(1, abs=0.05)


def test_a_stack_of_networks_is_measured_one_by_one(draw):
    w = draw(4, 30, 6)
    found = amplification(w, 2)
    assert found.shape == (4,)
    assert float(found[3]) == pytest.approx(float(amplification(w[3], 2)))


def test_compressing_the_inputs_multiplies_it(draw):
    w = draw(50, 4)
    squeezed = w.clone()
    squeezed[:, 1:] /= 3
    assert float(amplification(squeezed)) == pytest.approx(3 * float(amplification(w)))


def test_bad_input_is_refused(draw):
    with pytest.raises(ValueError, match="leave at least one of the 3 inputs, got 3"):
        amplification(draw(5, 3), 3)
    with pytest.raises(ValueError, match="informative must be an integer >= 1, got 0"):
        amplification(draw(5, 3), 0)
    with pytest.raises(ValueError, match=r"\(h, d\) or \(R, h, d\), got \(3,\)"):
        amplification(draw(3))
