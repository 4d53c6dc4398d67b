"""How finely predictions are resolved: `alpha (f - f0)` loses digits as alpha grows.

Weights move by about 1/alpha, f by as little, and rounding stays. It is measured, not estimated:
every weight is moved to a neighbouring number, and what that does to F is the resolution of F.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import torch

from regimes._random import generator
from regimes.flow._control import Changes, Tolerances
from regimes.flow._lone import some, where
from regimes.flow._members import Members
from regimes.flow._readings import Floats, Readings
from regimes.flow._snapshots import predict
from regimes.flow._status import Status
from regimes.nets import Ensemble

_SEEN = 1e-3  # of the first loss: with so much below the resolution, times are off by a percent
_STUCK = 1e-6  # of the first loss: so much says why a run did not end
_UNFINISHED = (Status.STALLED, Status.OUT_OF_STEPS, Status.OUT_OF_TIME)


@final
@dataclass(frozen=True, eq=False)
class Rounding:
    """What rounding does to the predictions of R members.

    Attributes:
        resolution: largest change of a training prediction when all weights change in their last
            bit, (R,).
        alpha: scale of each, (R,).
        power: k of `Objective`.
        dtype: precision of the weights.
    """

    resolution: Floats
    alpha: Floats
    power: float
    dtype: torch.dtype

    @staticmethod
    def of(members: Members, power: float, memory: int | str | None = None) -> Rounding:
        """That of these members as they start."""
        start, train = members.ensemble, members.train
        with torch.no_grad():
            moved = predict(
                _neighbours(start),
                start,
                members.alpha,
                train.x,
                member_inputs=train.own,
                subtract_init=True,
                memory=memory,
            )
        resolution = moved.abs().amax((1, 2)).double().cpu().numpy()
        dtype = next(iter(start.parameters.values())).dtype
        return Rounding(resolution, members.alpha.numpy(), power, dtype)

    def check(self, tolerances: Tolerances) -> None:
        """Refuse to integrate what rounding would drive.

        With the curvature of usual losses the gradient changes by its tolerance when predictions
        change by some `10 output sqrt(gradient)`; longer steps than that are not to be expected.
        """
        limit = 0.2 * tolerances.output
        if tolerances.gradient is not None:
            limit *= min(1.0, 10.0 * tolerances.gradient**0.5)
        known = np.where(np.isfinite(self.resolution), self.resolution, 0.0)  # others will diverge
        worst = int(known.argmax())
        if known[worst] > limit:
            raise ValueError(
                f"alpha={self.alpha[worst]:g} of member {worst} is too large for {self.dtype}: "
                f"rounding of the weights changes F = alpha (f - f0) by {known[worst]:.1g}, more "
                f"than the {limit:.1g} that these tolerances need; {self._way_out}"
            )

    def unresolved(
        self, readings: Readings, ids: Floats, step: Floats, accepted: Floats, changes: Changes
    ) -> Floats | float:
        """How far the loss should have fallen, of its first value, in steps that are not seen.

        To first order the mean loss falls by `alpha^k |g|^2 dt`, which is little where a flow has
        nowhere left to go: there steps may be as small as they like.
        """
        unseen = accepted & (changes.output < self.resolution[ids])
        if not some(unseen):  # nearly always, and asked at every step
            return 0.0
        return where(unseen, fallen(self.scale[ids], readings, step), 0.0)

    @property
    def scale(self) -> Floats:
        """By what `|g|^2 dt` is multiplied to be the fall of the loss, (R,)."""
        return self.alpha**self.power

    def note(self, unresolved: Floats, status: tuple[Status, ...]) -> str | None:
        """What to say of members that rounding moved, given `Run.unresolved`; None without any."""
        seen = np.flatnonzero(moved_by_rounding(unresolved, status))
        if len(seen) == 0:
            return None
        shown = ", ".join(map(str, seen[:8])) + (", ..." if len(seen) > 8 else "")
        return (
            f"rounding: member {shown}: steps changed F = alpha (f - f0) by less than "
            f"{self.dtype} resolves, so times and outputs are not those of the flow; "
            f"{self._way_out}"
        )

    @property
    def _way_out(self) -> str:
        if self.dtype != torch.float64:
            return "make the network and the data in float64"
        return "use kernel_flow, the limit of large alpha"


def fallen(scale: Floats, readings: Readings, step: Floats) -> Floats:
    """How far the loss should have fallen in a step, of its first value, to first order."""
    return scale * readings.gradient**2 * step / readings.first_loss


def moved_by_rounding(unresolved: Floats, status: tuple[Status, ...]) -> Floats:
    """Which members owe their end to rounding, given `Run.unresolved`, (R,) booleans."""
    unfinished = np.array([each in _UNFINISHED for each in status])
    return unresolved > np.where(unfinished, _STUCK, _SEEN)


def _neighbours(ensemble: Ensemble) -> Ensemble:
    """The networks with every weight in its last bit up or down, all members alike."""
    draws = generator(0, "last bits")
    moved = {}
    for name, value in ensemble.parameters.items():
        up = torch.rand(value.shape[1:], generator=draws, dtype=torch.float64) < 0.5
        moved[name] = torch.nextafter(value, torch.where(up, torch.inf, -torch.inf).to(value))
    return ensemble.moved_to(moved)
