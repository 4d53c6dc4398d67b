"""Figures of the random features: error, its sources, the effective ridge."""

from regimes.lab import Data, Figure, draw, judge

RATIO = "features per training point h/P"


def _errors(dataset: Data) -> Figure:
    caption = (
        "Least-norm fits of a noisy linear target by random relu features. With as many features "
        "as training points the fit passes through all of them and nothing is left over: the error "
        "explodes. More features make it fall again, the second descent. The mean over several "
        "draws of the features has hardly any error to lose beyond the peak: what falls there is "
        "the variance due to the draw. (Medians; bars hold the middle half; a variance of 1 is to "
        "be explained.)"
    )
    figure = _over_ratio("mean square error on test points", caption)
    done = _done(dataset, "error")
    single = done.error.stack(fit=("seed", "member"))
    draw.curve(figure, single, "ratio", "single", draws="fit", center="median", color=draw.BLUE)
    name, together = f"mean of {done.sizes['member']}", done.ensemble_error
    draw.curve(figure, together, "ratio", name, center="median", color=draw.ORANGE)
    return figure


def _sources(dataset: Data) -> Figure:
    caption = (
        "The expected error split into its sources: bias (what is missing on average), and the "
        "variances over the draw of the features, over the noise of the labels and over the "
        "training points. The peak is variance, of features and of noise; averaging over features "
        "removes the former. (Estimates; what comes out below zero is not shown.)"
    )
    figure = _over_ratio("contribution to the mean square error", caption)
    done = _done(dataset, "bias")
    for variable, name, color in (
        ("bias", "bias²", draw.BLUE),
        ("variance_initialisation", "features", draw.ORANGE),
        ("variance_noise", "label noise", draw.GREEN),
        ("variance_sampling", "training points", draw.VIOLET),
    ):
        positive = done[variable].where(done[variable] > 0)  # a gap in the line elsewhere
        draw.points(figure, done.ratio, positive, name, mode="lines+markers", color=color)
    return figure


def _ridge(dataset: Data) -> Figure:
    caption = (
        "Ridge regression on random features, averaged over many draws, compared "
        "with kernel ridge regression under the kernel of infinitely many features. Left: the "
        "ridge that fits best is larger than the one used, the more so the fewer the features, "
        "and close to the predicted one. Right: with it the two predictors are nearly the "
        "same; with the ridge that was used they are not. (Means over training sets.)"
    )
    panels = ("effective ridge", "relative distance")
    figure = draw.axes(RATIO, ("ridge", ""), log="xy", panels=panels, caption=caption)
    done = _done(dataset, "ridge_fitted")
    for variable, name, panel, color in (
        ("fitted", "best fit", 1, draw.BLUE),
        ("root", "root of r = λ + (r/h) tr K(K+r)⁻¹", 1, draw.ORANGE),
        ("residual", "with the best ridge", 2, draw.GREEN),
        ("same", "with λ itself", 2, draw.VIOLET),
        ("doubt", "error of the mean of draws", 2, draw.SLATE),
    ):
        dash = "dash" if variable == "root" else "solid"
        values = done[f"ridge_{variable}"].mean("ridge_set")
        draw.curve(figure, values, "ratio", name, panel=panel, color=color, dash=dash)
    used = float(done.ridge.max())
    ends = done.ratio.values[[0, -1]]
    draw.line(figure, ends, [used, used], f"λ = {used:g}", color=draw.SOFT, dash="dot")
    return figure


def _over_ratio(title: str, caption: str) -> Figure:
    """Axes with a mark where features and training points are equally many."""
    figure = draw.axes(RATIO, title, log="xy", caption=caption)
    draw.level(figure, x=1.0)
    # on a logarithmic axis words are placed by the logarithm, lines by the value
    draw.words(figure, "h = P", 0.0, 1.0, yref="paper", xanchor="left", yanchor="top")
    return figure


def _done(dataset: Data, name: str) -> Data:
    """The ratios that have run, in order."""
    return judge.where_ran(dataset, "ratio", name).sortby("ratio")


FIGURES = {
    "Double descent of random features": _errors,
    "Where the error comes from": _sources,
    "An average is a larger ridge": _ridge,
}
