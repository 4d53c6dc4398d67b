"""Kernels and outputs against the width."""

from regimes.lab import Data, Figure, draw
from regimes.studies.landscape.kernel_fluctuations._claims import table


def _kernels(dataset: Data) -> Figure:
    caption = (
        "How much the tangent kernel of one network differs from the mean over initialisations at "
        "the start (relative to its size), and how much it moves when the network is trained, "
        "against the width h. The noise falls as the root of the width, the movement as the width: "
        "wide networks differ by how they start, not by what they learn."
    )
    figure = draw.axes(
        "width h (neurons)", "relative change of the kernel", log="xy", caption=caption
    )
    for block, name, color in (("shallow", "L = 1", draw.BLUE), ("deep", "L = 2", draw.ORANGE)):
        own = table(dataset, block, subtract_init=True)
        for variable, told, dash in (
            ("kernel_apart", "noise at the start", "solid"),
            ("kernel_change", "change in training", "dash"),
        ):
            heights = draw.curve(
                figure,
                own[variable],
                "trial",
                f"{told}, {name}",
                x=own.width.values,
                color=color,
                dash=dash,
            )
            if block == "shallow":
                slope = -0.5 if variable == "kernel_apart" else -1.0
                through = (float(own.width[0]), float(heights[0]))
                draw.guide(figure, own.width.values, slope, through)
    return figure


def _outputs(dataset: Data) -> Figure:
    caption = (
        "Differences between the outputs of trained networks on test points (root mean square), "
        "against the width, with one hidden layer. What training adds differs by h^(-1/2); the "
        "initial function, where it is left in, differs by the same amount at every width."
    )
    figure = draw.axes("width h (neurons)", "fluctuation of the output", log="xy", caption=caption)
    for subtract, name, color in (
        (True, "initial function subtracted", draw.BLUE),
        (False, "as it is", draw.ORANGE),
    ):
        own = table(dataset, "shallow", subtract_init=subtract)
        heights = draw.curve(figure, own.apart_test, "trial", name, x=own.width.values, color=color)
        if subtract:
            draw.guide(figure, own.width.values, -0.5, (float(own.width[0]), float(heights[0])))
    return figure


FIGURES = {"Tangent kernels against the width": _kernels, "Outputs against the width": _outputs}
