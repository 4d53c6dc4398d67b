"""Figures of how runs end and of what their steps changed."""

from typing import Any

from regimes.lab import Data, Figure, draw, ran
from regimes.studies.regimes.foundations._ends import LATER, OUTPUT


def _stopping(dataset: Data) -> Figure:
    data = ran(dataset, "stopping")
    data = data.isel(stop_scale=int(data.stop_scales.values.argmin()))
    figure = draw.axes(
        "time / end of the soft hinge",
        "",
        log="x",
        panels=["training loss", "norm of the weights |w|"],
        caption=f"One network (√h α = {float(data.stop_scales):g}) trained with three losses. "
        "Losses with a margin stop for good once every point has it (squares; the hinge is then "
        f"exactly zero). The cross-entropy, followed to at least {LATER:g} times that, never "
        "reaches zero and its weights keep growing.",
    )
    names = ("soft hinge, b = 20", "hinge", "cross-entropy")
    for name, (time, loss, weight), color in zip(
        names, data.stop_curves.values, draw.COLORS, strict=False
    ):
        shown = loss > 0  # the hinge ends at exactly zero
        for panel, (x, y) in enumerate(((time[shown], loss[shown]), (time, weight)), start=1):
            draw.line(figure, x, y, name, color=color, panel=panel)
            if name != "cross-entropy":
                end: dict[str, Any] = {"symbol": "square", "size": 9}
                end["hovertemplate"] = f"{name} has ended"
                draw.points(figure, x[-1:], y[-1:], color=color, panel=panel, **end)
    figure.update_xaxes(dtick=1)
    return figure.update_yaxes(type="log", exponentformat="power", dtick=1, row=1, col=1)


def _accepted_steps(dataset: Data) -> Figure:
    data = ran(dataset, "accepted-steps")
    figure = draw.axes(
        "step",
        "",
        log="xy",
        panels=["largest change of an output", "relative change of the gradient, squared"],
        caption="What every accepted step of the flow changed, computed anew from the weights "
        "before and after it. Both bounds hold throughout; the one on the gradient limits the "
        "steps nearly always.",
    )
    shown = data.check_shown.values[0]  # softplus_5: (scale, row, column)
    for scale, color, own in draw.each(data.swap_dims(check_scale="check_scales"), "check_scales"):
        step, *changes = own.check_shown.values[0].T
        for panel, change in enumerate(changes, start=1):
            name = f"√h α = {scale:g}"
            draw.points(figure, step + 1, change, name, color=color, size=4, panel=panel)
    ends = [1, shown[..., 0].max() + 1]
    for panel, bound in ((1, OUTPUT), (2, float(data.check_eps))):
        dashed = {"color": draw.INK, "dash": "dash", "panel": panel}
        draw.line(figure, ends, [bound, bound], "bound", **dashed)
    figure.update_xaxes(dtick=1)
    return figure.update_yaxes(dtick=2)


FIGURES = {
    "Which losses stop": _stopping,
    "What a step may change": _accepted_steps,
}
