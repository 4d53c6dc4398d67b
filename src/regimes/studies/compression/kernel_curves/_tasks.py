"""What is learned, and by how much the irrelevant directions of the data are shrunk before."""

from __future__ import annotations

from dataclasses import dataclass

ROOT = "root p"  # the compression a feature-learning network reaches: some factor times sqrt(p)
FACTORS = ("1", "2", "4", "8")  # of the scan that measures the gain


@dataclass(frozen=True)
class Task:
    """A model of the data."""

    d: int
    d_par: int
    reached: float  # Lambda*/sqrt(p) of networks that learn features
    title: str

    @property
    def d_perp(self) -> int:
        """Number of irrelevant directions."""
        return self.d - self.d_par

    def factor(self, compression: str, p: int) -> float:
        """By which the irrelevant directions of p points are divided."""
        return self.reached * p**0.5 if compression == ROOT else float(compression)


TASKS = {
    "stripe-5": Task(5, 1, 0.95, "Stripe, d = 5"),
    "stripe-10": Task(10, 1, 0.95, "Stripe, d = 10"),
    "cylinder-3": Task(3, 2, 0.4, "Cylinder, d = 3"),
}
