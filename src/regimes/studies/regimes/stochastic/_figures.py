"""Change of the kernel against scale, for the flow and for stochastic descent."""

from regimes.lab import Data, Figure, draw
from regimes.studies.regimes.stochastic._claims import finished


def _kernel_changes(dataset: Data) -> Figure:
    caption = (
        "Change of the tangent kernel by training, for gradient flow and for stochastic descent "
        "with batches and several step lengths, in units of the time in which the flow halves its "
        "loss. Where a curve passes 1 is its crossover between feature learning and lazy training."
    )
    done, title = finished(dataset), "relative change of the kernel"
    figure = draw.axes("scale sqrt(h) alpha", title, log="xy", caption=caption)
    figure.update_yaxes(dtick=1)
    for rate, color, part in draw.each(done.kernel_change, "rate", (draw.INK, *draw.COLORS)):
        name = f"SGD, steps of {rate:g} t_half" if rate else "gradient flow"
        draw.curve(figure, part, "scale", name, center="geometric", color=color)
    draw.level(figure, y=1, color=draw.INK)
    return figure


FIGURES = {"Flow and stochastic descent": _kernel_changes}
