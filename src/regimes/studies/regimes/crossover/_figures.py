"""Change of the kernel against scale, for several widths."""

from regimes.lab import Data, Figure, draw
from regimes.studies.regimes import _lines as lines


def _kernel_changes(dataset: Data) -> Figure:
    caption = (
        "Change of the tangent kernel by training against the scale of the output, for networks "
        "of several widths; runs that did not fit are left out. Where a curve passes 1 is its "
        "crossover between feature learning and lazy training."
    )
    plane, title = lines.plane(dataset), "relative change of the kernel"
    figure = draw.axes("scale sqrt(h) alpha", title, log="xy", caption=caption)
    figure.update_yaxes(dtick=1)
    fitted = plane.kernel_change.where(plane.fitted > 0)
    for width, color, part in draw.each(fitted, "width"):
        draw.curve(figure, part, "scale", f"h = {width}", center="geometric", color=color)
    draw.level(figure, y=1, color=draw.INK)
    return figure


FIGURES = {"Change of the kernel at several widths": _kernel_changes}
