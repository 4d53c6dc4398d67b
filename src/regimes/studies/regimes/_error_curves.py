"""How errors are drawn in this theme: of single networks dashed, of ensembles solid."""

from regimes.lab import Data, Figure, draw


def single_and_ensemble(figure: Figure, data: Data, over: str, name: str, color: str) -> None:
    """Test error in percent over one dimension: mean over seeds, and of the mean prediction."""
    draw.curve(figure, 100 * data.error, over, f"single, {name}", color=color, dash="dash")
    draw.curve(figure, 100 * data.ensemble_error, over, f"ensemble, {name}", color=color)
