"""Errors and norms of the simple models."""

from regimes.lab import Data, Figure, draw
from regimes.studies.landscape.references._claims import table


def _student(dataset: Data) -> Figure:
    own = table(dataset, "student", "width", "error")
    caption = (
        "A network with one hidden layer learns a noisy teacher by least squares: mean square "
        "error on noiseless test points against the number of parameters for each training point. "
        "Trained to the end the error peaks where the parameters are as many as the points "
        "(dotted); at its best moment it falls throughout."
    )
    figure = draw.axes("parameters / points", "test error", log="xy", caption=caption)
    share = own.parameters.values / float(own.n_train[0])
    for name, told, color in (
        ("error", "at the end", draw.ORANGE),
        ("early_error", "at its best moment", draw.BLUE),
    ):
        draw.curve(figure, own[name], "trial", told, x=share, color=color)
    draw.level(figure, x=1.0)
    return figure


def _regression(dataset: Data) -> Figure:
    own = table(dataset, "regression", "inputs", "square")
    caption = (
        "Least squares on random labels: squared norm of the weights (medians over draws, bars "
        "over the middle half) against their number N, and the mean that theory expects (line). "
        "The norm peaks where weights and points are equally many (dotted)."
    )
    figure = draw.axes("weights N", "squared norm", log="xy", caption=caption)
    draw.curve(
        figure,
        own.square,
        "trial",
        "measured",
        x=own.inputs.values,
        center="median",
        mode="markers",
    )
    finite = own.expected.values < float("inf")
    for side in (own.inputs < own.n_train, own.inputs > own.n_train):
        where = (side.values) & finite
        draw.line(
            figure,
            own.inputs.values[where],
            own.expected.values[where],
            "P/(N - P - 1)",
            color=draw.INK,
        )
    draw.level(figure, x=float(own.n_train[0]))
    return figure


def _perceptron(dataset: Data) -> Figure:
    own = table(dataset, "directions", "inputs", "error")
    caption = (
        "Test error of a perceptron whose labels depend on the first ten inputs only, against the "
        "number of inputs d it is given, at a fixed number of training points. Too few inputs "
        "cannot fit, too many useless ones are fitted too: unlike in deep networks the error grows "
        "with the number of parameters."
    )
    figure = draw.axes("inputs d", "test error (%)", log="x", caption=caption)
    draw.curve(figure, 100 * own.error, "trial", "perceptron", x=own.inputs.values)
    return figure


FIGURES = {
    "A student of a noisy teacher": _student,
    "Least squares": _regression,
    "Perceptrons with useless inputs": _perceptron,
}
