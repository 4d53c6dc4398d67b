import numpy as np
import pytest

from regimes.theory._dormand_prince import DormandPrince


def solver(rtol, members=3, max_steps=10_000, fixed=None):
    """Harmonic oscillators u'' = -k^2 u of frequencies 1, 2, ...; fixed steps if asked."""
    frequency = np.arange(1.0, members + 1)

    def field(u, index):
        return np.column_stack([u[:, 1], -(frequency[index] ** 2) * u[:, 0]])

    return DormandPrince(
        field,
        lambda before, after: np.full_like(before, 1e300 if fixed else rtol),
        lambda u, index: u,
        np.tile([1.0, 0.0], (members, 1)),
        np.full(members, fixed or 0.1),
        max_steps,
    )


def test_each_member_is_solved_to_its_tolerance_at_its_own_pace():
    for rtol in (1e-4, 1e-8):
        made = solver(rtol)
        made.advance(1.0)
        made.advance(2.5)
        exact = np.cos(3.5 * np.arange(1.0, 4))
        assert np.abs(made.state[:, 0] - exact).max() < 200 * rtol
    assert made.step[0] > 1.5 * made.step[2]
    assert made.taken > 0


def test_order_five():
    errors = []
    for step in (0.1, 0.05, 0.025):
        made = solver(1.0, members=1, fixed=step)
        while (now := made.taken * step) < 1 - 1e-9:
            made.step[:] = step
            made.advance(min(step, 1 - now))
        errors.append(abs(made.state[0, 0] - np.cos(1.0)))
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert orders == pytest.approx([5, 5], abs=0.4)


def test_it_says_when_it_cannot_go_on():
    with pytest.raises(RuntimeError, match="3 of 3 members had not arrived after 2 steps"):
        solver(1e-10, max_steps=2).advance(10.0)
    broken = solver(1e-4)
    broken.field = lambda u, index: u * np.nan
    with pytest.raises(RuntimeError, match="not finite"):
        broken.advance(1.0)
