"""Verdicts on how runs end and on what their steps changed."""

import numpy as np

from regimes.lab import Data, judge, ran
from regimes.studies.regimes._remarks import numbers
from regimes.studies.regimes.foundations._ends import LATER, OUTPUT
from regimes.studies.regimes.foundations._judging import largest_gap

claim = judge.Claims()


@claim("REG-74", "hinges stop, cross-entropy does not")
def stopping(dataset: Data) -> judge.Parts:
    data = ran(dataset, "stopping")
    scales = data.stop_scales.values
    growth, moved = (  # (scale, seed)
        data[name].isel(late_moment=1) / data[name].isel(late_moment=0) - 1
        for name in ("late_weight", "late_moved")
    )
    yield judge.above("share of soft hinge runs that stopped", data.stop_fitted.mean(), 1.0)
    yield judge.above("of hinge runs", data.hinge_fitted.mean(), 1.0)
    yield judge.below("hinge's last gradient", data.hinge_pull.max(), 0.0)
    yield judge.above("cross-entropy", data.late_loss.min(), 1e-9)
    for scale, least in zip(scales, growth.min("stop_seed").values, strict=True):
        yield judge.above(f"growth of |w| at scale {scale:g}", least, 1e-9)
    yield judge.above("growth of |w - w0|", moved.min(), 1e-9)
    times = "; ".join(
        f"t = {numbers(row, '.3g')} (scale {scale:g})"
        for scale, row in zip(scales, data.stop_time.values, strict=True)
    )
    return (
        f"the soft hinge ends at {times}; the cross-entropy is read at {LATER:g} times that, its "
        f"growth from {LATER / 2:g} to {LATER:g} times, the least over {data.sizes['stop_seed']} "
        "networks. In the lazy regime the first weights outweigh what is learnt: |w - w0| grows "
        "there as well, and the sign of what |w| does is an accident of the start"
    )


@claim("REG-75", "< 0.1 and < eps unless forced")
def accepted_steps(dataset: Data) -> judge.Parts:
    data = ran(dataset, "accepted-steps")
    eps, forced = float(data.check_eps), data.check_forced.values
    worst, told, over = (data[f"check_{name}"].values for name in ("worst", "told", "over"))
    yield judge.below("gradient change / eps", worst[..., 1].max() / eps, 1.0)
    yield judge.below("output change", worst[..., 0].max(), OUTPUT)
    yield judge.below("steps over the output's bound", over[..., 0].sum(), 0.0)
    yield judge.below(
        "steps over the gradient's but not forced", largest_gap(over[..., 1], forced), 0.0
    )
    yield judge.below("record off by", np.abs(told / worst - 1).max(), 1e-3)
    return (
        f"eps = {eps:g}, every accepted step measured anew from the weights, scale = "
        f"{numbers(data.check_scales)}; forced steps: softplus_5 {numbers(forced[0])}, relu "
        f"(which may force them) {numbers(forced[1])}"
    )
