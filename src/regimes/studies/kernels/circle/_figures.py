"""Figures."""

FIGURES: dict = {}
